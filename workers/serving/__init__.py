"""Serving trained versions: a director that follows an alias, a shared inference service, exported models."""
