"""The search over names."""
