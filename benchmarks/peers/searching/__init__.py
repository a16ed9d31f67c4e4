"""Other projects' tools for tree search, each in a virtual environment of its own: pgx with mctx, and a solver."""
