"""Forks: a trial as it was after one of its commits, and a new trial that starts from there."""
