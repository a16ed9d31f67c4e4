"""Promotion gates: candidates enter, games are recorded batch by batch, a sequential test decides."""
