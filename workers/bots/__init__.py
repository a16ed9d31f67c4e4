"""Bots (scripted players): the interface, the built-in bots and their names."""
