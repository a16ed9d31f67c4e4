"""A checkpoint cut short: the newest one of a learning player, behind its back."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from benchmarks.faults.campaign.arena import Arena, Struck
from benchmarks.faults.kinds.kills import kill
from benchmarks.faults.striking import wait_until

NEWEST = (
    "SELECT DISTINCT ON (p.id) p.id, v.uri, v.sha256 FROM players p JOIN model_versions v ON v.player_id = p.id "
    "WHERE p.trial_id = %s AND v.uri IS NOT NULL AND p.role <> 'bot' ORDER BY p.id, v.number DESC"
)


def cut_checkpoint(arena: Arena) -> Struck:
    """Cut the file in half until the player has committed again, then put the whole file back, as from a backup.

    The audit would rightly call the file damaged for ever. A crew that holds the weights in memory does not read it,
    so the train worker is killed too: its successor has to.
    """
    learning = arena.by_player()  # a snapshot never commits again
    newest = [row for row in arena.stack.rows(NEWEST, arena.trial) if str(row[0]) in learning]
    player, uri, sha256 = arena.rng.choice(newest)
    file = Path(str(uri).removeprefix("file://"))
    whole = file.read_bytes()
    mode = file.stat().st_mode
    file.chmod(0o600)
    file.write_bytes(whole[: len(whole) // 2])
    try:
        struck = kill(arena, "train-worker")
        before = struck.mark.by_player.get(str(player), 0)
        with suppress(TimeoutError):
            wait_until(lambda: arena.by_player().get(str(player), 0) > before, 300, "the player of the cut checkpoint")
    finally:
        file.write_bytes(whole)
        file.chmod(mode)
    struck.players = (str(player),)
    struck.note = str(sha256)[:12]
    return struck
