"""Commands about leagues, by the REST API: trials, players, versions, gates, games and tournaments."""
