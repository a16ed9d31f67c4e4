"""Backups of an installation: its database at one moment, and the artifacts that it refers to.

See docs/guides/backup.md.
"""
