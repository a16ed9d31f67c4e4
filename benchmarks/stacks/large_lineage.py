"""A lineage for the large league: its main has 300 generations and every other player is a snapshot of it."""

from __future__ import annotations

import psycopg

from benchmarks.stacks.large_league import LargeLeague

STEPS = 100_000


def grow_lineage(url: str, league: LargeLeague) -> None:
    """Versions of the first player, one a generation, and the others' as snapshots of them."""
    main = league.players[0]
    with psycopg.connect(url) as connection:
        # real rows are append-only; these are generated before they are first read
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "INSERT INTO model_versions (id, trial_id, player_id, number, origin, parent_id, steps, uri, sha256, size,"
            " commit, created_at) SELECT md5('version-' || n)::uuid, %s, %s, n, 'trained',"
            " CASE WHEN n = 1 THEN %s::uuid ELSE md5('version-' || n - 1)::uuid END,"
            " n * %s, 'file:///nowhere', repeat('cd', 32), 10, 1, now() + n * interval '1 minute'"
            " FROM generate_series(1, %s) AS n",
            (league.trial, main, league.versions[0], STEPS, len(league.players)),
        )
        connection.execute(
            "UPDATE players SET parent_id = %s WHERE trial_id = %s AND id <> %s", (main, league.trial, main)
        )
        connection.execute(
            "UPDATE model_versions v SET origin = 'snapshot', steps = s.n * %s,"
            " parent_id = md5('version-' || s.n)::uuid, created_at = now() + s.n * interval '1 minute'"
            " FROM unnest(%s::uuid[]) WITH ORDINALITY AS s(id, n) WHERE v.id = s.id AND v.player_id <> %s",
            (STEPS, league.versions, main),
        )
