"""Shared by all packages of the store: engine, ids, clock, commits, events, decisions, idempotency, audit log."""
