"""The whole trial: one typed tree; everything except `game` has a default."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from orchestrator.spec.algorithms.actor_critic import PpoAlgorithm
from orchestrator.spec.algorithms.choice import AlgorithmChoice
from orchestrator.spec.budget import BudgetSpec
from orchestrator.spec.components import KnownNames
from orchestrator.spec.evaluation import EvaluationSpec, check_games_against_target
from orchestrator.spec.game import GameChoice, OtherGame, declared_team_count
from orchestrator.spec.generation import GenerationSpec
from orchestrator.spec.judgement import needless, too_many_teams
from orchestrator.spec.league import LeagueSpec
from orchestrator.spec.model import MlpModel, ModelChoice
from orchestrator.spec.population_checks import population_problems
from orchestrator.spec.section import Section
from orchestrator.spec.values import LARGEST, WHOLE, Name, Priority, Quota


class TrialSpec(Section):
    """A trial in REST requests and in the store: the file without `project`, `trial` and `mode`."""

    seed: Annotated[int, Field(strict=True, ge=0, le=LARGEST), WHOLE] = Field(
        default=0, description="source of everything random in the trial"
    )
    game: GameChoice = Field(description="what is played, as {id: connect_four}")
    model: ModelChoice = Field(default=MlpModel(), description="the network of learning players that name none")
    algorithm: AlgorithmChoice = Field(default=PpoAlgorithm(), description="how learning players that name none learn")
    league: LeagueSpec = Field(
        default=LeagueSpec(), description="players, matchmaking, snapshots, resets and promotion"
    )
    generation: GenerationSpec = Field(
        default=GenerationSpec(), validate_default=True, description="size and processes of a generation"
    )
    evaluation: EvaluationSpec = Field(default=EvaluationSpec(), description="when rating games are played")
    budget: BudgetSpec = Field(default=BudgetSpec(steps=100_000_000), description="when the trial ends")
    priority: Priority = Field(
        default=1.0, description="weight of the trial among those of its project where crews are scarce"
    )
    quota: Quota | None = Field(default=None, description="most generations under way at once; null: no limit")
    start: Literal["running", "paused"] = Field(default="running", description="whether it starts running or paused")
    initial_weights: str | None = Field(
        default=None, min_length=1, description="version id or file of weights to start from; null: random weights"
    )

    @field_validator("league")
    @classmethod
    def _gate_compares_two_teams(cls, league: LeagueSpec, info: ValidationInfo) -> LeagueSpec:
        # only new trials are refused; a game that does not say how many teams it has is asked by a worker
        game = info.data.get("game")
        if isinstance(info.context, KnownNames) and league.champion_gate is not None and game is not None:
            count = declared_team_count(game)
            if count is not None and count > 2:
                raise ValueError(f"champion_gate: {too_many_teams(game.id, count)}")
            if count == 1 and league.champion_gate.panel is not None:
                raise ValueError(f"champion_gate.panel: {needless('panel', game.id)}")
            if count == 1 and league.champion_gate.probe is not None:
                raise ValueError(f"champion_gate.probe: {needless('probe', game.id)}")
        return league

    @field_validator("league")
    @classmethod
    def _populations_suit(cls, league: LeagueSpec, info: ValidationInfo) -> LeagueSpec:
        # only new trials are refused; stored ones must stay readable
        algorithm, game = info.data.get("algorithm"), info.data.get("game")
        if isinstance(info.context, KnownNames) and algorithm is not None and game is not None:
            problems = list(population_problems(league, algorithm, game))
            if problems:
                raise ValueError("; ".join(problems))
        return league

    @field_validator("generation")
    @classmethod
    def _crews_suit_algorithms(cls, generation: GenerationSpec, info: ValidationInfo) -> GenerationSpec:
        # only new trials are refused; stored ones must stay readable
        algorithm, league = info.data.get("algorithm"), info.data.get("league")
        if isinstance(info.context, KnownNames) and algorithm is not None and league is not None:
            used = (player.algorithm or algorithm for player in league.learners)
            problems = dict.fromkeys(problem for each in used for problem in generation.misfits(each))
            if problems:
                raise ValueError("; ".join(problems))
        return generation

    @field_validator("budget")
    @classmethod
    def _target_can_be_measured(cls, budget: BudgetSpec, info: ValidationInfo) -> BudgetSpec:
        # only new trials are refused; a stored trial plays fewer games
        evaluation = info.data.get("evaluation")
        if isinstance(info.context, KnownNames) and budget.until is not None and evaluation is not None:
            check_games_against_target(evaluation)
        return budget


def without_defaults(spec: TrialSpec, options: Collection[str]) -> TrialSpec:
    """The trial without these options of its own game: they have their defaults, and an option more is another game."""
    if not options or not isinstance(spec.game, OtherGame):
        return spec
    kept = {name: value for name, value in spec.game.to_json().items() if name not in options}
    return spec.model_copy(update={"game": OtherGame.model_validate(kept)})


class TrialFile(TrialSpec):
    """A trial file: a trial with its project and name."""

    project: Name = Field(default="default", description="namespace of the trial")
    trial: Name = Field(default="trial", description="name of the trial; without one, the file's name is taken")
    mode: Literal["train", "serve"] = Field(
        default="train",
        description="what the file is for: training, or lanista serve --trial, which serves its champion",
    )

    @property
    def spec(self) -> TrialSpec:
        """The trial without `project`, `trial` and `mode`."""
        return TrialSpec(**{name: getattr(self, name) for name in TrialSpec.model_fields})


def trial_json_schema() -> dict[str, Any]:
    """JSON Schema of a trial file, for editors."""
    schema = TrialFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
