"""Algorithms that plan: targets by tree search."""
