"""Compares trials."""
