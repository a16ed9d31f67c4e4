"""Lanista and RLlib side by side, and how the throughput and strength of both are measured."""
