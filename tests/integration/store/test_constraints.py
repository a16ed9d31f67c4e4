"""Every constraint of the schema is made to refuse a row, one by one, with its neighbours out of the way.

Foreign keys, unique keys and the CHECKs built by rule are found in the catalogue and broken by rule; the other
CHECKs are broken by the statements in BREAK. A constraint that nothing here breaks fails the test.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from api.store.core.engine import create_store_engine, session_factory
from tests.integration.store.world import World

BREAK: dict[str, list[str]] = {
    "ck_alert_deliveries_delivered": ["status = 'delivered'", "delivered_at = now()"],
    "ck_alert_rules_kinds": ["kinds = '{}'", "kinds = '{setback,other}'"],
    "ck_alias_events_first_move": ["from_version_id = NULL", "revision = 1"],
    "ck_alias_events_moves": ["from_version_id = to_version_id"],
    "ck_alias_events_revision": ["revision = 0"],
    "ck_aliases_revision": ["revision = 0"],
    "ck_api_tokens_expires_later": ["expires_at = created_at"],
    "ck_api_tokens_token_sha256": ["token_sha256 = 'short'", "token_sha256 = upper(token_sha256)"],
    "ck_browser_sessions_ended_later": ["ended_at = created_at - interval '1 second'"],
    "ck_browser_sessions_expires_later": ["expires_at = created_at"],
    "ck_canary_results_sessions": ["champion_sessions = 0, canary_sessions = 0"],
    "ck_canary_results_versions_differ": ["canary_version_id = champion_version_id"],
    "ck_commits_number": ["number = -1", "kind = 'created' WHERE number = 1", "kind = 'import' WHERE number = 0"],
    "ck_decisions_attempt": ["attempt = 0"],
    "ck_decisions_generation": ["generation = -1"],
    "ck_decisions_of_generation": [
        "generation = NULL WHERE kind = 'matchmaking'",
        "player_id = NULL WHERE kind = 'matchmaking'",
    ],
    "ck_decisions_rollback_names_version": ["version_id = NULL WHERE kind = 'rollback'"],
    "ck_gate_batches_number": ["number = 0"],
    "ck_gate_batches_pairs": ["pairs = 0"],
    "ck_gate_batches_pentanomial": ["pentanomial = '{1,2,3,4}'", "pentanomial = '{1,2,3,4,-1}'"],
    "ck_gates_bounds": ["lower_bound = 0", "upper_bound = 0"],
    "ck_gates_contenders_differ": ["champion_version_id = candidate_version_id"],
    "ck_gates_errors": ["alpha = 0", "beta = 0", "alpha = 0.95"],
    "ck_gates_finished": ["status = 'passed'", "finished_at = now() WHERE status = 'running'"],
    "ck_gates_hypotheses": ["elo0 = elo1"],
    "ck_gates_max_pairs": ["max_pairs = 0"],
    "ck_gates_opened_after_another": ["opened_after_id = id"],
    "ck_gates_pentanomial": ["pentanomial = '{1,2,3,4}'", "pentanomial = '{1,2,3,4,-1}'"],
    "ck_gates_unopposed_plays_nothing": ["champion_version_id = NULL WHERE status = 'running'"],
    "ck_generations_attempt": ["attempt = 0"],
    "ck_generations_number": ["number = 0"],
    "ck_generations_steps": ["steps = 0"],
    "ck_generations_times": ["finished_at = started_at - interval '1 second'"],
    "ck_idempotency_keys_completed": ["status_code = 201", "completed_at = now()"],
    "ck_idempotency_keys_key": ["key = ''", "key = repeat('k', 256)"],
    "ck_idempotency_keys_method": ["method = 'GET'"],
    "ck_idempotency_keys_request_sha256": ["request_sha256 = 'short'"],
    "ck_idempotency_keys_status_code": ["status_code = 100", "status_code = 600"],
    "ck_lineup_tallies_opponent": ["opponent_version_id = NULL", "opponent_seat = NULL"],
    "ck_lineup_tallies_played": ["games = 0, wins = 0, losses = 0", "wins = wins + 1"],
    "ck_lineup_tallies_seats": ["seat = -1", "opponent_seat = seat"],
    "ck_matches_key": ["round = -1", "pair = -1", "seat = -1"],
    "ck_matches_moves_or_pruned": ["moves = NULL", "moves_pruned_at = now()"],
    "ck_matches_one_occasion": ["gate_id = NULL WHERE gate_id IS NOT NULL", "gate_id = tournament_id"],
    "ck_matches_opponents_differ": ["opponent_version_id = version_id"],
    "ck_matches_stream_of_occasion": ["stream = 'training'", "stream = 'rating' WHERE gate_id IS NOT NULL"],
    "ck_metrics_steps": ["steps = -1"],
    "ck_model_versions_checkpoint": [
        "uri = NULL WHERE origin = 'trained'",
        "uri = 'memory://' WHERE origin = 'bot'",
    ],
    "ck_model_versions_checkpoint_complete": ["sha256 = NULL WHERE origin = 'trained'"],
    "ck_model_versions_own_parent": ["parent_id = id"],
    "ck_model_versions_parent": [
        "parent_id = NULL WHERE origin = 'trained'",
        "origin = 'imported' WHERE origin = 'trained'",
    ],
    "ck_model_versions_sha256": ["sha256 = 'short'"],
    "ck_model_versions_size": ["size = 0 WHERE origin = 'trained'"],
    "ck_pairings_bye_plays_nothing": ["games = 0", "second = NULL"],
    "ck_pairings_commit_of_trial": ["commit = NULL", "trial_id = NULL"],
    "ck_pairings_entrants_differ": ["second = first"],
    "ck_pairings_key": ["round = -1", "pair = -1"],
    "ck_pairings_played": ["played_at = NULL", "status = 'planned'"],
    "ck_pairings_results": ["wins = games + 1", "status = 'cancelled'"],
    "ck_pairings_walkover": ["walkover = first", "status = 'cancelled', walkover = 7"],
    "ck_payoffs_decayed_within_raw": ["wins = raw_wins + 1", "draws = raw_draws + 1", "losses = raw_losses + 1"],
    "ck_payoffs_no_gating": ["stream = 'gating'"],
    "ck_payoffs_opponents_differ": ["opponent_id = player_id"],
    "ck_payoffs_played": ["raw_wins = 0, raw_draws = 0, raw_losses = 0"],
    "ck_payoffs_returns_of_both": ["returns = NULL", "opponent_returns = NULL"],
    "ck_payoffs_seats": ["seat = -1", "opponent_seat = -1", "opponent_seat = seat"],
    "ck_installation_only_one": ["only_one = false"],
    "ck_people_games_answer": ["answer = '[]'"],
    "ck_people_games_finished": ["finished_at = now()", "result = 'win'"],
    "ck_players_bot": ["bot = 'random' WHERE role = 'main'", "bot = NULL WHERE role = 'bot'"],
    "ck_players_learns": ["generation = 1 WHERE role = 'bot'", "generation = 1 WHERE role = 'historical'"],
    "ck_players_own_parent": ["parent_id = id"],
    "ck_players_parent": ["role = 'main' WHERE parent_id IS NOT NULL"],
    "ck_players_population": [
        "population = 'main' WHERE role = 'bot'",
        "population = 'main' WHERE role = 'historical'",
    ],
    "ck_players_rating_only": ["rating_only = true WHERE role = 'main'"],
    "ck_players_retired": ["status = 'retired'", "retired_at = now()"],
    "ck_players_snapshot_steps": ["steps_at_snapshot = steps + 1"],
    "ck_projects_priority": ["priority = 0"],
    "ck_projects_quota": ["quota = 0"],
    "ck_rating_covariances_complete": ["upper_triangle = '{4,1}'"],
    "ck_ratings_deviation": ["deviation = -1"],
    "ck_ratings_rank": ["rank = 0"],
    "ck_return_tallies_deviations": ["deviations = -1"],
    "ck_return_tallies_played": ["games = 0"],
    "ck_schedules_catchup_window": ["catchup_window_seconds = -1"],
    "ck_schedules_cron_or_interval": ["cron = '0 3 * * *'", "every_seconds = NULL"],
    "ck_schedules_interval": ["every_seconds = 0"],
    "ck_schedules_revision": ["revision = 0"],
    "ck_tallies_opponents_differ": ["opponent_version_id = learner_version_id"],
    "ck_tallies_played": ["wins = 0, draws = 0, losses = 0"],
    "ck_tallies_returns_of_both": ["returns = NULL", "opponent_returns = NULL"],
    "ck_tallies_seats": ["seat = -1", "opponent_seat = -1", "opponent_seat = seat"],
    "ck_tournaments_evaluates": [
        "generation = NULL WHERE purpose = 'field_evaluation'",
        "trial_id = NULL WHERE purpose = 'field_evaluation'",
        "purpose = 'request' WHERE purpose = 'field_evaluation'",
    ],
    "ck_tournaments_generation": ["generation = -1"],
    "ck_share_links_expires_later": ["expires_at = created_at"],
    "ck_share_links_shows_one": ["trial_id = NULL, tournament_id = NULL"],
    "ck_share_links_token_sha256": ["token_sha256 = 'short'"],
    "ck_probes_finished": ["status = 'failed'", "finished_at = now()"],
    "ck_probes_measured": ["win_rate = 0.5"],
    "ck_sweeps_finished": ["status = 'failed'", "finished_at = now()"],
    "ck_tournaments_finished": ["status = 'completed'", "finished_at = now()"],
    "ck_trials_finished": ["status = 'failed'", "finished_at = now()"],
    "ck_trials_fork_complete": [
        "forked_at_commit = NULL WHERE forked_at_commit IS NOT NULL",
        "forked_from_trial_id = NULL WHERE forked_at_commit IS NOT NULL",
    ],
    "ck_trials_fork_of_another": ["forked_from_trial_id = id"],
    "ck_trials_payoff_decay": ["payoff_decay = 0", "payoff_decay = 1.01"],
    "ck_trials_priority": ["priority = 0"],
    "ck_trials_quota": ["quota = 0"],
}

CONSTRAINTS = """
    SELECT conname, contype, conrelid::regclass::text AS on_table, confrelid::regclass::text AS to_table,
           pg_get_constraintdef(pg_constraint.oid) AS definition,
           array(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY AS key (number, place)
                 JOIN pg_attribute ON attrelid = conrelid AND attnum = number ORDER BY place) AS columns
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid <> 0 AND contype IN ('c', 'f')
      AND conrelid <> 'alembic_version'::regclass ORDER BY conname"""
UNIQUE_INDEXES = """
    SELECT indexrelid::regclass::text AS name, indrelid::regclass::text AS on_table,
           coalesce(pg_get_expr(indpred, indrelid), 'true') AS predicate
    FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
    WHERE indisunique AND relnamespace = 'public'::regnamespace AND indrelid <> 'alembic_version'::regclass
    ORDER BY 1"""

Connection = psycopg.Connection[psycopg.rows.DictRow]
Row = dict[str, str]


@pytest.fixture(scope="module")
def league(postgres_url: str) -> str:
    engine = create_store_engine(postgres_url)
    with session_factory(engine)() as session:
        World(session)
    engine.dispose()
    return postgres_url


@pytest.fixture
def connection(league: str) -> Iterator[Connection]:
    """A transaction on the small league that is always rolled back."""
    with psycopg.connect(league, row_factory=psycopg.rows.dict_row) as connection:
        yield connection
        connection.rollback()


def constraints(connection: Connection, kind: str) -> list[Row]:
    return [row for row in connection.execute(CONSTRAINTS).fetchall() if row["contype"] == kind]


def leave_alone(connection: Connection, constraint: Row) -> None:
    """Drop what else could refuse a change of the constraint's table."""
    table = constraint["on_table"]
    connection.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(sql.Identifier(table)))
    for other in connection.execute(CONSTRAINTS).fetchall():
        if table in (other["on_table"], other["to_table"]) and other["conname"] != constraint["conname"]:
            connection.execute(
                sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(
                    sql.Identifier(other["on_table"]), sql.Identifier(other["conname"])
                )
            )


