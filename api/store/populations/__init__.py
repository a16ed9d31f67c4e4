"""Populations: scores of their members, and copies of better ones."""
