"""The specification of a tournament, in a file, a request or a schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError, ValidationInfo

from orchestrator.spec.components import KnownNames
from orchestrator.spec.entrants import parse_entrant, written
from orchestrator.spec.game import GameChoice
from orchestrator.spec.reading.checking import found_in, known_names
from orchestrator.spec.reading.problems import InvalidTrial
from orchestrator.spec.section import Contradiction, Section
from orchestrator.spec.values import LARGEST, WHOLE, ErrorRate, Flag, Games, Name

Format = Literal["round_robin", "gauntlet", "swiss", "knockout", "adaptive"]

_OPTIONS: Mapping[str, frozenset[str]] = {
    "round_robin": frozenset({"cycles", "target_width"}),
    "gauntlet": frozenset({"cycles", "target_width", "challengers", "among_challengers"}),
    "swiss": frozenset({"rounds"}),
    "knockout": frozenset({"batches"}),
    "adaptive": frozenset({"rounds", "pairings_per_round", "target_width"}),
}
_OF_SOME = frozenset().union(*_OPTIONS.values())


def _entrant(text: str, info: ValidationInfo) -> str:
    parse_entrant(text, known=isinstance(info.context, KnownNames))
    return text


Entrant = Annotated[str, BeforeValidator(written), Field(strict=True, max_length=200), AfterValidator(_entrant)]
Few = Annotated[int, Field(strict=True, ge=1, le=10_000), WHOLE]


class PromotionSpec(Section):
    """Promotion of the winner: an alias, if its lead over every other entrant is significant."""

    alias: Name = Field(default="champion", description="alias that moves to the winner")
    error: ErrorRate = Field(
        default=0.05, description="the intervals of the winner's lead over each other entrant miss this often"
    )


class TournamentSpec(Section):
    """A tournament. Everything except the entrants and the trial or game has a default."""

    trial: Name | None = Field(
        default=None, description="trial of the project whose league takes part; it also says what is played"
    )
    game: GameChoice | None = Field(default=None, description="what is played, where no trial says it")
    name: Name = Field(default="tournament", description="name of the tournament")
    format: Format = Field(default="round_robin", description="how entrants are paired")
    seed: Annotated[int, Field(strict=True, ge=0, le=LARGEST), WHOLE] | None = Field(
        default=None,
        description="source of everything random in it; the same one gives the same games; null: drawn when it is made",
    )
    entrants: tuple[Entrant, ...] = Field(
        default=("latest", "snapshots", "bots", "bot:random"),
        description="rules, as latest, snapshots@other-trial, every:5/main, alias:champion, bot:random, version:<id>",
    )
    challengers: tuple[Entrant, ...] = Field(
        default=(), description="gauntlet: rules for the challengers, which meet all entrants of the field"
    )
    among_challengers: Flag | None = Field(
        default=None, description="gauntlet: challengers meet each other too (false)"
    )
    seeding: Literal["listed", "rating"] = Field(
        default="listed", description="order of the field: as listed, or by the newest ratings, best first"
    )
    games: Games = Field(default=20, description="games of one pairing, an even number up to 1000")
    cycles: Few | None = Field(
        default=None, description="round_robin, gauntlet: how often all pairs meet; with target_width, at most (100)"
    )
    rounds: Few | None = Field(default=None, description="swiss, adaptive: how many; null: what the format needs")
    batches: Few | None = Field(default=None, description="knockout: how often a tie is played on (3)")
    pairings_per_round: Few | None = Field(
        default=None, description="adaptive: pairings per round, between two ratings"
    )
    target_width: Annotated[float, Field(gt=0, le=10_000)] | None = Field(
        default=None, description="stop when the mean 95 % interval of all differences is this narrow, in Elo"
    )
    sampled: Flag = Field(default=True, description="policies draw from their probabilities; false: best move")
    opening_plies: Annotated[int, Field(strict=True, ge=0, le=1000), WHOLE] | None = Field(
        default=None,
        description="random moves before each pair of games; null: what suits the game; not 0 unless sampled",
    )
    at_once: Annotated[int, Field(strict=True, ge=1, le=64), WHOLE] = Field(
        default=4, description="pairings under way at once on the play queue"
    )
    promote: PromotionSpec | None = Field(default=None, description="promotion of the winner; null: none")

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        """Options of another format, and a missing trial or game."""
        chosen = given.get("format", "round_robin")
        # an unknown format is a problem of its own
        fitting = _OPTIONS.get(chosen, _OF_SOME) if isinstance(chosen, str) else _OF_SOME
        for name in _OF_SOME & given.keys():
            if given[name] not in (None, (), []) and name not in fitting:
                takers = " and ".join(sorted(kind for kind, options in _OPTIONS.items() if name in options))
                yield Contradiction(path=(name,), value=given[name], reason=f"is an option of {takers} only")
        if chosen == "gauntlet" and not given.get("challengers"):
            yield Contradiction(path=("challengers",), value=..., reason="is missing: a gauntlet needs challengers")
        if (given.get("trial") is None) == (given.get("game") is None):
            yield Contradiction(path=("game",), value=..., reason="give either a trial or a game, not both or neither")

    @property
    def options(self) -> dict[str, Any]:
        """Options of the format's rule; the store handles challengers and target widths itself."""
        names = _OPTIONS[self.format] - {"challengers"}
        if self.format in ("round_robin", "gauntlet"):
            names -= {"target_width"}
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {"games": self.games, **given}


class TournamentFile(TournamentSpec):
    """A tournament file: a tournament with its project."""

    project: Name = Field(default="default", description="namespace of the trials that take part")

    @property
    def spec(self) -> TournamentSpec:
        """The tournament without `project`."""
        return TournamentSpec(**{name: getattr(self, name) for name in TournamentSpec.model_fields})


def check_tournament(data: Any) -> TournamentSpec:
    """Check a tournament of a request or a schedule; raises InvalidTrial."""
    try:
        return TypeAdapter(TournamentSpec).validate_python(data, context=known_names(data))
    except ValidationError as error:
        raise InvalidTrial(problem for _, problem, _ in found_in(error)) from None
