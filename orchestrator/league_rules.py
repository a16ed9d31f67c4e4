"""What a league decides before and after a generation, by its trial file: values in, values out.

The store (`api/store/generations/`) reads the values from Postgres; a league in one process keeps them in memory. Both
call these functions, so that they decide alike. Workflows do not: a decision is an activity's result.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from league.lifecycle import ResetRule, SnapshotRule, decide_reset, decide_snapshot
from league.matchmaking import (
    BUILT_INS,
    Mate,
    MateShares,
    Member,
    Mixture,
    Request,
    Roster,
    draw_mates,
    draw_plan,
    joined_qualities,
    matchmaking_decision,
    mix,
)
from league.payoff import PayoffView
from league.seeds import derived_seed
from league.types import Decision, MatchPlan, PlayerId, VersionId
from orchestrator.matchmakers import load_matchmaker
from orchestrator.spec import TrialSpec
from orchestrator.spec.league import LeagueSpec

WHOLE_PAYOFF = frozenset({"psro"})
"""Built-in matchmakers that need the payoff of every pair; the others read the learner's row only."""
BY_QUALITY = "past_quality"


class MatchmakerFailed(ValueError):
    """A plug-in matchmaker raised; it would raise again for the same input."""


@dataclass(frozen=True, kw_only=True)
class GenerationRef:
    """Which generation is decided on: the trial's seed, the learner by id and name, and the generation's number."""

    trial_seed: int
    learner: PlayerId
    name: str
    generation: int

    def seed(self, *purpose: str) -> int:
        """The seed for a purpose; without one, that of the training itself."""
        return derived_seed(self.trial_seed, self.name, self.generation, *purpose)


@dataclass(frozen=True, kw_only=True)
class OpponentChoice:
    """The opponents and mates of a generation, and the decision that explains them."""

    plan: MatchPlan
    mates: tuple[Mate, ...] | None
    """None where the trial file asks for no mates."""
    decision: Decision
    """Its evidence holds the whole distribution, and `qualities` before the generation."""


def own_row_suffices(league: LeagueSpec) -> bool:
    """Whether the league's matchmaker reads only the learner's own games."""
    return league.preset in BUILT_INS and league.preset not in WHOLE_PAYOFF


def choose_opponents(
    league: LeagueSpec,
    turn: GenerationRef,
    *,
    roster: Sequence[Member],
    payoff: PayoffView,
    payoff_revision: int,
    qualities: Mapping[PlayerId, float],
) -> OpponentChoice:
    """Choose the opponents and mates of a generation; raises MatchmakerFailed."""
    mixture = _mixture(
        league.preset,
        Request(
            learner=turn.learner,
            roster=roster,
            payoff=payoff,
            options=league.matchmaking.to_json(),
            payoff_revision=payoff_revision,
            qualities=qualities,
        ),
    )
    decision = matchmaking_decision(mixture)
    evidence = {**decision.evidence, "qualities": _known_qualities(mixture, qualities)}
    return OpponentChoice(
        plan=draw_plan(mixture, turn.seed("opponents")),
        mates=_mates(league, turn, roster),
        decision=replace(decision, evidence=evidence),
    )


def judge_snapshot(
    league: LeagueSpec, *, learner: PlayerId, roster: Sequence[Member], payoff: PayoffView, steps_since_snapshot: int
) -> Decision:
    """Decide whether the learner is frozen now."""
    return decide_snapshot(
        SnapshotRule(**league.snapshot.to_json()),
        learner=learner,
        roster=roster,
        payoff=payoff,
        steps_since_snapshot=steps_since_snapshot,
    )


def judge_reset(
    league: LeagueSpec, turn: GenerationRef, *, roster: Sequence[Member], snapshot: VersionId, trial_steps: int
) -> Decision:
    """Decide whether the learner starts again after its snapshot; the roster has snapshots of its own kind only."""
    return decide_reset(
        ResetRule(**league.reset.to_json()),
        learner=turn.learner,
        roster=roster,
        snapshot=snapshot,
        trial_steps=trial_steps,
        seed=turn.seed("reset"),
    )


def snapshot_name(player: str, snapshots: int, taken: Container[str]) -> str:
    """The next free name of main-1, main-2, ...; a player of the trial file may have one of them."""
    number = snapshots + 1
    while f"{player}-{number}" in taken:
        number += 1
    return f"{player}-{number}"


def repeated(snapshots: Iterable[tuple[str, str | None]]) -> set[str]:
    """The snapshots, given by id and hash, whose weights an earlier one has."""
    seen: set[str | None] = set()
    found = set()
    for snapshot, weights in snapshots:
        if weights in seen:
            found.add(snapshot)
        seen.add(weights)
    return found


def starts_alike(spec: TrialSpec, *, own_algorithm: bool, own_model: bool) -> bool:
    """Whether a player, which may have an algorithm or a model of its own, starts from the weights that players share.

    Weights that the trial names are for all players of its model; without any, a player with an algorithm of its own
    may have another network.
    """
    return not own_model and (not own_algorithm or spec.initial_weights is not None)


def _mixture(preset: str, request: Request) -> Mixture:
    if preset in BUILT_INS:
        return mix(preset, request)
    rule = load_matchmaker(preset)
    try:
        return mix(preset, request, {preset: rule})
    except Exception as error:
        raise MatchmakerFailed(f"the matchmaker {preset!r} failed: {type(error).__name__}: {error}") from error


def _known_qualities(mixture: Mixture, before: Mapping[PlayerId, float]) -> dict[PlayerId, float] | None:
    """The qualities of the players that the mixture can draw; None if the matchmaker has no qualities."""
    drawn = [share for share in mixture.shares if share.branch == BY_QUALITY]
    if not drawn:
        return None
    players = [mixture.players[position] for share in drawn for position in share.positions.tolist()]
    return joined_qualities(before, players)


def _mates(league: LeagueSpec, turn: GenerationRef, roster: Sequence[Member]) -> tuple[Mate, ...] | None:
    wanted = league.mates
    if not wanted.any:
        return None
    shares = MateShares(past=wanted.past, league=wanted.league, include_bots=wanted.include_bots)
    return tuple(draw_mates(Roster(roster), turn.learner, shares, turn.seed("mates")))
