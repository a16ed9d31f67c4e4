"""Players and their model versions: the roster, first weights, snapshots, resets, project bots, and reads."""
