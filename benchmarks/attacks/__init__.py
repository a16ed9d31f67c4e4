"""Attacks on a running stack: as another local user, from a real browser, and with tokens of few rights."""
