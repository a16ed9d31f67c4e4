"""Errors of alerts.

```
AlertError
├── AddressRefused    the address may not be called
└── NotDelivered      the receiver could not be reached, or did not accept the message: tried again
```
"""

from __future__ import annotations


class AlertError(Exception):
    """Base class of the errors of alerts. Messages name hosts, never paths or secrets."""


class AddressRefused(AlertError):
    """The address may not be called."""


class NotDelivered(AlertError):
    """The receiver could not be reached, or did not accept the message."""
