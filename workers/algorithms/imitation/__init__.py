"""Algorithms that learn from data sets: imitation, offline reinforcement, and imitation mixed with one's own games."""
