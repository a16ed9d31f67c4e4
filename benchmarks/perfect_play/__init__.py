"""Connect four against perfect play: sets of positions, players that choose in them, and games against the solver."""
