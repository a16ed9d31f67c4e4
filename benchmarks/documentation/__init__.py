"""The documentation: its check, and the reference that is written from the code."""
