"""Tries a trial's own components in this process, where no stack answers: imports, builds and plays them.

Needs the extra `stack`: PyTorch and the adapters of games.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from api.web.temporal.check_components import (
    UnusableComponent,
    own_components,
    started_learners,
    unsuited_scores,
    unusable_component,
)
from orchestrator.catalog import Kind
from orchestrator.spec.trial import TrialSpec
from workers.activities.component_checks import try_component
from workers.activities.failures import failure_message
from workers.bots.names import make_bot
from workers.bots.protocol import bot_input
from workers.games.names import make_game

TABLES = 8
STEPS = 200
"""Random moves that an own game is played for, at each table."""


def try_here(spec: TrialSpec, folders: Sequence[Path], imports: Sequence[Path] = ()) -> list[UnusableComponent] | None:
    """What cannot be used of the trial's own components, by where it names them; None where it has none.

    `folders` are those with the user's modules, `imports` those that initial weights and data may lie in.
    """
    with _importable(folders):
        own = [*own_components(spec), *started_learners(spec, {})]
        if not own:
            return None
        found: dict[tuple[str | int, ...], UnusableComponent] = {}
        for each in own:
            verdict = try_component(each.check, imports or None)
            problem = verdict.problem
            if verdict.usable and each.check.kind is Kind.GAME:
                problem = _played(spec)
            if problem:
                # components that were tried together report one problem several times
                unusable = unusable_component(each, replace(verdict, problem=problem))
                found.setdefault(unusable.path, unusable)
            found |= {unsuited.path: unsuited for unsuited in unsuited_scores(each, verdict.teams)}
        return list(found.values())


def _played(spec: TrialSpec) -> str:
    """What random games of it raise; empty where they raise nothing."""
    try:
        game = make_game(spec.game.id, TABLES, **spec.game.component.options)
        if not game.spec.discrete:
            return ""
        game.reset(np.arange(TABLES, dtype=np.uint64))
        bot = make_bot("random", game.spec)
        for _ in range(STEPS):
            turn = game.turn()
            result = game.step(bot.act(bot_input(game, turn, np.arange(len(turn.tables)))))
            if not np.isfinite(result.rewards).all():
                return f"a reward of {game.spec.id} is not finite"
    except Exception as error:  # user code may raise anything; that is the verdict
        return failure_message(error)
    return ""


@contextmanager
def _importable(folders: Sequence[Path]) -> Iterator[None]:
    before = list(sys.path)
    sys.path[:0] = [str(folder) for folder in folders]
    try:
        yield
    finally:
        sys.path[:] = before
