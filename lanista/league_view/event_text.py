"""Events as lines of a terminal. The sentence, and how much it matters, come with the event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from api.schemas.events import Event


STYLES = {"good": "bold yellow", "bad": "bold red"}


def event_line(event: Event) -> Text:
    """The time and the sentence of an event."""
    when = event.created_at.astimezone().strftime("%H:%M:%S") if event.created_at else " " * 8
    # a server of an earlier release sends no sentence
    return Text.assemble((when, "dim"), "  ", (event.text or event.type, STYLES.get(event.level, "")))
