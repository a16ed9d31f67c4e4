"""Where the actors of a crew run: on Ray or in this process; whether there is room for them, and their calls."""
