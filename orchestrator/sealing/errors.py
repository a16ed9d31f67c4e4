"""Errors of sealing.

```
NotSealed    not ours, or not meant for this use: refused for good
UnknownKey   sealed with a key that this process does not have: retried, since the key may be added
```
"""

from __future__ import annotations

from temporalio.exceptions import ApplicationError


class NotSealed(ApplicationError):
    """A payload or a call that Lanista did not send, or did not send for this use. Never retried."""

    def __init__(self, message: str) -> None:
        super().__init__(message, type="not_sealed", non_retryable=True)

    def __reduce__(self) -> tuple[type[NotSealed], tuple[str]]:
        return type(self), (self.message,)


class UnknownKey(Exception):
    """Sealed with a key that this process does not have. It is not a failure of the workflow: keys can be added."""
