"""`league`: players, matchmaking, snapshots, resets and promotion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator

from league.types import Role
from orchestrator.catalog import Kind
from orchestrator.spec.components import check_name
from orchestrator.spec.judgement import GateSpec, PayoffSpec, ResetSpec, SnapshotSpec
from orchestrator.spec.matchmaking import (
    AlphastarMatchmaking,
    FictitiousMatchmaking,
    FixedMatchmaking,
    Matchmaking,
    MatesSpec,
    OpenAiFiveMatchmaking,
    OtherMatchmaking,
    PfspMatchmaking,
    Preset,
    PsroMatchmaking,
    matchmaking_of,
)
from orchestrator.spec.players import EXPLOITERS, PlayerSpec, allows_exploiters, default_players
from orchestrator.spec.population import PopulationSpec
from orchestrator.spec.section import Contradiction, Section

MOST_PLAYERS = 1000
"""The most players of one trial file; snapshots are not counted."""

AnyMatchmaking = (
    Matchmaking
    | FictitiousMatchmaking
    | PfspMatchmaking
    | AlphastarMatchmaking
    | OpenAiFiveMatchmaking
    | PsroMatchmaking
    | FixedMatchmaking
    | OtherMatchmaking
)


class LeagueSpec(Section):
    """The league's members and rules."""

    preset: str = Field(
        default=Preset.SELF_PLAY.value,
        description="how opponents are chosen: self_play, fictitious, pfsp, alphastar, openai_five, psro, fixed, "
        "or your own matchmaker",
        examples=[preset.value for preset in Preset],
    )
    players: tuple[PlayerSpec, ...] = Field(
        default=(),
        max_length=MOST_PLAYERS,
        validate_default=True,
        description="the members; none: those of the preset (alphastar: a main and both exploiters; else one main)",
    )
    matchmaking: SerializeAsAny[Matchmaking] = Field(
        default={},  # becomes the preset's options, with its defaults
        validate_default=True,
        description="options of the preset's rule",
    )
    mates: MatesSpec = Field(default=MatesSpec(), description="who shares the learner's team in games of teams")
    payoff: PayoffSpec = Field(default=PayoffSpec(), description="how win rates are estimated from past games")
    snapshot: SnapshotSpec = Field(default=SnapshotSpec(), description="when a player is frozen into the past")
    reset: ResetSpec = Field(
        default=ResetSpec(),
        validate_default=True,
        description="the probability of a reset after a snapshot; with psro a main is always reset unless set here",
    )
    champion_gate: GateSpec | None = Field(
        default=GateSpec(),
        validate_default=True,
        description="how a snapshot of a main becomes champion; null: no champion, which is the default of psro",
    )

    @field_validator("preset")
    @classmethod
    def _known(cls, preset: str, info: ValidationInfo) -> str:
        return check_name(Kind.MATCHMAKER, preset, info)

    @field_validator("players")
    @classmethod
    def _at_least_the_presets(cls, players: tuple[PlayerSpec, ...], info: ValidationInfo) -> tuple[PlayerSpec, ...]:
        return players or default_players(info.data.get("preset", Preset.SELF_PLAY))

    @field_validator("matchmaking", mode="plain", json_schema_input_type=AnyMatchmaking)
    @classmethod
    def _as_the_preset_has_it(cls, options: Any, info: ValidationInfo) -> Matchmaking:
        # without a valid preset the options cannot be checked, and the league is refused for its preset
        return matchmaking_of(info.data.get("preset", ""), options, info.context)

    @field_validator("reset", mode="before")
    @classmethod
    def _responses_start_anew(cls, reset: Any, info: ValidationInfo) -> Any:
        # a best response trained from the previous one is overconfident in states where it must change, and does not
        if info.data.get("preset") != Preset.PSRO:
            return reset
        if isinstance(reset, ResetSpec):
            return reset if "main" in reset.model_fields_set else reset.model_copy(update={"main": 1.0})
        return {"main": 1.0, **reset} if isinstance(reset, Mapping) else reset

    @field_validator("champion_gate", mode="before")
    @classmethod
    def _mixtures_have_no_champion(cls, gate: Any, info: ValidationInfo) -> Any:
        # the result of psro is the mixture of its pool; a single response of it may lose to another
        unset = isinstance(gate, GateSpec) and not gate.model_fields_set
        return None if unset and info.data.get("preset") == Preset.PSRO else gate

    @classmethod
    def contradictions(cls, given: Mapping[str, Any]) -> Iterable[Contradiction]:
        """Players that contradict each other, such as two of one name."""
        listed = given.get("players")
        if not isinstance(listed, list | tuple) or not listed:
            if given.get("preset") == Preset.FIXED:
                yield from _unknown_shares([], given.get("matchmaking"))
            return
        players = [_raw(player) for player in listed]
        yield from _doubled_names(players)
        yield from _misplaced_roles(players, given.get("preset", Preset.SELF_PLAY.value))
        if given.get("preset") == Preset.FIXED:
            yield from _unknown_shares(players, given.get("matchmaking"))

    @property
    def members(self) -> tuple[PlayerSpec, ...]:
        """Every player that the league starts with: a population is as many as its size says."""
        return tuple(member for player in self.players for member in player.members)

    @property
    def learners(self) -> tuple[PlayerSpec, ...]:
        """The players that learn, each member of a population too."""
        return tuple(player for player in self.members if player.role.learns)

    def population(self, name: str) -> PopulationSpec:
        """The population of this name."""
        found = next(player.population for player in self.players if player.name == name)
        assert found is not None, f"{name} is no population"
        return found


