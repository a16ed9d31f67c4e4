"""A league in the terminal: tables, events as lines, and a live view."""
