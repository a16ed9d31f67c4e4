"""Events as sentences for people."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from rich.text import Text

from lanista.client.answers.trials import Event

SENTENCES = {
    "trial.created": "the trial was made",
    "trial.status": "{from} → {to} {reason}",
    "trial.forked": "forked as {name}",
    "trial.archived": "put away",
    "generation.recorded": "{player}: generation {generation}, {steps} steps, {games} games",
    "version.recorded": "{player}: first version ({origin})",
    "player.snapshot": "{player} was frozen as {snapshot}",
    "player.reset": "{player} begins anew",
    "player.rollback": "{player} went back to its last good version",
    "player.added": "{player} joined",
    "player.retired": "{player} retired {reason}",
    "player.retuned": "{player} was retuned",
    "checkpoint.damaged": "{player}: a damaged checkpoint; {problem}",
    "evaluation.recorded": "{player} against {target}: win rate {win_rate} in {games} games",
    "gate.opened": "gate for {alias}: opened",
    "gate.waiting": "gate for {alias}: waits",
    "gate.progress": "gate for {alias}: {pairs} pairs, ratio {llr}",
    "gate.finished": "gate for {alias}: {status}, {reason}",
    "alias.moved": "{alias} moved: {reason}",
    "ratings.fitted": "ratings were fitted anew ({method})",
    "tournament.created": "tournament {name}: {entrants} entrants, {format}",
    "tournament.started": "tournament {name}: begins",
    "pairing.played": "tournament {name}: {first} against {second}, {wins} wins, {draws} draws, {losses} losses",
    "tournament.judged": "tournament judged: {reason}",
    "tournament.withdrawn": "tournament {name}: {entrant} withdrawn, {reason}",
    "tournament.finished": "tournament {name}: {status} {reason}",
}
COLOURS = {
    "alias.moved": "bold yellow",
    "player.snapshot": "cyan",
    "gate.finished": "yellow",
    "checkpoint.damaged": "bold red",
    "trial.status": "bold",
}


def event_line(event: Event) -> Text:
    """When, and what happened."""
    when = event.created_at.astimezone().strftime("%H:%M:%S") if event.created_at else " " * 8
    return Text.assemble((when, "dim"), "  ", (event_words(event), COLOURS.get(event.type, "")))


def event_words(event: Event) -> str:
    """One sentence; of a kind that is not known here, its name and what it carries."""
    sentence = SENTENCES.get(event.type)
    if sentence is None:
        player = event.payload.get("player", "")
        return f"{player}: {event.type}" if player else event.type
    return sentence.format_map(defaultdict(str, _shown(event.payload))).strip(" ,;:")


def _shown(payload: dict[str, Any]) -> dict[str, str]:
    return {key: _word(value) for key, value in payload.items()}


def _word(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value)
