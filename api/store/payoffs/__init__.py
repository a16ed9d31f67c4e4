"""The payoff: its cells, updated with each commit, and the matrices that the API reads."""
