"""Algorithms that learn a policy and its value together."""
