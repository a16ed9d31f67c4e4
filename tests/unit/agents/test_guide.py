"""The code of the guide runs, in the order in which it is read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct, Value

from lanista.agents import Agent, Rehearsal, ScriptedModel
from workers.games.protocol import GameSpec

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "agents.md"


@pytest.fixture(scope="module")
def guide() -> dict[str, Any]:
    """What the blocks of the guide define."""
    names: dict[str, Any] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 8
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec"), names)
    return names


def spec(**options: Any) -> GameSpec:
    return GameSpec(id="g", max_steps=500, **{"seats": 1, "observation_shape": (2,), "actions": 3, **options})


def test_the_two_seats_of_the_first_example_are_played(guide: dict[str, Any]) -> None:
    assert guide["reply"] in (b'{"move":0}', b'{"move":1}')


def test_three_units_are_asked_at_once(guide: dict[str, Any]) -> None:
    with Rehearsal(guide["Squad"], spec(seats=3, teams=(0, 0, 0))) as rehearsal:
        rehearsal.start()
        assert rehearsal.tick({"units": [[0, 0], [1, 0], [0, 1]]}).startswith(b'{"orders":[')
        rehearsal.end({"score": 2})
    assert rehearsal.result is not None and rehearsal.result.returns.tolist() == [2, 2, 2]


def test_decision_trees_override_the_model(guide: dict[str, Any]) -> None:
    model = ScriptedModel(spec(), lambda rows: 0)
    with Rehearsal(guide["Careful"], spec(), models=[model]) as rehearsal:
        rehearsal.start()
        healthy = rehearsal.tick({"damage_dealt": 0, "state": [0, 0], "health": 90})
        wounded = rehearsal.tick({"damage_dealt": 2, "state": [0, 1], "health": 3})
        rehearsal.end()
    assert (healthy, wounded) == (b'{"action":0}', b'{"action":2}')
    assert rehearsal.result is not None and rehearsal.result.metrics == {"overridden": 0.5}
    assert rehearsal.episodes[0].columns["reward"].tolist() == [2.0]


def test_episodes_are_cut_and_shaped(guide: dict[str, Any]) -> None:
    with Rehearsal(guide["Explorer"], spec()) as rehearsal:
        rehearsal.start()
        for number in range(130):
            rehearsal.tick({"reward": 0, "place": [number % 4, 0]})
        rehearsal.end()
    lengths = [len(episode.columns["reward"]) for episode in rehearsal.episodes]
    assert lengths == [64, 64, 2] and [episode.over for episode in rehearsal.episodes] == [False, False, True]
    assert rehearsal.episodes[0].columns["reward"].sum() == pytest.approx(0.4)


def test_agents_of_a_session_wait_for_each_other(guide: dict[str, Any]) -> None:
    with Rehearsal(guide["agents"], spec(), models=[ScriptedModel(spec(), lambda rows: 1)]) as rehearsal:
        rehearsal.start()
        assert rehearsal.tick({"state": [0, 0]}) == b'{"action":1}'
        rehearsal.end({"score": 1})
    assert rehearsal.result is not None and rehearsal.result.metrics == {"jumps": 1.0}


def test_messages_of_protobuf(guide: dict[str, Any]) -> None:
    sent, end = Struct(), Struct()
    sent.update({"board": [0, 1]})
    end.update({"score": 3})
    with Rehearsal(guide["Typed"], spec()) as rehearsal:
        rehearsal.start(b"anything")
        assert Value.FromString(rehearsal.tick(sent.SerializeToString())).number_value in (0, 1, 2)
        rehearsal.end(end.SerializeToString())
    assert rehearsal.result is not None and rehearsal.result.returns.tolist() == [3]


def test_every_method_of_the_base_class_is_in_the_guide() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    public = {name for name in vars(Agent) if not name.startswith("_")} | set(Agent.__annotations__)
    missing = {
        name for name in public if not name.startswith("_") and f"`{name}" not in text and f".{name}" not in text
    }
    assert missing == set()


def test_a_rehearsal_that_is_left_is_aborted(guide: dict[str, Any]) -> None:
    with Rehearsal("generic", spec()) as rehearsal:
        rehearsal.start()
    assert rehearsal.result is None and rehearsal.aborted == "the rehearsal is over"
