"""How soon each algorithm learns its environment, beside the same algorithm of other projects."""
