"""What the API says to Temporal: starts, orders, questions to workers, schedules, reconciliation."""
