"""The games that come with the project, on arrays."""