def _unknown_shares(players: list[Mapping[str, Any]], matchmaking: Any) -> Iterator[Contradiction]:
    frozen = [player.get("name") for player in players if player.get("role") in (Role.HISTORICAL, Role.BOT)]
    if not frozen:
        reason = "the preset fixed needs opponents that do not learn: add a player of the role historical or bot"
        yield Contradiction(path=("players",), value=..., reason=reason)
    shares = matchmaking.get("shares") if isinstance(matchmaking, Mapping) else getattr(matchmaking, "shares", {})
    for name in shares if isinstance(shares, Mapping) and frozen else ():
        if name not in frozen:
            reason = f"is no historical player and no bot of the trial; these are: {', '.join(map(str, frozen))}"
            yield Contradiction(path=("matchmaking", "shares", name), value=name, reason=reason)


def _raw(player: Any) -> Mapping[str, Any]:
    if isinstance(player, PlayerSpec):
        return {"name": player.name, "role": player.role}
    return player if isinstance(player, Mapping) else {}


def _doubled_names(players: list[Mapping[str, Any]]) -> Iterator[Contradiction]:
    first: dict[str, int] = {}
    for index, player in enumerate(players):
        name = player.get("name")
        if isinstance(name, str) and first.setdefault(name, index) != index:
            reason = f"the name is taken by players[{first[name]}]; every player needs its own"
            yield Contradiction(path=("players", index, "name"), value=name, reason=reason)


def _misplaced_roles(players: list[Mapping[str, Any]], preset: Any) -> Iterator[Contradiction]:
    roles = [player.get("role", Role.MAIN.value) for player in players]
    exploiting = [index for index, role in enumerate(roles) if role in EXPLOITERS]
    for index in exploiting if isinstance(preset, str) and not allows_exploiters(preset) else []:
        reason = f"the preset {preset} has no rule for this role (alphastar has); its learning players are mains"
        yield Contradiction(path=("players", index, "role"), value=roles[index], reason=reason)
    if Role.MAIN in roles or any(role not in list(Role) for role in roles):
        return  # there is a main, or a misspelt role may mean one; that is a problem of its own
    if exploiting:
        reason = "an exploiter needs a main to exploit: add a player of the role main"
        yield Contradiction(path=("players", exploiting[0], "role"), value=roles[exploiting[0]], reason=reason)
    else:
        yield Contradiction(path=("players",), value=..., reason="no player learns: add a player of the role main")
