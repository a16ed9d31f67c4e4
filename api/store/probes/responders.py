"""The trial of a responder: a main of the target's game, model and algorithm, and the target as its only opponents."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from api.store.tables import ModelVersion, Player, Probe, Trial
from api.store.trials.spec import spec_of
from league.seeds import derived_seed
from league.types import Role
from orchestrator.spec.probe import NewProbeSpec
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.trial import TrialSpec
from orchestrator.spec.values import LARGEST

RESPONDER = "responder"
NEVER = 1_000_000
"""Generations between evaluations that never come: the probe plays its own games."""


def responder_trial(session: Session, probe: Probe, number: int) -> TrialSpec:
    """The file of the trial in which responder `number` trains."""
    spec = NewProbeSpec.model_validate(probe.spec)
    origin = spec_of(session.get_one(Trial, probe.trial_id))
    parts = probe.target["parts"]
    first = _player_of(session, parts[0]["version_id"])
    names = ["target"] if len(parts) == 1 else [f"target-{place}" for place in range(1, len(parts) + 1)]
    targets = [_frozen(session, name, part["version_id"]) for name, part in zip(names, parts, strict=True)]
    generation = origin.generation.to_json()
    return check_spec(
        {
            "seed": derived_seed("probe", spec.seed, probe.id, number),
            "game": origin.game.to_json(),
            "model": first.model or origin.model.to_json(),
            "algorithm": first.algorithm or origin.algorithm.to_json(),
            "league": {
                "preset": "fixed",
                "players": [{"name": RESPONDER}, *targets],
                "matchmaking": {"shares": {name: part["weight"] for name, part in zip(names, parts, strict=True)}},
                "snapshot": {"min_steps": LARGEST, "max_steps": LARGEST},
                "champion_gate": None,
            },
            "generation": {**generation, "steps": min(generation["steps"], spec.steps)},
            "evaluation": {"every_generations": NEVER, "games": 2},
            "budget": {"steps": spec.steps},
        }
    )


def responder_name(probe_id: str, number: int) -> str:
    """The name of a responder's trial."""
    return f"probe-{probe_id[-12:]}-{number + 1}"


def _frozen(session: Session, name: str, version_id: str) -> dict[str, Any]:
    player = _player_of(session, version_id)
    if player.role is Role.BOT:
        return {"name": name, "role": "bot", "bot": player.bot}
    origin = spec_of(session.get_one(Trial, player.trial_id))
    model = player.model or origin.model.to_json()
    return {"name": name, "role": "historical", "weights": version_id, "model": model}


def _player_of(session: Session, version_id: str) -> Player:
    return session.get_one(Player, session.get_one(ModelVersion, version_id).player_id)
