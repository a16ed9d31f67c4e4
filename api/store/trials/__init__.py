"""Trials and projects: creation, start, status, archive, and reads."""
