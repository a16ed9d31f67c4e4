"""Exploitability over steps: pools of a league read back as policies, and curves of NashConv."""
