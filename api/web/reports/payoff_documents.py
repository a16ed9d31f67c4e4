"""Payoff documents: written and compressed once for each commit, and sent only if the caller's ETag is outdated.

See docs/decisions/api-load.md.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from dataclasses import dataclass

import numpy as np

from api.store.core.engine import Session, Sessions
from api.store.core.errors import NotFound
from api.store.payoffs.matrices import PayoffMatrices, payoff_matrices, payoff_state
from api.web.cache import Cache
from api.web.responses.csv_export import without_formula
from league.types import Stream
from league.validation import Floats
from orchestrator.spec import TrialSpec

MAX_ENTRIES = 24
STREAMS = {
    "all": (Stream.TRAINING, Stream.RATING),
    "training": (Stream.TRAINING,),
    "rating": (Stream.RATING,),
}
"""Streams to request. `all` is what matchmaking reads; gating games count for their gate and nowhere else."""


@dataclass(frozen=True, slots=True)
class Document:
    """Bytes to send, plain and compressed, and the ETag that names their state."""

    etag: str
    body: bytes
    compressed: bytes


class PayoffDocuments:
    """A cache of payoff documents, each computed once for a commit."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._cache = Cache[Document](MAX_ENTRIES)

    def get(self, trial_id: str, stream: str, form: str, if_none_match: str = "") -> Document | None:
        """The payoff as `json` or `csv`; None where the caller's ETag is the current one."""
        with self._sessions() as session:
            state = payoff_state(session, trial_id)
            if state is None:
                raise NotFound(f"there is no trial {trial_id}")
            etag = f'"{stream}-{form}-{state[0]}"'
            if etag in if_none_match:
                return None
            return self._cache.get(
                (trial_id, stream, form), lambda: _document(session, trial_id, stream, form, etag), state=etag
            )


def _document(session: Session, trial_id: str, stream: str, form: str, etag: str) -> Document:
    state = payoff_state(session, trial_id)
    assert state is not None
    _, revision, decay, spec = state
    min_games = TrialSpec.model_validate(spec).league.payoff.min_games
    matrices = payoff_matrices(session, trial_id, STREAMS[stream], decay=decay, min_games=min_games)
    head = {"trial_id": trial_id, "stream": stream, "revision": revision, "decay": decay, "min_games": min_games}
    body = _csv(matrices) if form == "csv" else _json(head, matrices)
    return Document(etag, body, gzip.compress(body, 1))


def _json(head: dict[str, object], payoff: PayoffMatrices) -> bytes:
    players = [{"id": row[0], "name": row[1], "role": row[2], "status": row[3]} for row in payoff.players]
    document = {
        **head,
        "players": players,
        "win_rate": _rounded(payoff.win_rates),
        "low": _rounded(payoff.low),
        "high": _rounded(payoff.high),
        "wins": payoff.wins.astype(np.int64).tolist(),
        "draws": payoff.draws.astype(np.int64).tolist(),
        "losses": payoff.losses.astype(np.int64).tolist(),
        "mean_return": _rounded(payoff.mean_returns),
    }
    return json.dumps(document, separators=(",", ":")).encode()


def _rounded(matrix: Floats) -> list[list[float | None]]:
    """Four digits, which is finer than any interval here; None where nothing is known."""
    rounded = np.round(matrix, 4).astype(object)
    rounded[np.isnan(matrix)] = None
    listed: list[list[float | None]] = rounded.tolist()
    return listed


def _csv(payoff: PayoffMatrices) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(["player", "opponent", "wins", "draws", "losses", "win_rate", "low", "high", "mean_return"])
    names = [without_formula(row[1]) for row in payoff.players]
    shown = [_rounded(each) for each in (payoff.win_rates, payoff.low, payoff.high, payoff.mean_returns)]
    counts = [matrix.astype(np.int64).tolist() for matrix in (payoff.wins, payoff.draws, payoff.losses)]
    for row, column in np.argwhere(~np.isnan(payoff.win_rates)).tolist():
        results = [matrix[row][column] for matrix in counts]
        numbers = [matrix[row][column] for matrix in shown]
        writer.writerow([names[row], names[column], *results, *numbers])
    return text.getvalue().encode()
