"""What every room of the store uses: engine, ids, clock, commits, events, decisions, idempotency, audit log."""
