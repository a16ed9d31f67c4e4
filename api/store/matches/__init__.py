"""Single games: how they are scored, how they are opened, games of people, and what the API reads of them."""
