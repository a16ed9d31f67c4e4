"""Reinforcement learning algorithms. The interface is in `workers.algorithms.contract`."""
