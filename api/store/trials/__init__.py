"""Trials: created, started, forked, archived, and read."""
