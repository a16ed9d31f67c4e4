"""What the rest of Lanista calls: `span` and `record`, which do nothing unless tracing was started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from orchestrator.tracing.ids import SpanRef

if TYPE_CHECKING:
    from orchestrator.tracing.tracer import Tracer

Attributes = Mapping[str, str | int | float | bool]

PREFIX = "lanista."
"""Before the names of attributes that are Lanista's own."""


class Span:
    """A span under way. This one is none: what it is told is forgotten."""

    def set(self, **attributes: str | int | float | bool) -> None:
        """Add attributes of Lanista's own."""

    def rename(self, name: str) -> None:
        """Give it the name that was not known at its start."""

    def fail(self, problem: str) -> None:
        """Mark it as failed."""

    def add(self, attributes: Attributes) -> None:
        """Add attributes with their whole names."""


_NO_SPAN = Span()
_tracer: Tracer | None = None


def use(tracer: Tracer | None) -> None:
    """Trace by this from now on; None: do not trace."""
    global _tracer
    _tracer = tracer


def tracing() -> bool:
    """Whether this process traces."""
    return _tracer is not None


def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    parent: SpanRef | None = None,
    root: bool = False,
    links: Sequence[SpanRef] = (),
    kind: str = "internal",
) -> AbstractContextManager[Span]:
    """A span around what is done inside; an exception marks it as failed.

    Its parent is the span under way, unless another one is named, or it begins a trace (`root`).
    """
    if _tracer is None:
        return nullcontext(_NO_SPAN)
    return _tracer.span(name, attributes or {}, parent=parent, root=root, links=links, kind=kind)


def record(
    name: str,
    started: float,
    ended: float,
    attributes: Attributes | None = None,
    *,
    parent: SpanRef | None = None,
    own: SpanRef | None = None,
    links: Sequence[SpanRef] = (),
    problem: str = "",
) -> SpanRef | None:
    """Write a span that has ended, with times in seconds since 1970.

    `own`: its identity, where that is not random. Without one and without a parent it belongs to the span under way.
    """
    if _tracer is None:
        return None
    parent = parent or (None if own else _tracer.current())
    return _tracer.record(name, started, ended, attributes or {}, parent=parent, own=own, links=links, problem=problem)


def current() -> SpanRef | None:
    """The span under way; None without one, or without tracing."""
    return None if _tracer is None else _tracer.current()


def own(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """These attributes by their whole names."""
    return {f"{PREFIX}{name}": value for name, value in attributes.items()}


@contextmanager
def closing() -> Iterator[None]:
    """Write what is left when the process ends; tracing has ended then."""
    try:
        yield
    finally:
        if _tracer is not None:
            _tracer.close()
            use(None)
