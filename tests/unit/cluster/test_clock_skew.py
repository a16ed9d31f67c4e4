"""How far another machine's clock is from this one's."""

from __future__ import annotations

from orchestrator.clock_skew import Skew, measure_skew, skew_text


def test_the_time_that_the_call_took_is_allowed_for() -> None:
    here = iter([100.0, 102.0])
    assert measure_skew(lambda: 101.0, lambda: next(here)) == Skew(0.0, 1.0)
    here = iter([100.0, 102.0])
    assert measure_skew(lambda: 111.0, lambda: next(here)) == Skew(10.0, 1.0)


def test_the_quickest_of_several_calls_counts() -> None:
    here, theirs = iter([100.0, 108.0, 110.0, 110.5]), iter([101.0, 113.25])
    assert measure_skew(lambda: next(theirs), lambda: next(here), times=2) == Skew(3.0, 0.25)


def test_a_skew_is_too_large_only_where_the_time_of_the_call_does_not_explain_it() -> None:
    assert Skew(-6.0, 0.5).too_large and not Skew(6.0, 2.0).too_large
    assert (Skew(4.0, 0.1) + Skew(3.0, 0.2)).too_large and not (Skew(4.0, 0.1) + -Skew(3.0, 0.2)).too_large


def test_words_say_which_clock_is_ahead() -> None:
    assert skew_text("Postgres", 0.01) == "the clock of Postgres agrees with this machine's"
    assert skew_text("Postgres", 7.25) == "the clock of Postgres is 7.2 s ahead of this machine's"
    assert skew_text("Postgres", -7.25) == "the clock of Postgres is 7.2 s behind this machine's"
