"""Checks of the machine, of a running system, and of users' own components. Imports nothing."""
