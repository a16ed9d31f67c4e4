"""A large league written directly as rows by SQL, for measuring how fast it is read."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass

import psycopg

from orchestrator.spec import TrialSpec

PLAYERS = 300
GAMES_A_PAIRING = 23
GENERATIONS = 200


@dataclass(frozen=True)
class LargeLeague:
    """Ids of what was made."""

    trial: str
    players: list[str]
    versions: list[str]
    gate: str
    tournament: str
    schedule: str
    matches: int
    cells: int


def make_large_league(url: str) -> LargeLeague:
    """300 players that have all met, a million matches, metrics, decisions, ratings, a gate with a path."""
    trial, project, tournament, gate, fit, schedule = (str(uuid.uuid4()) for _ in range(6))
    players = sorted(str(uuid.uuid4()) for _ in range(PLAYERS))
    versions = sorted(str(uuid.uuid4()) for _ in range(PLAYERS))
    with psycopg.connect(url) as connection:
        # triggers and foreign keys are tested elsewhere; without them a million rows take seconds
        connection.execute("SET session_replication_role = replica")
        _roster(connection, project, trial, players, versions)
        _payoff(connection, trial, players)
        _tournament(connection, project, trial, tournament)
        _matches(connection, trial, tournament)
        _gate(connection, project, trial, gate, versions)
        _ratings(connection, project, fit)
        _schedule(connection, project, trial, schedule)
        _history(connection, trial, players[0])
        connection.commit()
        connection.autocommit = True
        # autovacuum would do this within minutes, and would slow down the first measured calls
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")
        matches = _count(connection, "SELECT count(*) FROM matches")
        cells = _count(connection, "SELECT count(*) FROM payoffs")
    return LargeLeague(trial, players, versions, gate, tournament, schedule, matches, cells)


def _count(connection: psycopg.Connection, query: str) -> int:
    row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return int(row[0])


def _roster(connection: psycopg.Connection, project: str, trial: str, players: list[str], versions: list[str]) -> None:
    spec = TrialSpec.model_validate({"game": {"id": "connect_four"}}).to_json()
    connection.execute("INSERT INTO projects (id, name) VALUES (%s, 'large')", (project,))
    connection.execute(
        "INSERT INTO trials (id, project_id, name, game, seed, spec, payoff_decay, last_commit, payoff_revision,"
        " status, workflow_started_at)"
        " VALUES (%s, %s, 'large', 'connect_four', 1, %s, 0.99995, 1, 1, 'running', now())",
        (trial, project, json.dumps(spec)),
    )
    connection.execute("INSERT INTO commits VALUES (%s, 0, 'created'), (%s, 1, 'pairing')", (trial, trial))
    connection.execute(
        "CREATE TEMPORARY TABLE roster AS SELECT n::int AS n, p AS player, v AS version"
        " FROM unnest(%s::uuid[], %s::uuid[]) WITH ORDINALITY AS both_of(p, v, n)",
        (players, versions),
    )
    connection.execute(
        "INSERT INTO players (id, trial_id, name, role, created_commit)"
        " SELECT player, %s, 'player-' || n, CASE WHEN n = 1 THEN 'main' ELSE 'historical' END, 0 FROM roster",
        (trial,),
    )
    connection.execute(
        "INSERT INTO model_versions (id, trial_id, player_id, number, origin, steps, uri, sha256, size, commit)"
        " SELECT version, %s, player, 0, 'initial', 0, 'file:///nowhere', repeat('ab', 32), 10, 0 FROM roster",
        (trial,),
    )


def _payoff(connection: psycopg.Connection, trial: str, players: list[str]) -> None:
    connection.execute(
        "INSERT INTO payoffs SELECT %s, 'training', a.player, b.player, seat, 1 - seat,"
        " (a.n * 7 + b.n) %% 50, 3, (b.n * 7 + a.n) %% 50, (a.n * 7 + b.n) %% 50 + 1, 3, (b.n * 7 + a.n) %% 50, 1"
        " FROM roster a CROSS JOIN roster b CROSS JOIN generate_series(0, 1) AS seat WHERE a.n <> b.n",
        (trial,),
    )


def _tournament(connection: psycopg.Connection, project: str, trial: str, tournament: str) -> None:
    connection.execute(
        "INSERT INTO tournaments (id, project_id, trial_id, game, name, format, seed, spec, status,"
        " workflow_started_at, started_at, finished_at)"
        " VALUES (%s, %s, %s, 'connect_four', 'large', 'round_robin', 1, '{}', 'completed', now(), now(), now())",
        (tournament, project, trial),
    )
    connection.execute(
        "INSERT INTO tournament_entrants (tournament_id, number, version_id, label)"
        " SELECT %s, n - 1, version, 'player-' || n FROM roster",
        (tournament,),
    )
    connection.execute(
        "INSERT INTO pairings (tournament_id, round, pair, first, second, games, seed, status, played_at,"
        " wins, draws, losses)"
        " SELECT %(tournament)s, 1, a.n * 1000 + b.n, a.n - 1, b.n - 1, %(games)s, 1, 'played', now(),"
        " 8 + (a.n + b.n) %% 3, 3, %(games)s - 11 - (a.n + b.n) %% 3 FROM roster a JOIN roster b ON a.n < b.n",
        {"tournament": tournament, "games": GAMES_A_PAIRING},
    )


def _matches(connection: psycopg.Connection, trial: str, tournament: str) -> None:
    connection.execute(
        "INSERT INTO matches (stream, trial_id, tournament_id, round, pair, seat, seed, player_id, version_id,"
        " opponent_id, opponent_version_id, result, moves, plies)"
        " SELECT 'rating', %s, %s, 1, a.n * 1000 + b.n, game %% 2, game, a.player, a.version, b.player, b.version,"
        " (ARRAY['win', 'draw', 'loss'])[1 + (a.n + game) %% 3], '{3,3,2,4,1,5,0,6,3,2,1}', 11"
        " FROM generate_series(1, %s) AS game, roster a JOIN roster b ON a.n < b.n",
        (trial, tournament, GAMES_A_PAIRING),
    )


def _gate(connection: psycopg.Connection, project: str, trial: str, gate: str, versions: list[str]) -> None:
    connection.execute(
        "INSERT INTO gates (id, project_id, trial_id, game, alias, candidate_version_id, champion_version_id, status,"
        " elo0, elo1, alpha, beta, lower_bound, upper_bound, max_pairs, seed, pairs, finished_at)"
        " VALUES (%s, %s, %s, 'connect_four', 'champion', %s, %s, 'passed', 0, 35, 0.05, 0.05, -2.9, 2.9, 2000, 1, 500,"
        " now())",
        (gate, project, trial, versions[1], versions[0]),
    )
    connection.execute(
        "INSERT INTO gate_batches (gate_id, number, pairs, pentanomial, llr)"
        " SELECT %s, n, 5, '{1,1,1,1,1}', n * 0.03 FROM generate_series(1, 100) AS n",
        (gate,),
    )
    connection.execute(
        "INSERT INTO aliases (project_id, game, name, version_id) VALUES (%s, 'connect_four', 'champion', %s)",
        (project, versions[1]),
    )


def _ratings(connection: psycopg.Connection, project: str, fit: str) -> None:
    connection.execute(
        "INSERT INTO rating_fits (id, project_id, game, method, games, last_match_id)"
        " VALUES (%s, %s, 'connect_four', 'bradley_terry', 1000000, 1000000)",
        (fit, project),
    )
    connection.execute(
        "INSERT INTO ratings (fit_id, version_id, value, deviation, games, rank)"
        " SELECT %s, version, 1000 - n, 10, 6000, n FROM roster",
        (fit,),
    )


def _schedule(connection: psycopg.Connection, project: str, trial: str, schedule: str) -> None:
    """A paused schedule, so that nothing fires. Temporal does not know it, but the API looks it up."""
    connection.execute(
        "INSERT INTO schedules (id, project_id, trial_id, name, cron, paused, tournament, workflow_started_at)"
        " VALUES (%s, %s, %s, 'nightly', '0 3 * * *', true, '{}', now())",
        (schedule, project, trial),
    )


def _history(connection: psycopg.Connection, trial: str, player: str) -> None:
    connection.execute(
        "INSERT INTO metrics (trial_id, player_id, generation, name, steps, value)"
        " SELECT %s, %s, g, 'metric-' || m, g * 1000, g / 10.0"
        " FROM generate_series(1, %s) AS g, generate_series(1, 12) AS m",
        (trial, player, GENERATIONS),
    )
    connection.execute(
        "INSERT INTO decisions (trial_id, player_id, generation, kind, verdict, reason, evidence)"
        " SELECT %s, %s, g, 'matchmaking', 'plan', 'as the rules have it',"
        " (SELECT jsonb_object_agg('opponent-' || o, o) FROM generate_series(1, 64) AS o)"
        " FROM generate_series(1, %s) AS g",
        (trial, player, GENERATIONS),
    )
    connection.execute(
        "INSERT INTO events (trial_id, type) SELECT %s, 'made.large' FROM generate_series(1, 1000)", (trial,)
    )
