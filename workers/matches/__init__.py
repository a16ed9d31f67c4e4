"""Matches: paired games between versions and bots, recorded move by move."""
