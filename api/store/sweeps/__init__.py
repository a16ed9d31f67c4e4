"""Sweeps: create, advance, judge, end and read them."""
