"""Payoffs as documents: made once for each commit, kept with their compressed form, sent by reference to an ETag."""

from __future__ import annotations

import csv
import gzip
import io
import json
import threading
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from api.store.core.engine import Session, Sessions
from api.store.core.errors import NotFound
from api.store.payoffs.matrices import PayoffMatrices, payoff_matrices, payoff_state
from league.types import Stream
from league.validation import Floats
from orchestrator.spec import TrialSpec

MOST_KEPT = 24
STREAMS = {
    "all": (Stream.TRAINING, Stream.RATING),
    "training": (Stream.TRAINING,),
    "rating": (Stream.RATING,),
}
"""What may be asked for. `all` is what matchmaking reads; gating games count for their gate and nowhere else."""


@dataclass(frozen=True, slots=True)
class Document:
    """Bytes to send, and the tag that names their state."""

    etag: str
    body: bytes
    compressed: bytes


class PayoffDocuments:
    """Keeps the newest documents of the trials that are looked at."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._kept: OrderedDict[tuple[str, str, str], Document] = OrderedDict()
        self._locks: dict[tuple[str, str, str], threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, trial_id: str, stream: str, form: str, known: str = "") -> Document | None:
        """The payoff as `json` or `csv`; None where the caller's ETag names it already."""
        key = (trial_id, stream, form)
        with self._sessions() as session:
            state = payoff_state(session, trial_id)
            if state is None:
                raise NotFound(f"there is no trial {trial_id}")
            etag = f'"{stream}-{form}-{state[0]}"'
            if etag in known:
                return None
            kept = self._kept.get(key)
            if kept is not None and kept.etag == etag:
                return kept
            with self._lock_of(key):  # of many that ask at once, one does the work
                kept = self._kept.get(key)
                if kept is not None and kept.etag == etag:
                    return kept
                body = self._make(session, trial_id, stream, form)
                return self._keep(key, Document(etag, body, gzip.compress(body, 1)))

    def _make(self, session: Session, trial_id: str, stream: str, form: str) -> bytes:
        state = payoff_state(session, trial_id)
        assert state is not None
        _, revision, decay, spec = state
        min_games = TrialSpec.model_validate(spec).league.payoff.min_games
        matrices = payoff_matrices(session, trial_id, STREAMS[stream], decay=decay, min_games=min_games)
        if form == "csv":
            return _csv(matrices)
        head = {"trial_id": trial_id, "stream": stream, "revision": revision, "decay": decay, "min_games": min_games}
        return _json(head, matrices)

    def _lock_of(self, key: tuple[str, str, str]) -> threading.Lock:
        with self._lock:
            if len(self._locks) > 10 * MOST_KEPT:
                self._locks.clear()
            return self._locks.setdefault(key, threading.Lock())

    def _keep(self, key: tuple[str, str, str], document: Document) -> Document:
        with self._lock:
            self._kept[key] = document
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return document


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
    names = [row[1] for row in payoff.players]
    shown = [_rounded(each) for each in (payoff.win_rates, payoff.low, payoff.high, payoff.mean_returns)]
    counts = [matrix.astype(np.int64).tolist() for matrix in (payoff.wins, payoff.draws, payoff.losses)]
    for row, column in np.argwhere(~np.isnan(payoff.win_rates)).tolist():
        results = [matrix[row][column] for matrix in counts]
        numbers = [matrix[row][column] for matrix in shown]
        writer.writerow([names[row], names[column], *results, *numbers])
    return text.getvalue().encode()
