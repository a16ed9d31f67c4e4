"""Players and their model versions: the roster, first weights, snapshots, resets, and what the API reads of them."""
