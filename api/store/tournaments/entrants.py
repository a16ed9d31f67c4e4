"""Resolves the entrants of a tournament: rules become versions, each policy once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus, RatingMethod, TrialKind
from api.store.core.errors import Conflict, NotFound
from api.store.players.project_bots import bot_version
from api.store.players.pruned import is_pruned, refuse_pruned
from api.store.tables import Alias, ModelVersion, Player, Rating, RatingFit, Trial
from api.store.trials.names import is_named
from api.store.trials.spec import game_key
from league.types import Role
from orchestrator.searching import searching_bot, searching_name
from orchestrator.spec.entrants import EVERY_TRIAL, EntrantRule, Rule, parse_entrant
from orchestrator.spec.game import GameChoice
from orchestrator.user_code.code_archives import plain_name

MAX_ENTRANTS = 1000
LEARNING = tuple(role for role in Role if role.learns)


@dataclass(frozen=True, kw_only=True)
class Arena:
    """The project, game and trial in which entrants are looked up."""

    project_id: str
    game: GameChoice
    trial: Trial | None

    @property
    def key(self) -> str:
        return game_key(self.game)


@dataclass(frozen=True, kw_only=True)
class LabelledVersion:
    """A version and its label in this tournament."""

    version: ModelVersion
    player: Player
    label: str

    @property
    def policy(self) -> str:
        """Identifies the policy: versions with equal weights are one entrant."""
        return self.version.sha256 or f"bot:{self.player.bot}"


def resolve_entrants(session: Session, arena: Arena, rules: Sequence[str]) -> list[LabelledVersion]:
    """The versions that the rules name, in their order, each policy once."""
    found: dict[str, LabelledVersion] = {}
    for text in rules:
        rule = parse_entrant(text)
        for version in _versions(session, arena, rule):
            candidate = _candidate(session, arena, version)
            if rule.search is not None:
                candidate = _searching(session, arena, candidate, rule.search)
            found.setdefault(candidate.policy, candidate)
            if len(found) > MAX_ENTRANTS:
                raise Conflict(f"{text!r} makes more than {MAX_ENTRANTS} entrants; choose fewer, as with every:10")
    return list(found.values())


def reached_trials(session: Session, arena: Arena, text: str) -> Sequence[Trial]:
    """The trials that a rule finds entrants in; none for a bot, which the rule itself names."""
    rule = parse_entrant(text, known=False)
    if rule.rule is Rule.BOT:
        return []
    if rule.rule is Rule.VERSION:
        return [session.get_one(Trial, _fitting(session, arena, rule.argument).trial_id)]
    if rule.rule is Rule.ALIAS:
        return [session.get_one(Trial, _holder(session, arena, rule.argument).trial_id)]
    return _trials(session, arena, rule)


def admit_bots(session: Session, arena: Arena, rules: Sequence[str]) -> None:
    """Create a version for every bot that the rules name. This may lock a trial, so it comes before all other locks."""
    for rule in map(parse_entrant, rules):
        if rule.rule is Rule.BOT:
            list(_versions(session, arena, rule))
        elif rule.search is not None:
            for version in list(_versions(session, arena, rule)):
                _searching(session, arena, _candidate(session, arena, version), rule.search)


def by_rating(session: Session, arena: Arena, candidates: Iterable[LabelledVersion]) -> list[LabelledVersion]:
    """Best first by the newest ratings; unrated candidates follow in their order."""
    newest = (
        select(RatingFit.id)
        .where(
            RatingFit.project_id == arena.project_id,
            RatingFit.game == arena.key,
            RatingFit.method == RatingMethod.BRADLEY_TERRY,
        )
        .order_by(RatingFit.id.desc())
        .limit(1)
    )
    ranks = dict(
        session.execute(select(Rating.version_id, Rating.rank).where(Rating.fit_id == newest.scalar_subquery())).all()
    )
    return sorted(candidates, key=lambda each: ranks.get(each.version.id, 1 << 30))


def _versions(session: Session, arena: Arena, rule: EntrantRule) -> Iterator[ModelVersion]:
    if rule.rule is Rule.BOT:
        prefer = None if arena.trial is None else arena.trial.id
        yield bot_version(session, arena.project_id, arena.game, rule.argument, prefer=prefer)
    elif rule.rule is Rule.VERSION:
        yield _fitting(session, arena, rule.argument)
    elif rule.rule is Rule.ALIAS:
        yield _holder(session, arena, rule.argument)
    else:
        for trial in _trials(session, arena, rule):
            yield from session.scalars(_of_trial(trial, rule))


def _of_trial(trial: Trial, rule: EntrantRule) -> Select[ModelVersion]:
    query = (
        select(ModelVersion)
        .join(Player, Player.id == ModelVersion.player_id)
        .where(Player.trial_id == trial.id)
        .order_by(Player.created_commit, Player.name, ModelVersion.number)
    )
    if rule.rule is Rule.BOTS:
        return query.where(Player.role == Role.BOT, Player.status == PlayerStatus.ACTIVE)
    if rule.rule is Rule.SNAPSHOTS:
        named = select(Player.id).where(Player.trial_id == trial.id, Player.name == rule.argument)
        query = query.where(Player.role == Role.HISTORICAL)
        return query.where(Player.parent_id.in_(named)) if rule.argument else query
    query = query.where(Player.role.in_(LEARNING))
    if rule.argument:
        query = query.where(Player.name == rule.argument)
    if rule.rule is Rule.EVERY:
        return query.where(ModelVersion.number % rule.every == 0, ~is_pruned())
    newest = (
        select(ModelVersion.player_id, func.max(ModelVersion.number).label("number"))
        .where(ModelVersion.trial_id == trial.id)
        .group_by(ModelVersion.player_id)
        .subquery()
    )
    return query.where(Player.status == PlayerStatus.ACTIVE).join(
        newest, (newest.c.player_id == ModelVersion.player_id) & (newest.c.number == ModelVersion.number)
    )


def _trials(session: Session, arena: Arena, rule: EntrantRule) -> Sequence[Trial]:
    if rule.trial is None:
        if arena.trial is None:
            raise Conflict(
                f"{rule.rule}: a tournament without a trial must name one: {rule.rule}@TRIAL, or {rule.rule}@* (all)"
            )
        return [arena.trial]
    of_project = select(Trial).where(Trial.project_id == arena.project_id).order_by(Trial.id)
    if rule.trial == EVERY_TRIAL:
        leagues = of_project.where(Trial.kind == TrialKind.LEAGUE, Trial.archived_at.is_(None))
        return session.scalars(leagues.where(Trial.game == arena.key)).all()
    trial = session.scalars(of_project.where(is_named(rule.trial))).one_or_none()
    if trial is None:
        raise NotFound(f"the project has no trial named {rule.trial!r}")
    if trial.game != arena.key:
        raise Conflict(f"trial {rule.trial!r} plays {trial.game}, the tournament is of {arena.key}")
    return [trial]


def _fitting(session: Session, arena: Arena, version_id: str) -> ModelVersion:
    version = session.get(ModelVersion, version_id)
    if version is None:
        raise NotFound(f"there is no version {version_id}")
    trial = session.get_one(Trial, version.trial_id)
    if (trial.project_id, trial.game) != (arena.project_id, arena.key):
        raise Conflict(f"version {version_id} is of another project or game than the tournament ({arena.key})")
    refuse_pruned(session, version.id)
    return version


def _holder(session: Session, arena: Arena, alias: str) -> ModelVersion:
    row = session.get(Alias, (arena.project_id, arena.key, alias))
    if row is None:
        raise NotFound(f"the alias {alias!r} points at no version of {arena.key} yet")
    return session.get_one(ModelVersion, row.version_id)


def _candidate(session: Session, arena: Arena, version: ModelVersion) -> LabelledVersion:
    player = session.get_one(Player, version.player_id)
    if player.bot is not None:
        return LabelledVersion(version=version, player=player, label=plain_name(player.bot))
    label = player.name if player.role is Role.HISTORICAL else f"{player.name} v{version.number}"
    if arena.trial is None or version.trial_id != arena.trial.id:
        label = f"{session.get_one(Trial, version.trial_id).name}/{label}"
    return LabelledVersion(version=version, player=player, label=label)


def _searching(session: Session, arena: Arena, plain: LabelledVersion, simulations: int) -> LabelledVersion:
    """The version with tree search: a bot of the project, so that its games and ratings are apart."""
    if plain.version.sha256 is None:
        raise Conflict(f"{plain.label} is a bot; only versions search")
    trial = session.get_one(Trial, plain.version.trial_id)
    whose = f"{trial.name}/{plain.player.name}@v{plain.version.number}"
    version = bot_version(
        session,
        arena.project_id,
        arena.game,
        searching_bot(simulations, plain.version.sha256),
        prefer=None,
        name=searching_name(whose, simulations),
    )
    player = session.get_one(Player, version.player_id)
    return LabelledVersion(version=version, player=player, label=searching_name(plain.label, simulations))
