"""Commands for games that call in: serve them, simulate them, stand in for their parts, read their recordings."""
