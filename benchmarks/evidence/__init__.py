"""Pages of docs/evidence that are written from recorded rows alone: strength, search and load."""
