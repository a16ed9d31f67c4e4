"""How well players learn: returns, NashConv, play against exact opponents."""
