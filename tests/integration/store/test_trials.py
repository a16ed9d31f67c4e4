"""Trials are made whole or not at all, and move only where their status allows."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from api.schemas.enums import TrialStatus, VersionOrigin
from api.store.core.errors import Conflict, NotFound
from api.store.core.ids import new_id
from api.store.players.roster import enter_players
from api.store.tables import ModelVersion, Player, Project, Trial
from api.store.trials.create import create_trial
from api.store.trials.spec import game_key
from api.store.trials.status import TRANSITIONS, change_status
from league.types import Role
from orchestrator.spec.trial import TrialSpec
from tests.integration.store.league import INITIAL, SPEC, League, checkpoint, events_of


def test_a_trial_is_made_with_its_players_and_the_versions_of_its_bots(league: League) -> None:
    with league.sessions() as session:
        trial = session.get_one(Trial, league.trial_id)
        assert (trial.status, trial.last_commit, trial.game) == (TrialStatus.PENDING, 0, "tic_tac_toe")
        assert trial.payoff_decay == pytest.approx(0.99)
        assert TrialSpec.model_validate(trial.spec) == SPEC
        players = session.scalars(select(Player).where(Player.trial_id == trial.id)).all()
        assert {player.name: player.role for player in players} == {
            "main": Role.MAIN,
            "rival": Role.MAIN,
            "random": Role.BOT,
        }
        bots = session.scalars(select(ModelVersion).where(ModelVersion.player_id == league.players["random"])).all()
        assert [(bot.number, bot.origin, bot.uri) for bot in bots] == [(0, VersionOrigin.BOT, None)]
        events = events_of(session, trial.id)
        assert [event.type for event in events] == ["trial.created", "version.recorded", "version.recorded"]


def test_of_two_trials_of_one_name_made_at_once_one_is_made(sessions: sessionmaker[Session]) -> None:
    project, name, gun = new_id(), new_id(), threading.Barrier(2)

    def make() -> bool:
        gun.wait()
        try:
            with sessions.begin() as session:
                create_trial(session, project=project, name=name, spec=SPEC)
        except Conflict as refused:
            assert name in str(refused)
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        made = [job.result() for job in [pool.submit(make), pool.submit(make)]]
    assert sorted(made) == [False, True]
    with sessions() as session:
        project_id = session.scalars(select(Project.id).where(Project.name == project)).one()
        trial = session.scalars(select(Trial).where(Trial.project_id == project_id)).one()
        assert len(session.scalars(select(Player).where(Player.trial_id == trial.id)).all()) == 3


@pytest.mark.parametrize(
    ("game", "key"),
    [
        ({"id": "connect_four"}, "connect_four"),
        ({"id": "gymnasium", "env": "CartPole-v1"}, 'gymnasium {"env":"CartPole-v1"'),
    ],
)
def test_the_key_of_a_game_tells_its_options_apart(game: dict[str, str], key: str) -> None:
    assert game_key(TrialSpec.model_validate({"game": game}).game).startswith(key)


def test_players_get_their_first_version_once_and_a_bot_gets_no_weights(league: League) -> None:
    with league.sessions.begin() as session:
        enter_players(session, league.trial_id, checkpoint("another"))
        found = session.scalars(select(ModelVersion).where(ModelVersion.trial_id == league.trial_id)).all()
    first = {name: (0, None if name == "random" else INITIAL.sha256) for name in league.players}
    names = {player_id: name for name, player_id in league.players.items()}
    assert {names[version.player_id]: (version.number, version.sha256) for version in found} == first


@pytest.mark.parametrize("end", [status for status in TrialStatus if status.is_final])
def test_statuses_lead_to_an_end_that_is_final(league: League, end: TrialStatus) -> None:
    walk = [TrialStatus.RUNNING, TrialStatus.PAUSING, TrialStatus.PAUSED, TrialStatus.RUNNING, end]
    for status in walk:
        with league.sessions.begin() as session:
            change_status(session, league.trial_id, status, "asked to")
    with league.sessions() as session:
        trial = session.get_one(Trial, league.trial_id)
        assert (trial.status, trial.status_reason, trial.revision) == (end, "asked to", 6)
        assert trial.started_at is not None and trial.finished_at is not None
        told = [event.payload["to"] for event in events_of(session, trial.id)[3:]]
        assert told == walk
        with pytest.raises(Conflict, match=f"is {end} and cannot become running; allowed: nothing"):
            change_status(session, league.trial_id, TrialStatus.RUNNING)


def test_the_present_status_is_no_change(league: League) -> None:
    with league.sessions.begin() as session:
        assert change_status(session, league.trial_id, TrialStatus.PENDING).revision == 1
        assert len(events_of(session, league.trial_id)) == 3


def test_every_status_has_its_transitions() -> None:
    assert set(TRANSITIONS) == set(TrialStatus)
    assert {status for status in TrialStatus if not TRANSITIONS[status]} == {s for s in TrialStatus if s.is_final}


def test_an_unknown_trial_is_not_found(sessions: sessionmaker[Session]) -> None:
    with sessions() as session, pytest.raises(NotFound):
        change_status(session, new_id(), TrialStatus.RUNNING)
