"""Algorithms that learn the values of Discrete actions from replayed decisions."""
