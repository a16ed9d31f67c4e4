"""Ratings: Bradley-Terry, online Elo, openskill, alpha-rank and Nash averaging, and their reads."""
