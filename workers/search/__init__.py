"""Tree search over any vector game: many trees at once, on arrays."""
