"""A gate's probe: a candidate that beat the champion must not be exploited by more than a limit, or than the champion.

What fresh responders win against a version is a lower bound on how exploitable it is. The candidate is refused only
where the games show it: the lower end of its interval lies above the limit, or above the upper end of the champion's.

See docs/decisions/gates.md.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Exploitation:
    """What the best responder of a probe won against a version, with its interval."""

    win_rate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.win_rate:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True, kw_only=True)
class ProbeVerdict:
    """Whether a candidate is too exploitable, and why."""

    refused: bool
    reason: str


def judge_probe(
    candidate: Exploitation, champion: Exploitation | None, *, limit: float | None, margin: float | None
) -> ProbeVerdict:
    """The verdict on a probed candidate; without a limit and a margin it is only recorded."""
    found = f"a responder wins {candidate}"
    if limit is not None and candidate.low > limit:
        return ProbeVerdict(refused=True, reason=f"{found}, more than {limit:g}")
    if champion is not None and margin is not None and candidate.low > champion.high + margin:
        more = (
            f"by more than {margin:g} above the champion's {champion}" if margin else f"above the champion's {champion}"
        )
        return ProbeVerdict(refused=True, reason=f"{found}, {more}")
    return ProbeVerdict(refused=False, reason=found)
