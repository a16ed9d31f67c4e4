"""The triggers: what is append-only stays so, events become visible in order and are announced, aliases fit."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.orm import Session

from api.store.core.engine import create_store_engine, session_factory
from api.store.core.grants import grant_rows
from api.store.core.ids import new_id
from api.store.tables import EVENTS_CHANNEL, Alias, Commit, Event, ModelVersion, Player, Trial
from tests.integration.store.learning_rows import SHA
from tests.integration.store.world import World

APPEND_ONLY = {
    "alias_events",
    "audit_log",
    "canary_results",
    "commits",
    "decisions",
    "events",
    "gate_batches",
    "generations",
    "lineup_tallies",
    "matches",
    "metrics",
    "model_versions",
    "rating_fits",
    "ratings",
    "return_tallies",
    "probe_trials",
    "pruned_versions",
    "sweep_decisions",
    "sweep_trials",
    "sweep_values",
    "tallies",
}


@pytest.fixture(scope="module")
def engine(postgres_url: str) -> Iterator[Engine]:
    engine = create_store_engine(postgres_url)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def world(engine: Engine) -> Iterator[World]:
    with session_factory(engine)() as session:
        yield World(session)


@pytest.fixture
def session(engine: Engine, world: World) -> Iterator[Session]:
    with session_factory(engine)() as session:
        yield session
        session.rollback()


@pytest.fixture
def app_role(session: Session) -> str:
    """A role with what the API's has, until the transaction ends."""
    name = "guarded_app"
    session.execute(text(f"CREATE ROLE {name}"))
    grant_rows(session.connection(), name)
    return name


def test_the_guarded_tables_are_the_ones_meant(session: Session) -> None:
    guarded = session.scalars(text("SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'append_only'")).all()
    assert set(guarded) == APPEND_ONLY


@pytest.mark.parametrize("table", sorted(APPEND_ONLY))
@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {0} SET {1} = {1}", "TRUNCATE {} CASCADE"])
def test_append_only_tables_refuse_change(session: Session, table: str, change: str) -> None:
    columns = "SELECT column_name FROM information_schema.columns WHERE table_name = :table AND is_identity = 'NO'"
    column = session.scalars(text(f"{columns} LIMIT 1"), {"table": table}).one()
    with pytest.raises(IntegrityError, match="append-only"):
        session.execute(text(change.format(table, f'"{column}"')))


PRUNE = "UPDATE matches SET moves = NULL, moves_pruned_at = now()"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE matches SET moves = '{}'",
        "UPDATE matches SET moves = moves[1:1], moves_pruned_at = now()",
        "UPDATE matches SET moves = NULL",
        "UPDATE matches SET moves_pruned_at = now()",
        "UPDATE matches SET moves = NULL, moves_pruned_at = now() - interval '1 day'",
        f"{PRUNE}, result = 'loss'",
        f"{PRUNE}, plies = 0",
        f"{PRUNE}, opening = '{{}}'",
        f"{PRUNE}, played_at = now() - interval '1 year'",
        "DELETE FROM matches",
    ],
)
@pytest.mark.parametrize("pruned", [False, True])
def test_matches_may_lose_their_moves_and_nothing_else(
    session: Session, app_role: str, change: str, pruned: bool
) -> None:
    session.execute(text(f"SET LOCAL ROLE {app_role}"))
    if pruned:
        session.execute(text(PRUNE))
        assert session.execute(text("SELECT DISTINCT moves, plies FROM matches")).all() == [(None, 3)]
    with pytest.raises(IntegrityError, match="append-only"):
        session.execute(text(change))


@pytest.mark.parametrize("change", [PRUNE, "UPDATE matches SET moves = '{4,0,8}', moves_pruned_at = NULL"])
def test_what_was_pruned_stays_as_it_is(session: Session, app_role: str, change: str) -> None:
    session.execute(text(f"SET LOCAL ROLE {app_role}"))
    session.execute(text(PRUNE))
    with pytest.raises(IntegrityError, match="append-only"):
        session.execute(text(change))


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE matches DISABLE TRIGGER only_pruned",
        "DROP TRIGGER only_pruned ON matches",
        "SET session_replication_role = replica",
        "CREATE OR REPLACE FUNCTION guard_match() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    ],
)
def test_the_least_privileged_role_cannot_switch_the_guard_off(session: Session, app_role: str, change: str) -> None:
    session.execute(text(f"SET LOCAL ROLE {app_role}"))
    with pytest.raises(ProgrammingError, match=r"must be owner|permission denied"):
        session.execute(text(change))


def test_an_alias_takes_only_versions_of_its_project_and_game(session: Session, world: World) -> None:
    trial = Trial(
        id=new_id(), project_id=world.project.id, name="other", game="connect_four", seed=1, spec={}, payoff_decay=1
    )
    player = Player(id=new_id(), trial_id=trial.id, name="main", role="main", created_commit=0)
    version = ModelVersion(
        id=new_id(),
        trial_id=trial.id,
        player_id=player.id,
        number=0,
        origin="initial",
        steps=0,
        uri="memory://",
        sha256=SHA,
        size=1,
        commit=0,
    )
    for row in (trial, Commit(trial_id=trial.id, number=0, kind="created"), player, version):
        session.add(row)
        session.flush()
    session.add(Alias(project_id=world.project.id, game="tic_tac_toe", name="new", version_id=version.id))
    with pytest.raises(IntegrityError, match="not of this project and game"):
        session.flush()


def test_a_follower_by_id_misses_no_event(engine: Engine, world: World) -> None:
    """Writers that hold their transactions open for different times, and a reader that never looks back."""
    writers, each = 8, 25
    sessions = session_factory(engine)
    already = _newest_event(engine)

    def write(writer: int) -> None:
        for number in range(each):
            with sessions.begin() as session:
                session.add_all(
                    Event(trial_id=world.trial.id, type="test", payload={"key": [writer, number, part]})
                    for part in range(2)
                )
                session.flush()
                # the time between drawing an id and showing it, in which a careless follower is overtaken
                session.execute(text("SELECT pg_sleep(:seconds)"), {"seconds": 0.002 * (number * writer % 3)})

    seen: list[list[int]] = []
    with ThreadPoolExecutor(writers) as pool:
        running = [pool.submit(write, writer) for writer in range(writers)]
        last = already
        while True:
            finished = all(job.done() for job in running)
            with sessions() as session:
                fresh = session.scalars(select(Event).where(Event.id > last).order_by(Event.id)).all()
            seen += [event.payload["key"] for event in fresh]
            last = fresh[-1].id if fresh else last
            if finished:
                break
        for job in running:
            job.result()
    expected = [[writer, number, part] for writer in range(writers) for number in range(each) for part in range(2)]
    assert sorted(seen) == expected


def test_inserts_are_announced_with_the_newest_id_on_commit(engine: Engine, world: World, postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as listener:
        listener.execute(f"LISTEN {EVENTS_CHANNEL}".encode())
        with session_factory(engine).begin() as session:
            session.add_all([Event(trial_id=world.trial.id, type="test") for _ in range(3)])
            session.flush()
            assert list(listener.notifies(timeout=0)) == []
        announced = next(iter(listener.notifies(timeout=30, stop_after=1)))
    assert announced.payload == str(_newest_event(engine))


def _newest_event(engine: Engine) -> int:
    with session_factory(engine)() as session:
        newest = session.scalars(select(Event.id).order_by(Event.id.desc()).limit(1)).one()
    return int(newest)
