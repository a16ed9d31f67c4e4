"""Alerts: channels, rules, and the outbox of messages."""