def refusals_of(connection: Connection, changes: dict[str, list[str]], constraint: Row) -> None:
    """Each change of the table must be refused, by this very constraint."""
    table = constraint["on_table"]
    for change in changes[constraint["conname"]]:
        assignment, _, condition = change.partition(" WHERE ")
        rows = f"(SELECT ctid FROM {table} WHERE {condition or 'true'} LIMIT 1)"
        with pytest.raises(psycopg.IntegrityError) as refused, connection.transaction():
            done = connection.execute(f"UPDATE {table} SET {assignment} WHERE ctid = {rows}".encode())
            pytest.fail(f"{constraint['conname']} accepted {change!r} ({done.rowcount} rows)")
        assert refused.value.diag.constraint_name == constraint["conname"]


def checks_broken_by_rule(connection: Connection) -> dict[str, list[str]]:
    """Enumerations, blank texts and negative counts, as the builders in models/base.py name them."""
    changes = {}
    for check in constraints(connection, "c"):
        name, columns = check["conname"], check["columns"]
        if name.endswith("_counts"):
            changes[name] = [f"{column} = -1" for column in columns]
        elif name.endswith("_not_blank"):
            changes[name] = [f"{columns[0]} = ' '"]
        elif "ANY (ARRAY[" in check["definition"] and name == f"ck_{check['on_table']}_{columns[0]}":
            changes[name] = [f"{columns[0]} = 'nonsense'"]
    return changes


