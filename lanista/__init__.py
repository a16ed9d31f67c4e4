"""Lanista's front door: the command line, the Python client and the local stack."""
