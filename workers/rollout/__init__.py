"""Rollouts: seating, sampling, trajectories and tallies."""
