"""Plans a generation: a payoff snapshot becomes a match plan, recorded once with its evidence.

See docs/decisions/store.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus, TrialStatus
from api.store.checkpoints.damaged import damaged_sha256
from api.store.core.clock import now
from api.store.core.commits import lock_trial
from api.store.core.decisions import Subject, find_decision, record_decision
from api.store.core.errors import Conflict, NotFound, NotYet
from api.store.evaluations.gauntlet import evaluation_under_way
from api.store.generations.budget import check_budget, is_held, next_steps
from api.store.generations.fair_share import check_quota
from api.store.generations.matchmaker_state import qualities_of
from api.store.generations.turns import check_queue
from api.store.payoffs.cells import load_payoff
from api.store.players.pruned import is_pruned
from api.store.players.roster import player_of, players_of, roster_of
from api.store.players.versions import playing_version
from api.store.tables import Decision, ModelVersion, Player, Trial
from api.store.trials.spec import own_algorithm, spec_of
from league.types import DecisionKind, MatchPlan, PlayerId, Role
from orchestrator.catalog import Component
from orchestrator.league_rules import (
    WHOLE_PAYOFF,
    GenerationRef,
    MatchmakerFailed,
    OpponentChoice,
    choose_opponents,
    own_row_suffices,
    repeated,
)

MAX_EVALUATION_WAIT = timedelta(minutes=10)
"""A longer evaluation is not waited for: its unplayed pairs count as even."""


@dataclass(frozen=True, kw_only=True)
class ChosenOpponent:
    """An opponent of the plan, with its newest usable version at planning time."""

    player: Player
    version: ModelVersion
    probability: float


@dataclass(frozen=True, kw_only=True)
class PlannedGeneration:
    """A recorded plan, the same for every delivery."""

    trial: Trial
    player: Player
    decision: int
    version: ModelVersion
    seed: int
    steps: int
    algorithm: Component
    opponents: tuple[ChosenOpponent, ...]
    mates: tuple[ChosenOpponent, ...] = ()
    """Who shares the learner's team; the rest of the games the learner has it alone."""


@dataclass(frozen=True, kw_only=True)
class FollowedPlan:
    """The part of a recorded plan that the record of its generation keeps."""

    decision: int
    version_id: str
    seed: int
    algorithm: Component


def plan_generation(
    session: Session, trial_id: str, player_id: str, generation: int, attempt: int = 1, *, crews: int = 0
) -> PlannedGeneration:
    """The plan of this attempt at a generation: the recorded one, or a new one from the present payoff.

    Raises NotYet while games have to be played first, another player has to queue first (see `check_queue`), or
    a quota is used up.
    """
    trial = lock_trial(session, trial_id)
    player = player_of(session, trial_id, player_id)
    decision = _find_plan(session, trial_id, player_id, generation, attempt)
    if decision is None:
        _check_turn(player, generation)
        if (games := _awaited_games(session, trial)) is not None:
            raise NotYet(f"the next response of {player.name} waits for the games of {games!r}")
        check_queue(session, trial, player, crews)
        check_quota(session, trial, player, lambda other: _begins_nothing(session, other))
        check_budget(session, trial, player)
        decision = _decide(session, trial, player, generation, attempt)
    return _read_plan(session, trial, player, decision)


def recorded_plan(session: Session, trial_id: str, player_id: str, generation: int, attempt: int) -> PlannedGeneration:
    """A recorded plan; NotFound if there is none."""
    player = player_of(session, trial_id, player_id)
    decision = _find_plan(session, trial_id, player_id, generation, attempt)
    if decision is None:
        raise NotFound(f"there is no plan of attempt {attempt} at generation {generation} of {player.name}")
    return _read_plan(session, session.get_one(Trial, trial_id), player, decision)


def followed_plan(session: Session, trial_id: str, player_id: str, generation: int, attempt: int) -> FollowedPlan:
    """The part of a plan that the generation's record keeps; raises NotFound if no plan was recorded."""
    decision = _find_plan(session, trial_id, player_id, generation, attempt)
    if decision is None:
        raise NotFound(f"there is no plan of attempt {attempt} at generation {generation} of player {player_id}")
    plan = decision.evidence["plan"]
    return FollowedPlan(
        decision=decision.id,
        version_id=plan["version"],
        seed=plan["seed"],
        algorithm=Component(**plan["algorithm"]),
    )


def planned_evidence(session: Session, decision_id: int) -> Mapping[str, Any]:
    """The evidence of a recorded plan."""
    decision = session.get(Decision, decision_id)
    if decision is None or decision.kind is not DecisionKind.MATCHMAKING:
        raise NotFound(f"there is no matchmaking decision {decision_id}")
    return decision.evidence


def usable_versions(session: Session, trial_id: str) -> dict[str, ModelVersion]:
    """Each player's newest version that is not known to be damaged, by player."""
    damaged = damaged_sha256(session, trial_id)
    query = select(ModelVersion).where(ModelVersion.trial_id == trial_id, ~is_pruned())
    if damaged:
        query = query.where(ModelVersion.sha256.is_(None) | ModelVersion.sha256.not_in(damaged))
    newest = query.ext(distinct_on(ModelVersion.player_id)).order_by(ModelVersion.player_id, ModelVersion.number.desc())
    return {version.player_id: version for version in session.scalars(newest)}


