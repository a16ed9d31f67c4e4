"""Creates a probe with its target: one version, or the Nash mixture of a trial's snapshots."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.events import ProbeCreated
from api.store.checkpoints.damaged import damaged_sha256
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.payoffs.cells import load_payoff
from api.store.players.pruned import refuse_pruned
from api.store.players.roster import players_of
from api.store.players.versions import version_name
from api.store.tables import ModelVersion, Probe, Trial
from api.store.trials.spec import spec_of
from league.matchmaking.psro import meta_game
from league.ratings import nash_average
from league.types import PlayerId, Role
from orchestrator.spec.game import EnvPoolGame, GymnasiumGame, declared_team_count
from orchestrator.spec.probe import NewProbeSpec

LARGEST_MIXTURE = 200
"""The newest snapshots that a mixture is of."""
MOST_PARTS = 16
SMALLEST_PART = 0.01
"""A lighter part of a mixture is left out: it would cost as many games as any other."""


def probe_version(session: Session, version_id: str, spec: NewProbeSpec) -> Probe:
    """A pending probe of one version; the caller starts its workflow."""
    probe, event = add_version_probe(session, version_id, spec)
    append_events(session, [event])
    return probe


def add_version_probe(session: Session, version_id: str, spec: NewProbeSpec) -> tuple[Probe, NewEvent]:
    """The same, with its event still to be written, which must come last in a transaction."""
    version = session.get(ModelVersion, version_id)
    if version is None:
        raise NotFound(f"there is no version {version_id}")
    refuse_pruned(session, version.id)
    trial = session.get_one(Trial, version.trial_id)
    part = {"version_id": version.id, "name": version_name(session, version.id), "weight": 1.0}
    return _add(session, trial, [part], spec, version_id=version.id)


def probe_mixture(session: Session, trial_id: str, spec: NewProbeSpec) -> Probe:
    """A pending probe of the Nash mixture of the trial's snapshots by their payoff."""
    trial = session.get(Trial, trial_id)
    if trial is None:
        raise NotFound(f"there is no trial {trial_id}")
    probe, event = _add(session, trial, _mixture(session, trial), spec, version_id=None)
    append_events(session, [event])
    return probe


def _add(
    session: Session, trial: Trial, parts: list[dict[str, Any]], spec: NewProbeSpec, *, version_id: str | None
) -> tuple[Probe, NewEvent]:
    game = spec_of(trial).game
    teams = 1 if isinstance(game, GymnasiumGame | EnvPoolGame) else declared_team_count(game)
    if teams is not None and teams != 2:
        raise Conflict(
            f"a probe needs a game of two teams, in which one can exploit the other; {trial.game} has {teams}"
        )
    probe = Probe(
        id=new_id(),
        project_id=trial.project_id,
        trial_id=trial.id,
        version_id=version_id,
        commit=trial.last_commit,
        target={"parts": parts},
        spec=spec.to_json(),
    )
    session.add(probe)
    session.flush()
    session.refresh(probe)
    payload = ProbeCreated(probe_id=probe.id, target=target_name(probe), responders=spec.responders, steps=spec.steps)
    return probe, NewEvent(trial_id=trial.id, payload=payload)


def target_name(probe: Probe) -> str:
    """The target in words."""
    names = [str(part["name"]) for part in probe.target["parts"]]
    return names[0] if probe.version_id is not None else f"the mixture of {', '.join(names)}"


def _mixture(session: Session, trial: Trial) -> list[dict[str, Any]]:
    versions = _snapshots(session, trial)
    players = [PlayerId(player) for player in versions][-LARGEST_MIXTURE:]
    if len(players) < 2:
        raise Conflict(
            f"trial {trial.name!r} has {len(players)} snapshots; a mixture needs two: probe a version instead"
        )
    game, _ = meta_game(load_payoff(session, trial, min_games=spec_of(trial).league.payoff.min_games), players)
    weights, _ = nash_average(game)
    heaviest = sorted(zip(weights, players, strict=True), reverse=True)[:MOST_PARTS]
    kept = [(float(weight), versions[player]) for weight, player in heaviest if weight >= SMALLEST_PART]
    total = sum(weight for weight, _ in kept)
    return [
        {"version_id": version, "name": version_name(session, version), "weight": weight / total}
        for weight, version in kept
    ]


def _snapshots(session: Session, trial: Trial) -> dict[str, str]:
    """The version of each snapshot that is not damaged, by player, the oldest first."""
    damaged = damaged_sha256(session, trial.id)
    frozen = [player.id for player in players_of(session, trial.id) if player.role is Role.HISTORICAL]
    rows = session.scalars(
        select(ModelVersion)
        .where(ModelVersion.player_id.in_(frozen), ModelVersion.sha256.not_in(damaged or [""]))
        .order_by(ModelVersion.player_id, ModelVersion.number)
    )
    return {row.player_id: row.id for row in rows}
