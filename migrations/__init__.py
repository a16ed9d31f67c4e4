"""Alembic migrations of the store, shipped with the package. Run by `api.store.core.migrate`; no ini file is needed."""
