"""Aliases: movable names of model versions, their moves and their history."""
