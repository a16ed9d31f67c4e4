"""Every kind of event: written somewhere, read as a sentence with names, and known to the API's documentation."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.schemas.events import KINDS, Event, EventPayload, Progress, UnknownEvent, read_event
from api.schemas.events.base import ID
from api.settings import ApiSettings
from api.web.app import create_app
from api.web.live.feed import frame_of, progress_frame
from lanista.league_view.event_text import event_line

ROOT = Path(__file__).parents[3]
HOLES = re.compile(r"undefined|\bNone\b|\bnull\b|\bNaN\b|\{|\}|  |: *$|, *$|\(\)")
BARE_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-")

OF_A_PLAYER = {"player": ID, "name": "main", "generation": 3, "failure": "stalled", "problem": "no progress"}
BEFORE_TYPES: dict[str, dict[str, Any]] = {
    "checkpoint.damaged": {
        "player_id": ID,
        "player": "main-1",
        "verdict": "retired",
        "version_id": ID,
        "reason": "the checkpoint of main-1 is damaged and a frozen player has no other",
    },
    "generation_retried": {
        "player": ID,
        "name": "main",
        "generation": 3,
        "failure": "stalled",
        "problem": "no progress",
    },
    "evaluation_retried": {
        "player": ID,
        "name": "main",
        "generation": 3,
        "failure": "stalled",
        "problem": "no progress",
    },
    "evaluation_dropped": {
        "player": ID,
        "name": "main",
        "generation": 3,
        "failure": "stalled",
        "problem": "no progress",
    },
    "gate_retried": {"gate": ID, "failure": "crew_lost", "problem": "the crew died", "tries": 2, "delay_seconds": 0.0},
    "weights_retried": {"failure": "store_full", "problem": "no space left", "tries": 1, "delay_seconds": 5.0},
    "pairing.retried": {"tournament_id": ID, "name": "nightly", "round": 1, "pair": 0, "problem": "the crew died"},
    "gate.opened": {"gate_id": ID, "alias": "champion", "candidate_version_id": ID, "champion_version_id": ID},
    "gate.finished": {"gate_id": ID, "alias": "champion", "status": "superseded", "reason": "a newer candidate came"},
    "alias.moved": {"alias": "champion", "from_version_id": None, "to_version_id": ID, "reason": "by hand"},
    "player.reset": {"player_id": ID, "player": "exploiter", "version_id": ID, "to_version_id": ID},
    "ratings.fitted": {"fit_id": ID, "method": "bradley_terry", "tournament_id": ID},
    "tournament.judged": {"tournament_id": ID, "alias": "champion", "verdict": "kept", "reason": "no clear lead"},
    "trial.status": {"from": "running", "to": "failed", "reason": None},
    "trial.created": {"name": "second", "forked": {"from_trial_id": ID, "from": "first", "at_commit": 3}},
}
"""Payloads as releases before these types stored them."""


def sent(kind: str, payload: dict[str, Any]) -> Event:
    """The event as a client receives it."""
    if kind == Progress.KIND:
        frame = progress_frame(ID, Progress.model_validate(payload))
    else:
        frame = frame_of(7, ID, kind, json.dumps(payload), datetime(2030, 1, 1, tzinfo=UTC))
    (line,) = [line for line in frame.data.decode().split("\n") if line.startswith("data: ")]
    return Event.model_validate_json(line.removeprefix("data: "))


def syntax_trees(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def calls(*folders: str) -> Iterator[tuple[str, ast.Call]]:
    for _, tree in syntax_trees(*folders):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield getattr(node.func, "attr", getattr(node.func, "id", "")), node


def noted_by_workflows() -> set[str]:
    """Kinds that workflows name: `TrialEvent(type="...")`, or the first argument of a function called note."""
    found = set()
    for name, call in calls("orchestrator"):
        named = [word.value for word in call.keywords if word.arg == "type"] if name == "TrialEvent" else []
        named += call.args[:1] if name in ("note", "_note") else []
        found |= {node.value for node in named if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return found


def test_every_kind_is_written_somewhere() -> None:
    constructed = {name for name, _ in calls("api/store", "api/activities", "api/web")}
    written = {kind for kind, payload in KINDS.items() if payload.__name__ in constructed}
    assert set(KINDS) - written - noted_by_workflows() == set()


def test_every_kind_that_a_workflow_notes_is_known() -> None:
    noted = noted_by_workflows()
    assert {"generation_retried", "evaluation_dropped", "gate_retried", "weights_retried"} <= noted
    assert noted - set(KINDS) == set()


def test_events_are_written_in_one_place_alone() -> None:
    elsewhere = [
        str(path.relative_to(ROOT))
        for path, tree in syntax_trees("api")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("insert", "upsert")
        and any(getattr(argument, "id", "") == "Event" for argument in node.args)
        and path != ROOT / "api" / "store" / "core" / "events.py"
    ]
    assert elsewhere == []


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("form", ["example", "empty", "before types"])
def test_a_sentence_has_names_and_no_holes(kind: str, form: str) -> None:
    payload = {"example": KINDS[kind].example(), "empty": {}, "before types": BEFORE_TYPES.get(kind, {})}[form]
    event = sent(kind, payload)
    assert len(event.text) > 5 and event.text[0] not in " :,;"
    assert not HOLES.search(event.text) and not BARE_ID.search(event.text), event.text
    assert not isinstance(read_event(kind, payload), UnknownEvent), "the payload fits its type"
    assert event_line(event).plain.endswith(f"  {event.text}")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_example_has_every_id_that_a_sentence_must_not_show(kind: str) -> None:
    ids = {name for name in KINDS[kind].model_fields if name.endswith("_id")}
    example = KINDS[kind].example()
    assert {name for name in ids if example.get(name) != ID} == set()


def test_a_player_is_a_name_in_every_payload() -> None:
    for kind, payload in BEFORE_TYPES.items():
        read = sent(kind, payload).payload
        assert "player" not in read or (read["player"] != ID and read["player_id"] == ID), kind


def test_a_candidate_is_refused_in_words_whatever_the_status_of_its_gate() -> None:
    gate = {"alias": "champion", "candidate": "main v3", "status": "failed"}
    said = {
        "the gate failed: LLR -2.97 reached -2.94": "refused: LLR -2.97 reached -2.94",
        "the panel was lost": "refused, the panel was lost",
        "": "refused",
    }
    for reason, words in said.items():
        text = read_event("gate.finished", {**gate, "reason": reason}).text
        assert text.startswith("Gate for champion (candidate main v3): refused") and "failed" not in text
        assert words.split(",")[-1].strip() in text


def test_a_damaged_checkpoint_says_what_is_wrong() -> None:
    before = sent("checkpoint.damaged", BEFORE_TYPES["checkpoint.damaged"])
    assert before.text == "Damaged checkpoint: the checkpoint of main-1 is damaged and a frozen player has no other"
    assert before.level == "bad"
    assert sent("checkpoint.damaged", {"problem": "the file is cut short"}).text.endswith(": the file is cut short")


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ({"player": "main"}, "main: player danced well"),
        ({"name": "nightly", "player": 3}, "nightly: player danced well"),
        ({}, "Player danced well"),
        ({"key": 5, "level": "loud"}, "Player danced well"),
        ([1, None], "Player danced well"),
    ],
)
def test_an_unknown_kind_shows_as_a_readable_line(payload: Any, text: str) -> None:
    frame = frame_of(7, None, "player.danced_well", json.dumps(payload), datetime(2030, 1, 1, tzinfo=UTC))
    event = json.loads(frame.data.decode().partition("data: ")[2])
    assert (event["text"], event["level"], event["transient"]) == (text, "plain", False)
    assert event["payload"] == payload


def test_own_code_is_named_as_its_author_wrote_it() -> None:
    bot = f"lanista_code_{'a' * 64}.row:Greedy"
    event = sent("evaluation.recorded", {"player": "main", "target": bot, "win_rate": 0.5})
    assert event.text == "main against row:Greedy: win rate 50.0%"
    assert event.payload["target"] == bot


def test_new_hyperparameters_are_shown_with_their_values() -> None:
    event = sent("player.retuned", {"player": "main", "hyperparameters": {"gamma": 0.99, "entropy": 0.02}})
    assert event.text == "main has new hyperparameters: entropy 0.02, gamma 0.99"


def test_a_payload_that_does_not_fit_its_kind_breaks_no_stream() -> None:
    event = sent("generation.recorded", {"player": "main", "steps": "many"})
    assert event.text == "main: generation recorded"
    assert event.payload == {"player": "main", "steps": "many"}


def test_what_was_stored_is_sent_without_invented_fields() -> None:
    event = sent("trial.status", {"from": "running", "to": "paused", "reason": None, "of_a_newer_release": [1]})
    assert event.payload == {"from": "running", "to": "paused", "reason": None, "of_a_newer_release": [1]}


def test_the_openapi_document_lists_every_kind_with_its_payload() -> None:
    document = create_app(ApiSettings()).openapi()
    schemas = document["components"]["schemas"]
    kinds = schemas["Event"]["discriminator"]["mapping"]
    assert set(kinds) == set(KINDS)
    assert [choice["$ref"] for choice in schemas["Event"]["oneOf"]] == list(kinds.values())
    for kind, reference in kinds.items():
        event = schemas[reference.rpartition("/")[2]]
        assert event["properties"]["type"]["const"] == kind
        if kind != Progress.KIND:
            payload = schemas[event["properties"]["payload"]["$ref"].rpartition("/")[2]]
            assert set(KINDS[kind].example()) <= set(payload["properties"])
    for path in ("/api/v1/events", "/api/v1/trials/{trial_id}/events"):
        stream = document["paths"][path]["get"]["responses"]["200"]["content"]["text/event-stream"]
        assert stream["itemSchema"]["properties"]["data"]["contentSchema"] == {"$ref": "#/components/schemas/Event"}


def test_the_page_names_only_kinds_that_exist() -> None:
    """Pages choose by kind what makes them load again; they hold no list of all kinds."""
    subjects = {kind.partition(".")[0] for kind in KINDS if "." in kind}
    literal = re.compile(rf'"((?:{"|".join(sorted(subjects))})\.[a-z]+)"')
    scripts = sorted((ROOT / "api" / "web" / "page").rglob("*.js"))
    named = {kind for path in scripts for kind in literal.findall(path.read_text(encoding="utf-8"))}
    assert named and named - set(KINDS) - {"evaluation.schedule"} == set()


def test_a_kind_whose_sentence_raises_does_not_break_the_stream() -> None:
    class Broken(EventPayload, kind="plug-in.broken"):
        @property
        def text(self) -> str:
            raise KeyError("no such field")

    try:
        assert read_event("plug-in.broken", {"name": "mine"}).text == "mine: plug-in broken"
    finally:
        KINDS.pop("plug-in.broken")
