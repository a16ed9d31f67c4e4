"""Aliases move under their row's lock, leave a history, and can be rolled back step by step."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from api.schemas.enums import AliasMove
from api.store.aliases.moves import AliasKey, Promotion, alias_history, move_alias, roll_back_alias
from api.store.core.errors import Conflict, NotFound
from api.store.core.ids import new_id
from api.store.generations.record import record_generation
from api.store.tables import Alias, Gate, Trial
from tests.integration.store.league import League, events_of

BY_HAND = Promotion(reason="looks strong", actor="ada")


@pytest.fixture
def key(league: League) -> AliasKey:
    """An alias of its own for each test."""
    with league.sessions() as session:
        trial = session.get_one(Trial, league.trial_id)
        return AliasKey(project_id=trial.project_id, game=trial.game, name=new_id())


@pytest.fixture
def versions(league: League) -> list[str]:
    """Four versions of main."""
    ids = [league.version_of("main").id]
    for generation in range(1, 4):
        with league.sessions.begin() as session:
            ids.append(record_generation(session, league.outcome("main", generation)).version_id)
    return ids


def move(league: League, key: AliasKey, version: str, promotion: Promotion = BY_HAND, **condition: int) -> Alias:
    with league.sessions.begin() as session:
        return move_alias(session, key, version, promotion, **condition)


def test_each_move_is_kept_with_its_reason(league: League, key: AliasKey, versions: list[str]) -> None:
    move(league, key, versions[0])
    alias = move(league, key, versions[1], Promotion(reason="better", actor="ben", evidence={"elo": 12}))
    assert (alias.version_id, alias.revision) == (versions[1], 2)
    with league.sessions() as session:
        history = alias_history(session, key)
        told = [event for event in events_of(session, league.trial_id) if event.type == "alias.moved"]
    assert [(event.from_version_id, event.to_version_id, event.reason) for event in history] == [
        (None, versions[0], "looks strong"),
        (versions[0], versions[1], "better"),
    ]
    assert history[1].evidence == {"elo": 12}
    assert [event.payload["to_version_id"] for event in told] == versions[:2]


def test_a_move_to_where_it_points_is_none(league: League, key: AliasKey, versions: list[str]) -> None:
    move(league, key, versions[0])
    assert move(league, key, versions[0]).revision == 1
    with league.sessions() as session:
        assert len(alias_history(session, key)) == 1


def test_a_stale_revision_is_refused(league: League, key: AliasKey, versions: list[str]) -> None:
    with pytest.raises(Conflict, match="is at revision 0, not 1"):
        move(league, key, versions[0], if_revision=1)
    assert move(league, key, versions[0], if_revision=0).revision == 1
    assert move(league, key, versions[1], if_revision=1).revision == 2
    with pytest.raises(Conflict, match="is at revision 2, not 1"):
        move(league, key, versions[2], if_revision=1)


def test_moves_at_once_line_up_in_one_history(league: League, key: AliasKey, versions: list[str]) -> None:
    gun = threading.Barrier(len(versions))

    def race(version: str) -> None:
        gun.wait()
        move(league, key, version)

    with ThreadPoolExecutor(len(versions)) as pool:
        list(pool.map(race, versions))
    with league.sessions() as session:
        history = alias_history(session, key)
        alias = session.get_one(Alias, (key.project_id, key.game, key.name))
    assert [event.revision for event in history] == [1, 2, 3, 4]
    assert sorted(event.to_version_id for event in history) == sorted(versions)
    assert [event.from_version_id for event in history] == [None, *(event.to_version_id for event in history[:-1])]
    assert alias.version_id == history[-1].to_version_id


def test_a_gate_moves_its_alias_once(league: League, key: AliasKey, versions: list[str]) -> None:
    move(league, key, versions[0])
    with league.sessions.begin() as session:
        gate = Gate(
            project_id=key.project_id,
            trial_id=league.trial_id,
            game=key.game,
            alias=key.name,
            candidate_version_id=versions[1],
            champion_version_id=versions[0],
            elo0=0,
            elo1=35,
            alpha=0.05,
            beta=0.05,
            lower_bound=-3,
            upper_bound=3,
            max_pairs=10,
            seed=1,
        )
        session.add(gate)
    verdict = Promotion(reason="passed its gate", actor="gate", move=AliasMove.PROMOTED, gate_id=gate.id)
    move(league, key, versions[1], verdict)
    move(league, key, versions[2])
    # delivered again after somebody moved on: must not bring the old candidate back
    assert move(league, key, versions[1], verdict).version_id == versions[2]
    with league.sessions() as session:
        assert [event.to_version_id for event in alias_history(session, key)] == versions[:3]


def test_rollbacks_go_back_step_by_step(league: League, key: AliasKey, versions: list[str]) -> None:
    for version in versions[:3]:
        move(league, key, version)
    regret = Promotion(reason="lost to a human", actor="ada")
    for expected in (versions[1], versions[0]):
        with league.sessions.begin() as session:
            assert roll_back_alias(session, key, regret).version_id == expected
    with league.sessions() as session, pytest.raises(Conflict, match="no earlier version"):
        roll_back_alias(session, key, regret)
    move(league, key, versions[3])
    with league.sessions.begin() as session:
        assert roll_back_alias(session, key, regret).version_id == versions[0]
        moves = session.scalars(select(Alias.revision).where(Alias.name == key.name)).one()
    assert moves == 7


def test_an_alias_that_was_never_set_cannot_be_rolled_back(league: League, key: AliasKey) -> None:
    with league.sessions() as session, pytest.raises(NotFound, match="no alias"):
        roll_back_alias(session, key, BY_HAND)
