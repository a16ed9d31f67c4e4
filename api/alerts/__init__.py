"""Alerts: which events become messages, what they say, and how they are sent.

`api/store/alerts/` holds the outbox; `delivery.py` is the loop of the store worker that fills and empties it.

See docs/decisions/alerts.md.
"""
