"""Transports of games that call in: HTTP, TCP with frames of our own or Bray's, and what their connections share."""
