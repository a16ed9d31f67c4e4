"""Reads trial and tournament files and checks them; reports all problems at once, with file, line and column."""
