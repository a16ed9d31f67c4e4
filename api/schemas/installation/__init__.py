"""Answers about the installation: projects, tokens, sessions, archives of code, catalog, audit log, health."""
