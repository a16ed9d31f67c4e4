"""API tokens, browser sessions and one-time sign-in codes."""
