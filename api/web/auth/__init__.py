"""Authentication and authorization: tokens, browser sessions, scopes, rate limits."""