def test_checks_refuse(connection: Connection) -> None:
    changes = checks_broken_by_rule(connection) | BREAK
    found = constraints(connection, "c")
    assert sorted(changes) == [check["conname"] for check in found]
    for check in found:
        with connection.transaction(force_rollback=True):
            leave_alone(connection, check)
            refusals_of(connection, changes, check)


def test_foreign_keys_refuse(connection: Connection) -> None:
    found = constraints(connection, "f")
    assert len(found) > 60
    for key in found:
        column = key["columns"][-1]
        kind = connection.execute(
            "SELECT data_type FROM information_schema.columns WHERE table_name = %s AND column_name = %s",
            (key["on_table"], column),
        ).fetchone()
        assert kind is not None
        stranger = "gen_random_uuid()" if kind["data_type"] == "uuid" else "32000"
        present = " AND ".join(f"{each} IS NOT NULL" for each in key["columns"])
        with connection.transaction(force_rollback=True):
            leave_alone(connection, key)
            refusals_of(connection, {key["conname"]: [f"{column} = {stranger} WHERE {present}"]}, key)


def test_unique_keys_refuse(connection: Connection) -> None:
    found = connection.execute(UNIQUE_INDEXES).fetchall()
    assert len(found) > 40
    for index in found:
        table = index["on_table"]
        columns = ", ".join(
            f'"{row["column_name"]}"'
            for row in connection.execute(
                "SELECT column_name FROM information_schema.columns "
                "WHERE table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position",
                (table,),
            )
        )
        copy = (
            f"INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE "
            f"SELECT {columns} FROM {table} WHERE {index['predicate']} LIMIT 1"
        )
        with connection.transaction(force_rollback=True):
            for other in found:
                if other["on_table"] == table and other["name"] != index["name"]:
                    drop_unique(connection, other)
            with pytest.raises(psycopg.errors.UniqueViolation) as refused, connection.transaction():
                done = connection.execute(copy.encode())
                pytest.fail(f"{index['name']} accepted a copy ({done.rowcount} rows)")
            assert refused.value.diag.constraint_name == index["name"]


def drop_unique(connection: Connection, index: Row) -> None:
    constraint = connection.execute("SELECT FROM pg_constraint WHERE conname = %s", (index["name"],)).fetchone()
    statement = "DROP INDEX {1}" if constraint is None else "ALTER TABLE {0} DROP CONSTRAINT {1} CASCADE"
    connection.execute(sql.SQL(statement).format(sql.Identifier(index["on_table"]), sql.Identifier(index["name"])))
