"""Recorded games: kept while they are played, replayed into their agent, drawn by a user's function."""
