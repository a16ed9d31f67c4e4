"""The sequential probability ratio test (SPRT) of a gate: from counts of pairs to a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from league.errors import InvalidInput
from league.gates.alpha_spending import alpha_for_candidate
from league.gates.likelihood_ratio import (
    EMPTY_CELL,
    GAMES,
    MODELS,
    SCORES,
    elo_of_score,
    log_likelihood_ratio,
    outcome_counts,
)
from league.validation import finite, one_of, strictly_between, whole_count


class SprtStatus(StrEnum):
    """What the test says of a gate; only `passed` promotes. A gate itself also waits, or is superseded."""

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    """All pairs were played and neither bound was reached."""
    INVALID = "invalid"
    """An operator ended it early."""


@dataclass(frozen=True, kw_only=True)
class GateVerdict:
    """The state of a gate and the numbers it is based on."""

    status: SprtStatus
    llr: float
    lower: float
    upper: float
    counts: tuple[int, ...]
    games: int
    score: float | None
    elo: float | None
    """Elo of the mean score so far."""
    estimate: str = "raw: not corrected for stopping at a bound"
    path: tuple[float, ...] = ()
    """The log-likelihood ratio after each batch, if the verdict was reached batch by batch."""


@dataclass(frozen=True, kw_only=True)
class Sprt:
    """A planned test of elo0 (null) against elo1 on pairs of games with seats swapped."""

    elo0: float = 0.0
    elo1: float = 35.0
    alpha: float = 0.05
    beta: float = 0.05
    max_pairs: int = 2_000
    model: str = "logistic"

    def __post_init__(self) -> None:
        if not finite(self.elo0, "elo0") < finite(self.elo1, "elo1"):
            raise InvalidInput(f"elo0 must lie below elo1, got {self.elo0!r} and {self.elo1!r}")
        strictly_between(self.alpha, 0, 0.5, "alpha")
        strictly_between(self.beta, 0, 0.5, "beta")
        one_of(self.model, MODELS, "model")
        if whole_count(self.max_pairs, "max_pairs") < 1:
            raise InvalidInput("max_pairs must be at least 1")
        # a hypothesis out of range is refused here, not when the first pair has been played
        log_likelihood_ratio((1, 1, 1, 1, 1), self.elo0, self.elo1, self.model)

    @property
    def bounds(self) -> tuple[float, float]:
        """ln(beta / (1 - alpha)) and ln((1 - beta) / alpha)."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def for_candidate(self, number: int) -> Sprt:
        """The same test at the alpha left for the `number`-th candidate against one champion."""
        return replace(self, alpha=alpha_for_candidate(self.alpha, number))

    def judge(self, counts: Sequence[int], *, stopped_by_operator: bool = False) -> GateVerdict:
        """The verdict on the counts so far."""
        seen = outcome_counts(counts)
        llr = log_likelihood_ratio(counts, self.elo0, self.elo1, self.model)
        lower, upper = self.bounds
        games = int(seen.sum()) * GAMES[seen.size]
        score = float(seen @ SCORES[seen.size] / seen.sum()) if games else None
        filled = np.where(seen > 0, seen, EMPTY_CELL)
        return GateVerdict(
            status=self._status(llr, games, stopped_by_operator),
            llr=llr,
            lower=lower,
            upper=upper,
            counts=tuple(int(count) for count in seen),
            games=games,
            score=score,
            elo=elo_of_score(float(filled @ SCORES[seen.size] / filled.sum())) if games else None,
        )

    def judge_batches(self, batches: Iterable[Sequence[int]], *, stopped_by_operator: bool = False) -> GateVerdict:
        """The verdict after recorded batches in order; batches after the first bound is reached are ignored."""
        total = np.zeros(5, dtype=np.int64)
        path: list[float] = []
        verdict = self.judge(total.tolist(), stopped_by_operator=stopped_by_operator)
        for batch in batches:
            if len(batch) != 5:
                raise InvalidInput(f"a batch is five counts of pairs, got {len(batch)}")
            total += outcome_counts(batch).astype(np.int64)
            verdict = self.judge(total.tolist())
            path.append(verdict.llr)
            if verdict.status != SprtStatus.RUNNING:
                return replace(verdict, path=tuple(path))
        status = SprtStatus.INVALID if stopped_by_operator else verdict.status
        return replace(verdict, status=status, path=tuple(path))

    def _status(self, llr: float, games: int, stopped_by_operator: bool) -> SprtStatus:
        lower, upper = self.bounds
        if stopped_by_operator:
            return SprtStatus.INVALID
        if llr >= upper:
            return SprtStatus.PASSED
        if llr <= lower:
            return SprtStatus.FAILED
        return SprtStatus.INCONCLUSIVE if games >= 2 * self.max_pairs else SprtStatus.RUNNING
