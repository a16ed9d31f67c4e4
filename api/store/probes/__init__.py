"""Probes: fix the target, train responders, play the fresh games, and read what they reached."""
