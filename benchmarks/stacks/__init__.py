"""Stacks for measurements: a local stack, a large league in its database, and HTTP clients that load it."""
