"""A league in memory: plans, records and judges generations by the rules that the store uses.

See docs/decisions/trials.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lanista.training.memory_payoff import MemoryPayoff
from lanista.training.memory_populations import Played, played, standings
from league.lifecycle import RESET, SNAPSHOT
from league.matchmaking import Member, qualities_after_wins
from league.populations.selection import COPY
from league.types import CheckpointRef, Decision, PlayerId, Role, Stream, Tally, VersionId
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask, PlannedOpponent
from orchestrator.generation_task import generation_task
from orchestrator.league_rules import (
    WHOLE_PAYOFF,
    GenerationRef,
    OpponentChoice,
    choose_opponents,
    judge_reset,
    judge_snapshot,
    repeated,
    snapshot_name,
)
from orchestrator.populations import Member as PopulationMember
from orchestrator.populations import first_hyperparameters, is_due, judge_copy
from orchestrator.spec import TrialSpec
from orchestrator.spec.components import Choice
from orchestrator.spec.population import PopulationSpec


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of a player; a bot's has no checkpoint."""

    player: str
    number: int
    checkpoint: CheckpointRef | None

    @property
    def id(self) -> VersionId:
        return VersionId(f"{self.player}:{self.number}")


@dataclass(kw_only=True)
class LeaguePlayer:
    """A member of the league; its name is its id."""

    name: str
    role: Role
    model: Choice
    algorithm: Choice
    bot: str | None = None
    parent: str | None = None
    """The player that a snapshot is a copy of."""
    version: Version
    """The version that it plays and trains on: after a reset the weights it was reset to."""
    trained: Version | None = None
    """The version of its newest generation, which is what is measured and kept; None before the first."""
    origin: CheckpointRef | None = None
    """The weights it started from, to which a reset leads."""
    generation: int = 0
    steps: int = 0
    steps_at_snapshot: int = 0
    qualities: dict[PlayerId, float] = field(default_factory=dict)
    """Kept by the matchmaker openai_five."""
    population: PopulationSpec | None = None
    """The population that it is a member of; members of one share the object."""
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    """Options of its algorithm that are its own."""
    played: list[Played] = field(default_factory=list)
    """A member's generations since its last copy or reset."""
    rating_only: bool = False
    """Whether it is there to be measured against, and matchmaking never chooses it."""

    @property
    def id(self) -> PlayerId:
        return PlayerId(self.name)

    @property
    def newest(self) -> Version:
        """What its newest generation trained, also after a reset; before the first one, what it started with."""
        return self.trained or self.version

    @property
    def kind(self) -> tuple[Choice, str]:
        """What its weights mean: a reset goes to weights of the same kind only."""
        return self.model, self.algorithm.id


@dataclass(frozen=True, kw_only=True)
class PlannedTask:
    """A generation to train, and why these opponents were chosen."""

    task: GenerationTask
    choice: OpponentChoice


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The league's verdict on a generation."""

    snapshot: str | None
    """The name of the player that was made."""
    reset: bool
    reasons: tuple[str, ...]
    copied: str | None = None
    """The member of its population that it copied."""


