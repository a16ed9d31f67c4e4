"""Advisory locks about checkpoints. They are taken before the lock of the events, which comes last."""

from __future__ import annotations

CHECKPOINTS_LOCK = 113628506914819
"""Shared for those who record or newly refer to checkpoints; exclusive for those who mark or remove some, for a moment
at a time."""
BACKUP_LOCK = 113628506914821
"""Shared for backups, whose rows name files that are copied later; exclusive for those who mark some as pruned."""
