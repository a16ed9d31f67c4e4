"""Algorithms for teams: mates learn together and act apart."""
