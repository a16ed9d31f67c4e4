"""Hosts of a crew's actors, Ray or this process: CPUs, placement, and the results of calls."""
