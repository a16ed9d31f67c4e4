"""Decisions from models: one policy, many at once, and a server of policies by reference."""
