"""Who calls, and what they may: tokens, browser sessions, scopes, limits."""
