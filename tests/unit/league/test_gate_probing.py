"""A gate's probe refuses a candidate only where the games show that it is too exploitable."""

from __future__ import annotations

import pytest

from league.gates import Exploitation, judge_probe

WEAK = Exploitation(win_rate=0.9, low=0.8, high=0.95)
SOUND = Exploitation(win_rate=0.5, low=0.4, high=0.6)


@pytest.mark.parametrize(
    ("candidate", "champion", "limit", "margin", "refused"),
    [
        (WEAK, None, 0.79, None, True),
        (WEAK, None, 0.8, None, False),
        (WEAK, SOUND, None, 0.19, True),
        (WEAK, SOUND, None, 0.21, False),
        (SOUND, SOUND, None, 0.0, False),
        (WEAK, None, None, 0.0, False),
        (WEAK, SOUND, None, None, False),
        (SOUND, WEAK, 0.5, 0.0, False),
    ],
)
def test_the_lower_end_is_compared(
    candidate: Exploitation, champion: Exploitation | None, limit: float | None, margin: float | None, refused: bool
) -> None:
    verdict = judge_probe(candidate, champion, limit=limit, margin=margin)
    assert verdict.refused is refused and f"{candidate.win_rate:.3f}" in verdict.reason
