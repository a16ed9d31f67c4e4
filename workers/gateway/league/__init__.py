"""Games that call in inside the league: collections of experience and ordered games, between crews and gateways."""
