"""Scripted players: the interface, the built-ins and the names they go by."""
