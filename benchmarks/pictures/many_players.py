"""The history of a large league, written as rows: learners, snapshots, ratings, metrics, decisions, trouble."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import psycopg

from benchmarks.pictures.small_league import TRIAL_TABS
from benchmarks.stacks.large_league import LargeLeague
from league.tournaments.knockout import knockout
from league.tournaments.pairing import Result

LEARNERS = 200
"""The other players are snapshots of them."""
GENERATIONS = 40
STEPS = 25_000
"""Steps of a generation."""
RATED_EVERY = 10
"""Generations between two versions that were rated."""
KNOCKOUT = 64
METRICS = {
    "steps_per_second": (900.0, 0.0, 60.0),
    "value_loss": (0.2, 0.6, 0.03),
    "policy_loss": (0.01, 0.03, 0.004),
    "entropy": (0.4, 1.4, 0.05),
    "kl": (0.01, 0.02, 0.003),
    "explained_variance": (0.8, -0.7, 0.05),
    "return_mean": (0.3, -0.4, 0.08),
    "game_length": (26.0, -9.0, 1.5),
}
"""Where each ends, how far from that it starts, and its noise."""
TROUBLE: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "generation_retried",
        {"generation": 39, "tries": 2, "failure": "worker_lost", "delay_seconds": 5.0, "lost_steps": 21_504}
        | {"problem": "the worker sent no heartbeat in time"},
    ),
    (
        "checkpoint.damaged",
        {"verdict": "damaged", "problem": "the file is cut short", "reason": "the file is cut short"},
    ),
    ("trial.stalled", {"minutes": 30.0}),
)


def write_history(url: str, league: LargeLeague) -> dict[str, str]:
    """Write the rows; the addresses of the pages that show them."""
    with psycopg.connect(url) as connection:
        # real rows are append-only; these are written before they are first read
        connection.execute("SET session_replication_role = replica")
        _roster(connection, league)
        _versions(connection, league)
        _ratings(connection, league)
        _metrics(connection, league)
        _plans(connection, league)
        _gate(connection, league)
        _events(connection, league)
        knockout = _knockout(connection, league)
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM (ANALYZE)")
    return _pages(league, knockout)


def _pages(league: LargeLeague, knockout: str) -> dict[str, str]:
    root, main, other = f"/trials/{league.trial}", league.players[0], league.players[1]
    return {
        "trial": root,
        **{name: f"{root}/{name}" for name in TRIAL_TABS},
        "payoff-cell": f"{root}/payoff?row={main}&column={other}",
        "payoff-likeness": f"{root}/payoff?order=cluster&show=counts",
        "player": f"/players/{main}",
        "version": f"/versions/{league.versions[0]}",
        "head-to-head": f"/versions/{league.versions[0]}/against/{league.versions[1]}",
        "tournament-round-robin": f"/tournaments/{league.tournament}",
        "tournament-knockout": f"/tournaments/{knockout}",
    }


def _roster(connection: psycopg.Connection, league: LargeLeague) -> None:
    connection.execute(
        "CREATE TEMPORARY TABLE roster AS SELECT n::int AS n, p AS player, v AS version"
        " FROM unnest(%s::uuid[], %s::uuid[]) WITH ORDINALITY AS both_of(p, v, n)",
        (league.players, league.versions),
    )
    connection.execute(
        "UPDATE players SET role = 'main', generation = %s, steps = %s FROM roster r WHERE r.player = id AND r.n <= %s",
        (GENERATIONS, GENERATIONS * STEPS, LEARNERS),
    )
    connection.execute(
        "UPDATE players SET role = 'historical', parent_id = parent.player, name = 'player-' || parent.n || '-1'"
        " FROM roster r JOIN roster parent ON parent.n = r.n - %s WHERE r.player = id",
        (LEARNERS,),
    )
    connection.execute(
        "UPDATE trials SET steps = %s, last_commit = %s, started_at = now() - interval '3 hours',"
        " spec = jsonb_set(spec, '{budget}', %s) WHERE id = %s",
        (
            LEARNERS * GENERATIONS * STEPS,
            LEARNERS * GENERATIONS,
            json.dumps({"steps": 2 * LEARNERS * GENERATIONS * STEPS}),
            league.trial,
        ),
    )


def _versions(connection: psycopg.Connection, league: LargeLeague) -> None:
    """Every generation of each learner; a snapshot is of the generation in the middle."""
    # in the order of time, as real ids are
    connection.execute(
        "CREATE FUNCTION pg_temp.version_id(n int, g int) RETURNS uuid LANGUAGE sql RETURN"
        " ('ffff' || lpad(to_hex(g), 4, '0') || substr(md5(n || '-' || g), 1, 24))::uuid"
    )
    connection.execute(
        "INSERT INTO model_versions (id, trial_id, player_id, number, origin, parent_id, steps, uri, sha256, size,"
        " commit, created_at)"
        " SELECT pg_temp.version_id(n, g), %(trial)s, player, g, 'trained',"
        " CASE WHEN g = 1 THEN version ELSE pg_temp.version_id(n, g - 1) END, g * %(steps)s, 'file:///nowhere',"
        " repeat('cd', 32), 10, 1, now() - (%(most)s - g) * interval '4 minutes'"
        " FROM roster, generate_series(1, %(most)s) AS g WHERE n <= %(learners)s",
        {"trial": league.trial, "steps": STEPS, "most": GENERATIONS, "learners": LEARNERS},
    )
    connection.execute(
        "INSERT INTO generations (player_id, number, trial_id, commit, parent_version_id, version_id, steps, games,"
        " seed, attempt, hyperparameters, started_at, finished_at, recorded_at)"
        " SELECT player_id, number, trial_id, row_number() OVER (ORDER BY created_at), parent_id, id, %s, 900,"
        " 1, 1, '{}', created_at - interval '4 minutes', created_at, created_at FROM model_versions"
        " WHERE trial_id = %s AND origin = 'trained'",
        (STEPS, league.trial),
    )
    connection.execute(
        "UPDATE model_versions v SET origin = 'snapshot', steps = %s, parent_id = pg_temp.version_id(r.n - %s, %s),"
        " created_at = now() - %s * interval '4 minutes' FROM roster r WHERE r.version = v.id AND r.n > %s",
        (GENERATIONS // 2 * STEPS, LEARNERS, GENERATIONS // 2, GENERATIONS // 2, LEARNERS),
    )


def _ratings(connection: psycopg.Connection, league: LargeLeague) -> None:
    row = connection.execute(
        "UPDATE rating_fits f SET anchor_version_id = %s FROM trials t WHERE t.project_id = f.project_id AND t.id = %s"
        " RETURNING f.id",
        (league.versions[0], league.trial),
    ).fetchone()
    assert row is not None
    fit = row[0]
    connection.execute("DELETE FROM ratings WHERE fit_id = %s", (fit,))
    connection.execute(
        "INSERT INTO ratings (fit_id, version_id, value, deviation, games, rank)"
        " SELECT %s, v.id, r.value, 15 + r.n %% 60, 300, row_number() OVER (ORDER BY r.value DESC)"
        " FROM model_versions v JOIN LATERAL ("
        "   SELECT n, (300 + 4 * ((n * 37) %% 100)) * (1 - exp(-v.steps / 400000.0)) + (n * 13) %% 40 AS value"
        "   FROM roster WHERE player = v.player_id) r ON true"
        " WHERE v.trial_id = %s AND v.number %% %s = 0",
        (fit, league.trial, RATED_EVERY),
    )
    mixture = {version: 0.3 * 0.7**place for place, version in enumerate(league.versions[:20])}
    for method, most in (("alpha_rank", 0.22), ("nash_averaging", 0.3)):
        connection.execute(
            "WITH fit AS (INSERT INTO rating_fits (id, project_id, game, method, tournament_id, games, last_match_id,"
            " settings) SELECT gen_random_uuid(), project_id, game, %s, %s, games, last_match_id, %s FROM rating_fits"
            " WHERE id = %s RETURNING id)"
            " INSERT INTO ratings (fit_id, version_id, value, games, rank)"
            " SELECT fit.id, version, %s * 0.7 ^ (n - 1), 300, n FROM fit, roster",
            (method, league.tournament, json.dumps({"mixture": mixture}), fit, most),
        )


def _metrics(connection: psycopg.Connection, league: LargeLeague) -> None:
    drawn = random.Random(1)
    connection.execute("DELETE FROM metrics WHERE trial_id = %s", (league.trial,))
    with connection.cursor().copy(
        "COPY metrics (trial_id, player_id, generation, name, steps, value) FROM STDIN"
    ) as rows:
        for player in league.players[:LEARNERS]:
            own = drawn.uniform(0.6, 1.4)
            for name, (end, start, noise) in METRICS.items():
                for generation in range(1, GENERATIONS + 1):
                    value = end * own + start * math.exp(-generation / 10) + drawn.gauss(0, noise)
                    rows.write_row((league.trial, player, generation, name, generation * STEPS, value))


def _plans(connection: psycopg.Connection, league: LargeLeague) -> None:
    """Prioritised fictitious self-play of the first player among 64 others."""
    drawn = random.Random(2)
    connection.execute("DELETE FROM decisions WHERE trial_id = %s", (league.trial,))
    for generation in range(1, GENERATIONS + 1):
        met = list(zip(league.players[1:65], league.versions[1:65], strict=True))
        rates = [drawn.uniform(0.2, 0.9) for _ in met]
        weights = [(1 - rate) ** 2 for rate in rates]
        shares = [weight / sum(weights) for weight in weights]
        opponents = [
            {"branch": "pfsp", "player": player, "version": version, "win_rate": rate, "probability": share}
            for (player, version), rate, share in zip(met, rates, shares, strict=True)
        ]
        branch = {"branch": "pfsp", "mass": 1.0, "players": [player for player, _ in met], "probabilities": shares}
        evidence = {
            "plan": {"seed": 1, "steps": STEPS, "version": league.versions[0], "opponents": opponents},
            "learner": league.players[0],
            "branches": [branch],
            "payoff_revision": 1,
        }
        connection.execute(
            "INSERT INTO decisions (trial_id, player_id, generation, kind, verdict, reason, evidence)"
            " VALUES (%s, %s, %s, 'matchmaking', 'pfsp', 'pfsp mixes pfsp', %s)",
            (league.trial, league.players[0], generation, json.dumps(evidence)),
        )


def _gate(connection: psycopg.Connection, league: LargeLeague) -> None:
    """One under way, beside the one that has passed and made the champion."""
    reason = "the gate passed: LLR 3.00 reached 2.90"
    connection.execute("UPDATE gates SET llr = 3, status_reason = %s WHERE id = %s", (reason, league.gate))
    connection.execute(
        "INSERT INTO alias_events (project_id, game, name, revision, move, to_version_id, reason, actor, gate_id,"
        " evidence) SELECT project_id, game, alias, 1, 'promoted', candidate_version_id, status_reason, 'system', id,"
        " '{}' FROM gates WHERE id = %s",
        (league.gate,),
    )
    connection.execute(
        "INSERT INTO gates (id, project_id, trial_id, game, alias, candidate_version_id, champion_version_id, status,"
        " elo0, elo1, alpha, beta, lower_bound, upper_bound, max_pairs, seed, pairs, llr, started_at)"
        " SELECT gen_random_uuid(), project_id, trial_id, game, alias, %s, candidate_version_id, 'running', elo0, elo1,"
        " alpha, beta, lower_bound, upper_bound, max_pairs, seed, 320, 1.37, now() - interval '3 minutes' FROM gates"
        " WHERE id = %s",
        (league.versions[7], league.gate),
    )


def _events(connection: psycopg.Connection, league: LargeLeague) -> None:
    connection.execute("DELETE FROM events WHERE trial_id = %s", (league.trial,))
    who = {"player_id": league.players[4], "player": "player-5"}
    happened: list[tuple[str, dict[str, Any]]] = [
        ("trial.status", {"from": "pending", "to": "running", "reason": None}),
        ("gate.finished", {"status": "passed", "candidate": "player-2 v0", "alias": "champion", "pairs": 500}),
        ("alias.moved", {"alias": "champion", "move": "promoted", "to_version": "player-2 v0"}),
        *((kind, {**who, **payload}) for kind, payload in TROUBLE),
    ]
    for place, (kind, payload) in enumerate(happened):
        connection.execute(
            "INSERT INTO events (trial_id, type, payload, created_at)"
            " VALUES (%s, %s, %s, now() - %s * interval '7 minutes')",
            (league.trial, kind, json.dumps(payload), len(happened) - place),
        )


def _knockout(connection: psycopg.Connection, league: LargeLeague) -> str:
    """Of the first 64, complete: the lower number wins."""
    row = connection.execute(
        "INSERT INTO tournaments (id, project_id, trial_id, game, name, format, seed, spec, status,"
        " workflow_started_at, started_at, finished_at)"
        " SELECT gen_random_uuid(), project_id, trial_id, game, 'knockout', 'knockout', 1, %s, 'completed', now(),"
        " now(), now() FROM tournaments WHERE id = %s RETURNING id",
        (json.dumps({"trial": "large", "format": "knockout", "games": 8}), league.tournament),
    ).fetchone()
    assert row is not None
    connection.execute(
        "INSERT INTO tournament_entrants (tournament_id, number, version_id, label)"
        " SELECT %s, n - 1, version, 'player-' || n FROM roster WHERE n <= %s",
        (row[0], KNOCKOUT),
    )
    names = tuple(str(number) for number in range(KNOCKOUT))
    results: dict[tuple[int, int], Result] = {}
    while left := knockout(names, results, {"games": 8}):
        for pairing in left:
            wins, losses = (5, 2) if int(pairing.first) < int(pairing.second) else (2, 5)
            results[pairing.key] = Result(pairing=pairing, wins=wins, draws=1, losses=losses)
            connection.execute(
                "INSERT INTO pairings (tournament_id, round, pair, first, second, games, seed, status, played_at,"
                " wins, draws, losses) VALUES (%s, %s, %s, %s, %s, 8, 1, 'played', now(), %s, 1, %s)",
                (row[0], pairing.round, pairing.index, int(pairing.first), int(pairing.second), wins, losses),
            )
    return str(row[0])
