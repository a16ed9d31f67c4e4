"""Games played on many tables at once: the protocol, spaces and teams; exploitability."""
