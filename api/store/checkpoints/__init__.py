"""Checkpoint files: which are damaged, the way back to the last good one, and garbage collection."""
