"""Alembic migrations of the store, shipped with the package. Run by `api.store.migrate`; no ini file is needed."""
