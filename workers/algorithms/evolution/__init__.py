"""Algorithms without gradients of a loss: they perturb weights and keep what earned more."""