class MemoryLeague:
    """The players of a trial, their versions and their payoff."""

    def __init__(self, spec: TrialSpec, weights: Mapping[str, CheckpointRef]) -> None:
        """`weights` has each learning player's first ones, by name."""
        self.spec = spec
        self.steps = 0
        self.payoff = MemoryPayoff(decay=spec.league.payoff.decay, min_games=spec.league.payoff.min_games)
        self.players: dict[str, LeaguePlayer] = {}
        own = first_hyperparameters(spec)
        for player in spec.league.members:
            first = weights.get(player.name)
            self.players[player.name] = LeaguePlayer(
                name=player.name,
                role=player.role,
                bot=player.bot,
                model=player.model or spec.model,
                algorithm=_tuned(player.algorithm or spec.algorithm, own.get(player.name, {})),
                hyperparameters=own.get(player.name, {}),
                population=player.population,
                version=Version(player=player.name, number=0, checkpoint=first),
                origin=first,
            )
        self._enter_target()

    @property
    def learners(self) -> list[LeaguePlayer]:
        """The players that train, in the order of the trial file."""
        return [player for player in self.players.values() if player.role.learns]

    @property
    def target(self) -> LeaguePlayer | None:
        """The player that the budget says to beat."""
        until = self.spec.budget.until
        if until is None:
            return None
        by_bot = (player for player in self.players.values() if player.bot == until.opponent)
        return self.players.get(until.opponent) or next(by_bot, None)

    def plan(self, player: LeaguePlayer) -> PlannedTask:
        """The task of the player's next generation."""
        choice = choose_opponents(
            self.spec.league,
            self._turn(player, player.generation + 1),
            roster=self._roster(unchosen=self._repeated()),
            payoff=self.payoff.view(),
            payoff_revision=self.payoff.revision,
            qualities=player.qualities,
        )
        checkpoint = player.version.checkpoint
        assert checkpoint is not None, "a player that learns has weights"
        mates = () if choice.mates is None else choice.mates
        task = generation_task(
            self.spec,
            player=player.name,
            version=player.version.id,
            checkpoint=checkpoint,
            model=player.model.component,
            algorithm=player.algorithm.component,
            seed=self._turn(player, player.generation + 1).seed(),
            steps=self._next_steps(),
            opponents=tuple(self._planned(each.player, each.probability, player) for each in choice.plan.opponents),
            mates=tuple(self._planned(each.player, each.probability, player) for each in mates),
        )
        return PlannedTask(task=task, choice=choice)

    def record(self, player: LeaguePlayer, planned: PlannedTask, outcome: GenerationOutcome) -> None:
        """Take in the outcome of a generation: the new version, its results and the matchmaker's state."""
        player.generation += 1
        player.steps += outcome.steps
        self.steps += outcome.steps
        self._next_version(player, outcome.checkpoint)
        player.trained = player.version
        owners = {opponent.version: PlayerId(opponent.player) for opponent in planned.task.opponents}
        self.payoff.count(Stream.TRAINING, player.id, [(owners[tally.opponent], tally) for tally in outcome.tallies])
        if player.population is not None:
            player.played.append(played(outcome.returns, outcome.tallies, owners))
        before: dict[PlayerId, float] | None = planned.choice.decision.evidence["qualities"]
        if before is not None:
            player.qualities = qualities_after_wins(before, _wins(before, owners, outcome.tallies))

    def judge(self, player: LeaguePlayer) -> Judged:
        """Apply the rules for snapshots and resets to the player's newest generation."""
        verdict = judge_snapshot(
            self.spec.league,
            learner=player.id,
            roster=self._roster(),
            payoff=self.payoff.view(),
            steps_since_snapshot=player.steps - player.steps_at_snapshot,
        )
        if verdict.verdict != SNAPSHOT:
            copied, why = self._maybe_copy(player)
            return Judged(snapshot=None, reset=False, reasons=(verdict.reason, *why), copied=copied)
        frozen = self._take_snapshot(player)
        reset = judge_reset(
            self.spec.league,
            self._turn(player, player.generation),
            roster=self._roster(
                left_out={
                    each.name
                    for each in self.players.values()
                    if each.role is Role.HISTORICAL and each.kind != player.kind
                }
            ),
            snapshot=frozen.version.id,
            trial_steps=self.steps,
        )
        if reset.verdict == RESET:
            self._next_version(player, self._reset_weights(player, reset))
            player.played.clear()
            return Judged(snapshot=frozen.name, reset=True, reasons=(verdict.reason, reset.reason))
        copied, why = self._maybe_copy(player)
        reasons = (verdict.reason, reset.reason, *why)
        return Judged(snapshot=frozen.name, reset=False, reasons=reasons, copied=copied)

    def _maybe_copy(self, player: LeaguePlayer) -> tuple[str | None, tuple[str, ...]]:
        """Decide whether a member of a population copies another, and do it; the donor's name, and the reason."""
        population = player.population
        if population is None or not is_due(population, player.generation):
            return None, ()
        members = {each.id: each for each in self.learners if each.population is population}
        verdict = judge_copy(
            population,
            self._turn(player, player.generation),
            standings(population.exploit, {member: each.played for member, each in members.items()}),
            {
                member: PopulationMember(
                    algorithm=each.algorithm, hyperparameters=each.hyperparameters, version=each.version.id
                )
                for member, each in members.items()
            },
        )
        if verdict.verdict != COPY:
            return None, (verdict.reason,)
        donor = members[PlayerId(verdict.evidence["donor"])]
        self._next_version(player, donor.version.checkpoint)
        player.hyperparameters = verdict.evidence["hyperparameters"]
        player.algorithm = _tuned(donor.algorithm, player.hyperparameters)
        player.played.clear()
        return donor.name, (verdict.reason,)

    def _next_steps(self) -> int:
        """The steps of the next generation; the last one of a budget is shorter."""
        usual = self.spec.generation.steps
        return self.spec.budget.next_generation(usual, used=self.steps, under_way=0) or usual

    def _turn(self, player: LeaguePlayer, generation: int) -> GenerationRef:
        return GenerationRef(trial_seed=self.spec.seed, learner=player.id, name=player.name, generation=generation)

    def _roster(self, *, unchosen: Iterable[str] = (), left_out: Iterable[str] = ()) -> list[Member]:
        """The roster as the rules read it; players that are `unchosen` are on it, but never drawn."""
        passive, out = set(unchosen), set(left_out)
        return [
            Member(
                id=player.id,
                role=player.role,
                created=place,
                parent=None if player.parent is None else PlayerId(player.parent),
                active=not player.rating_only and player.name not in passive,
                name=player.name,
            )
            for place, player in enumerate(self.players.values())
            if player.name not in out
        ]

    def _repeated(self) -> set[str]:
        """Snapshots that repeat earlier weights, where the matchmaker reads the whole payoff."""
        if self.spec.league.preset not in WHOLE_PAYOFF:
            return set()
        snapshots = [player for player in self.players.values() if player.role is Role.HISTORICAL]
        return repeated(
            (player.name, player.version.checkpoint.sha256) for player in snapshots if player.version.checkpoint
        )

    def _planned(self, name: str, probability: float, learner: LeaguePlayer) -> PlannedOpponent:
        player = self.players[name]
        return PlannedOpponent(
            player=name,
            version=player.version.id,
            probability=probability,
            checkpoint=None if player is learner else player.version.checkpoint,
            bot=player.bot,
            player_name=name,
        )

    def _next_version(self, player: LeaguePlayer, checkpoint: CheckpointRef | None) -> None:
        player.version = Version(player=player.name, number=player.version.number + 1, checkpoint=checkpoint)

    def _take_snapshot(self, player: LeaguePlayer) -> LeaguePlayer:
        children = sum(each.parent == player.name for each in self.players.values())
        name = snapshot_name(player.name, children, self.players)
        frozen = LeaguePlayer(
            name=name,
            role=Role.HISTORICAL,
            parent=player.name,
            model=player.model,
            algorithm=player.algorithm,
            version=Version(player=name, number=0, checkpoint=player.version.checkpoint),
            steps=player.steps,
        )
        self.players[name] = frozen
        player.steps_at_snapshot = player.steps
        if self.spec.league.payoff.inherit:
            self.payoff.inherit(child=frozen.id, parent=player.id)
        return frozen

    def _reset_weights(self, player: LeaguePlayer, verdict: Decision) -> CheckpointRef | None:
        target = verdict.evidence["target"]
        return player.origin if target is None else self.players[target].version.checkpoint

    def _enter_target(self) -> None:
        """Add the target's bot, where it is no player, as one that is only measured against."""
        until = self.spec.budget.until
        if until is not None and self.target is None:
            self.players[until.opponent] = LeaguePlayer(
                name=until.opponent,
                role=Role.BOT,
                bot=until.opponent,
                model=self.spec.model,
                algorithm=self.spec.algorithm,
                version=Version(player=until.opponent, number=0, checkpoint=None),
                rating_only=True,
            )


def _tuned(algorithm: Choice, hyperparameters: Mapping[str, Any]) -> Choice:
    return type(algorithm).model_validate({**algorithm.to_json(), **hyperparameters}) if hyperparameters else algorithm


def _wins(
    known: Mapping[PlayerId, float], owners: Mapping[str, PlayerId], tallies: Iterable[Tally]
) -> dict[PlayerId, int]:
    wins: dict[PlayerId, int] = {}
    for tally in tallies:
        opponent = owners[tally.opponent]
        if tally.wins and opponent in known:
            wins[opponent] = wins.get(opponent, 0) + tally.wins
    return wins
