"""`dump` of a remote game: checked in the trial file, and handed to whoever casts sessions."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.spec.code_names import code_in_trial
from orchestrator.spec.reading.loading import parse_trial
from orchestrator.spec.reading.problems import InvalidTrial
from workers.games.names import make_game
from workers.games.remote import RemoteGame
from workers.gateway.recording.options import kept_games

TRIAL = """
game:
  id: remote
  agent: my_agent:MyAgent
  spec: {{seats: 2, observation: {{type: box, shape: [9]}}, action: {{type: discrete, n: 9}}}}
  dump: {dump}
"""


def game_of(dump: str) -> Any:
    return parse_trial(TRIAL.format(dump=dump)).spec


def test_the_option_reaches_the_game_and_its_casts() -> None:
    spec = game_of("{every: 1000, render: 'my_agent:draw'}")
    component = spec.game.component
    assert kept_games(component) == {"dump": {"every": 1000, "keep": 100, "render": "my_agent:draw"}}
    made = make_game(component.id, 1, **{**component.options, "agent": None})
    assert isinstance(made, RemoteGame) and made.dump is not None
    assert [(each.field, each.name) for each in code_in_trial(spec)][-1] == ("game.dump.render", "my_agent:draw")


def test_without_it_no_game_is_kept() -> None:
    assert kept_games(game_of("null").game.component) == {}


@pytest.mark.parametrize(
    ("dump", "words"),
    [
        ("{}", "game.dump.every"),
        ("{every: 0}", "game.dump.every"),
        ("{every: 5, keep: -1}", "game.dump.keep"),
        ("{every: 5, render: draw}", "must be an import path module:function"),
        ("{every: 5, all: true}", "game.dump.all"),
    ],
)
def test_what_is_wrong_is_named(dump: str, words: str) -> None:
    with pytest.raises(InvalidTrial) as invalid:
        game_of(dump)
    assert words in str(invalid.value)
