"""Checks trial files that callers send: large ones in a process of their own, which has limits on time and memory."""
