"""Targets of learning (returns, advantages) from rewards, values and log-probabilities: pure functions."""
