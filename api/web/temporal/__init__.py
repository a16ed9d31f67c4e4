"""Calls to Temporal: starting workflows, messages to them, questions to workers, schedules, reconciliation."""
