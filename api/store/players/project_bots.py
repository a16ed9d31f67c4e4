"""Bots shared by a project.

A tournament may name a bot that no trial has. Such a bot is a player of a hidden trial of the project, so that it has
a version that games can name.

See docs/decisions/games-and-bots.md.
"""

from __future__ import annotations

from sqlalchemy import func, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, TrialKind, TrialStatus, VersionOrigin
from api.store.core.commits import lock_trial, take_commit
from api.store.core.ids import new_id
from api.store.tables import Commit, ModelVersion, Player, Trial
from api.store.trials.spec import game_key
from league.types import Role
from orchestrator.spec.game import GameChoice
from orchestrator.spec.trial import TrialSpec


def bot_version(
    session: Session, project_id: str, game: GameChoice, bot: str, *, prefer: str | None, name: str | None = None
) -> ModelVersion:
    """A bot's version: of the preferred trial, else of any trial of the game, else shared by the project.

    `name` is what a bot that becomes shared now is called; None: as the catalog calls it.
    """
    found = session.scalars(
        select(ModelVersion)
        .join(Player, Player.id == ModelVersion.player_id)
        .join(Trial, Trial.id == ModelVersion.trial_id)
        .where(Trial.project_id == project_id, Trial.game == game_key(game), Player.bot == bot)
        .order_by((Trial.id == prefer).desc() if prefer is not None else Trial.id, ModelVersion.id)
        .limit(1)
    ).one_or_none()
    return found if found is not None else _shared_bot(session, project_id, game, bot, name or bot)


def _shared_bot(session: Session, project_id: str, game: GameChoice, bot: str, name: str) -> ModelVersion:
    holder = _bot_holder(session, project_id, game)
    known = session.scalars(
        select(ModelVersion)
        .join(Player, Player.id == ModelVersion.player_id)
        .where(Player.trial_id == holder.id, Player.bot == bot)
    ).one_or_none()
    if known is not None:  # another transaction was faster and held the lock until now
        return known
    commit = take_commit(session, holder, CommitKind.ROSTER)
    player = Player(id=new_id(), trial_id=holder.id, name=name, role=Role.BOT, bot=bot, created_commit=commit)
    session.add(player)
    session.flush()
    version = ModelVersion(
        id=new_id(),
        trial_id=holder.id,
        player_id=player.id,
        number=0,
        origin=VersionOrigin.BOT,
        steps=0,
        commit=commit,
    )
    session.add(version)
    session.flush()
    return version


def _bot_holder(session: Session, project_id: str, game: GameChoice) -> Trial:
    """The project's trial that holds the shared bots of this game, locked. It never runs and no list shows it."""
    key = game_key(game)
    name = f"bots of {key}"  # no trial that a person makes can have a name with spaces
    spec = TrialSpec(game=game)
    made = session.scalar(
        upsert(Trial)
        .values(
            id=new_id(),
            project_id=project_id,
            name=name,
            kind=TrialKind.PROJECT_BOTS,
            game=key,
            seed=0,
            spec=spec.model_dump(mode="json"),
            payoff_decay=spec.league.payoff.decay,
            status=TrialStatus.COMPLETED,
            status_reason="holds the bots that tournaments of the project name",
            workflow_started_at=func.now(),
            started_at=func.now(),
            finished_at=func.now(),
            archived_at=func.now(),
        )
        .on_conflict_do_nothing()
        .returning(Trial.id)
    )
    if made is not None:
        session.execute(insert(Commit).values(trial_id=made, number=0, kind=CommitKind.CREATED))
    found = session.scalars(
        select(Trial.id).where(Trial.project_id == project_id, Trial.game == key, Trial.kind == TrialKind.PROJECT_BOTS)
    ).one()
    return lock_trial(session, found)
