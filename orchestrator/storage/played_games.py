"""The games of a batch as a message: inline if they are small, else as a file of the artifact store.

Temporal accepts messages up to 2 MiB and histories up to 50 MB, while the games of a batch have any length.

See docs/decisions/rollouts-and-matches.md.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

from orchestrator.contracts.play import PlayedGame, PlayOutcome
from orchestrator.storage.artifacts import ArtifactStore, DamagedArtifact, MissingArtifact

GAMES_KIND = "games"
MOST_BYTES = 32 * 1024
"""The most bytes of inline games: a tournament may receive 64 batches at once, and an answer may have 4 MB."""


class GamesLost(Exception):
    """The file of a batch's games is missing or damaged; the same request produces the same games again."""


def pack_games(games: Sequence[PlayedGame], artifacts: ArtifactStore) -> PlayOutcome:
    """The games as a small message; stores them in a file if they are large."""
    data = json.dumps([vars(game) for game in games], separators=(",", ":")).encode()
    if len(data) <= MOST_BYTES:
        return PlayOutcome(games=list(games))
    return PlayOutcome(games=[], stored=artifacts.put(zlib.compress(data), kind=GAMES_KIND))


def unpack_games(outcome: PlayOutcome, artifacts: ArtifactStore) -> list[PlayedGame]:
    """The games of a message; raises GamesLost."""
    if outcome.stored is None:
        return outcome.games
    try:
        data = artifacts.get(outcome.stored)
    except (MissingArtifact, DamagedArtifact) as error:
        raise GamesLost(f"the games must be played again: {error}") from error
    return [PlayedGame(**game) for game in json.loads(zlib.decompress(data))]