def _find_plan(session: Session, trial_id: str, player_id: str, generation: int, attempt: int) -> Decision | None:
    subject = Subject(trial_id=trial_id, player_id=player_id, generation=generation, attempt=attempt)
    return find_decision(session, subject, DecisionKind.MATCHMAKING)


def _check_turn(player: Player, generation: int) -> None:
    if not player.role.learns:
        raise Conflict(f"{player.name} is {player.role} and does not learn: there is nothing to plan")
    if generation != player.generation + 1:
        raise Conflict(
            f"generation {generation} of {player.name} cannot be planned: the newest recorded is {player.generation}"
        )


def _awaited_games(session: Session, trial: Trial) -> str | None:
    """The evaluation that a best response to the pool waits for, up to a limit: the games of its newest member."""
    ending = trial.status is TrialStatus.STOPPING or trial.status.is_final
    if ending or spec_of(trial).league.preset not in WHOLE_PAYOFF:
        return None
    evaluation = evaluation_under_way(session, trial.id)
    if evaluation is None or now(session) - evaluation.created_at >= MAX_EVALUATION_WAIT:
        return None
    return evaluation.name


def _begins_nothing(session: Session, trial: Trial) -> bool:
    return is_held(session, trial) or _awaited_games(session, trial) is not None


def _decide(session: Session, trial: Trial, player: Player, generation: int, attempt: int) -> Decision:
    version = playing_version(session, player)
    versions = usable_versions(session, trial.id)
    turn = GenerationRef(trial_seed=trial.seed, learner=PlayerId(player.id), name=player.name, generation=generation)
    choice = _choose(session, trial, player, turn, versions)
    mates = {} if choice.mates is None else {"mates": _fixed_mates(choice, versions)}
    evidence = {
        **choice.decision.evidence,
        "plan": {
            "version": version.id,
            "seed": turn.seed(),
            "steps": next_steps(session, trial, player),
            "algorithm": asdict(own_algorithm(trial, player)),
            "opponents": _opponents(choice.plan, player, version, versions),
            **mates,
        },
    }
    subject = Subject(
        trial_id=trial.id, player_id=player.id, generation=generation, attempt=attempt, version_id=version.id
    )
    return record_decision(session, subject, replace(choice.decision, evidence=evidence))


def _choose(
    session: Session, trial: Trial, player: Player, turn: GenerationRef, versions: Mapping[str, ModelVersion]
) -> OpponentChoice:
    league = spec_of(trial).league
    payoff = load_payoff(
        session, trial, min_games=league.payoff.min_games, of_player=player.id if own_row_suffices(league) else None
    )
    try:
        return choose_opponents(
            league,
            turn,
            roster=roster_of(session, trial.id, playable=_choosable(session, trial, versions)),
            payoff=payoff,
            payoff_revision=trial.payoff_revision,
            qualities=qualities_of(session, trial, player),
        )
    except MatchmakerFailed as error:
        raise Conflict(str(error)) from error


def _choosable(session: Session, trial: Trial, versions: Mapping[str, ModelVersion]) -> set[str]:
    """The players that can be chosen. For a whole payoff, without snapshots that repeat earlier weights."""
    if spec_of(trial).league.preset not in WHOLE_PAYOFF:
        return set(versions)
    return set(versions) - repeated(
        (player.id, versions[player.id].sha256)
        for player in players_of(session, trial.id)
        if player.role is Role.HISTORICAL and player.status is PlayerStatus.ACTIVE and player.id in versions
    )


def _opponents(
    plan: MatchPlan, learner: Player, version: ModelVersion, versions: Mapping[str, ModelVersion]
) -> list[dict[str, Any]]:
    """The plan's opponents, each fixed to a version: later versions do not change a recorded plan."""
    return [
        {
            **asdict(opponent),
            "version": version.id if opponent.player == learner.id else versions[opponent.player].id,
        }
        for opponent in plan.opponents
    ]


def _fixed_mates(choice: OpponentChoice, versions: Mapping[str, ModelVersion]) -> list[dict[str, Any]]:
    """The plan's mates, each fixed to a version."""
    return [{**asdict(mate), "version": versions[mate.player].id} for mate in choice.mates or ()]


def _read_plan(session: Session, trial: Trial, player: Player, decision: Decision) -> PlannedGeneration:
    plan = decision.evidence["plan"]
    mates = plan.get("mates", [])
    named = [opponent["version"] for opponent in [*plan["opponents"], *mates]]
    found = session.execute(
        select(ModelVersion, Player)
        .join(Player, Player.id == ModelVersion.player_id)
        .where(ModelVersion.id.in_([*named, plan["version"]]))
    )
    by_version = {version.id: (version, owner) for version, owner in found}
    return PlannedGeneration(
        trial=trial,
        player=player,
        decision=decision.id,
        version=by_version[plan["version"]][0],
        seed=plan["seed"],
        steps=plan.get("steps") or spec_of(trial).generation.steps,  # plans of earlier releases have none
        algorithm=Component(**plan["algorithm"]),
        opponents=tuple(_chosen(by_version, opponent) for opponent in plan["opponents"]),
        mates=tuple(_chosen(by_version, mate) for mate in mates),
    )


def _chosen(by_version: Mapping[str, tuple[ModelVersion, Player]], planned: Mapping[str, Any]) -> ChosenOpponent:
    version, player = by_version[planned["version"]]
    return ChosenOpponent(player=player, version=version, probability=planned["probability"])
