"""How many event streams each token has open: each holds a connection for as long as its client likes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from api.web.problems import ProblemError

RETRY_SECONDS = 10


class OpenStreams:
    """Counts the streams of this process by token."""

    def __init__(self, per_token: int) -> None:
        self._per_token = per_token
        self._open: Counter[str] = Counter()

    def require_free(self, token_id: str) -> None:
        """Raise 429 if the token has as many streams open as it may."""
        if self._open[token_id] >= self._per_token:
            detail = f"this token has {self._per_token} event streams open, which is the limit; close one"
            raise ProblemError(429, detail, headers={"Retry-After": str(RETRY_SECONDS)})

    @contextmanager
    def opened(self, token_id: str) -> Iterator[None]:
        """Count a stream while it is sent."""
        self._open[token_id] += 1
        try:
            yield
        finally:
            self._open[token_id] -= 1
            if not self._open[token_id]:
                del self._open[token_id]
