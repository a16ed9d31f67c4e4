"""How the games of a batch travel: a few within the message, many as a file of the artifact store.

Temporal takes no message above 2 MiB and no history above 50 MB, while a valid trial file may ask for games of any
length. So a message names what is large, as it names checkpoints.

See docs/decisions/matches.md.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

from orchestrator.artifacts import ArtifactStore, DamagedArtifact, MissingArtifact
from orchestrator.contracts.play import PlayedGame, PlayOutcome

GAMES_KIND = "games"
MOST_BYTES = 32 * 1024
"""Of games within a message: a tournament may be told of 64 batches at once, and Temporal takes 4 MB in one answer."""


class GamesLost(Exception):
    """The file of a batch's games is gone or damaged; the same request gives the same games again."""


def sent(games: Sequence[PlayedGame], artifacts: ArtifactStore) -> PlayOutcome:
    """The games as a message that is small, however many they are."""
    data = json.dumps([vars(game) for game in games], separators=(",", ":")).encode()
    if len(data) <= MOST_BYTES:
        return PlayOutcome(games=list(games))
    return PlayOutcome(games=[], stored=artifacts.put(zlib.compress(data), kind=GAMES_KIND))


def received(outcome: PlayOutcome, artifacts: ArtifactStore) -> list[PlayedGame]:
    """The games of such a message; raises GamesLost."""
    if outcome.stored is None:
        return outcome.games
    try:
        data = artifacts.get(outcome.stored)
    except (MissingArtifact, DamagedArtifact) as error:
        raise GamesLost(f"the games must be played again: {error}") from error
    return [PlayedGame(**game) for game in json.loads(zlib.decompress(data))]
