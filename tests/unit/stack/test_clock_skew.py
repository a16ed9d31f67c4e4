"""How far another machine's clock is from this one's."""

from __future__ import annotations

from lanista.checks.clock_skew import clock_skew, skew_text


def test_the_time_that_the_call_took_is_allowed_for() -> None:
    here = iter([100.0, 102.0])
    assert clock_skew(lambda: 101.0, lambda: next(here)) == 0.0
    here = iter([100.0, 102.0])
    assert clock_skew(lambda: 111.0, lambda: next(here)) == 10.0


def test_words_say_which_clock_is_ahead() -> None:
    assert skew_text("Postgres", 0.01) == "the clock of Postgres agrees with this machine's"
    assert skew_text("Postgres", 7.25) == "the clock of Postgres is 7.2 s ahead of this machine's"
    assert skew_text("Postgres", -7.25) == "the clock of Postgres is 7.2 s behind this machine's"
