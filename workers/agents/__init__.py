"""Agents: user classes that turn the bytes of a game that calls in into observations, and actions into bytes."""
