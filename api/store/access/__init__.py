"""API tokens and one-time sign-in codes."""
