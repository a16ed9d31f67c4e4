"""Checkpoint files: damaged ones, rollback to the last good version, and garbage collection."""
