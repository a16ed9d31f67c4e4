"""Stacks to measure: a local one, one with a large league, and the clients that load it."""
