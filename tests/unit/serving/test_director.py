"""The serving director: sessions play with the alias's version, a share with the canary, and swaps lose nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.unit.serving.made_versions import made_version
from workers.gateway.contract import Cast, Refused, SessionResult
from workers.inference.actor import Actor
from workers.serving.director import ServingDirector
from workers.serving.versions import ServedVersion, UnservableVersion


class FakeModel:
    """Remembers what was asked; answers when told to."""

    update = 0

    def __init__(self, version: ServedVersion) -> None:
        self.actor: Actor = version.actor
        self.version = version.record.name
        self.asked: list[Callable[[Any], None]] = []

    def submit(self, rows: dict[str, Any], decided: Callable[[Any], None]) -> None:
        self.asked.append(decided)


def director(**options: Any) -> ServingDirector:
    return ServingDirector("board-games@champion", FakeModel, rng=random.Random(1), **options)


def names(cast: Cast) -> list[str]:
    return [seat.name for seat in cast.seats]


def end(served: ServingDirector, cast: Cast, first_seat: float, played: tuple[int, ...] = (0,)) -> None:
    returns = np.array([first_seat, -first_seat])
    served.finished(cast, SessionResult("a", returns, 3, played=frozenset(played)))


def test_a_session_before_the_first_version_is_told_to_come_back() -> None:
    with pytest.raises(Refused) as refused:
        director().cast("a", "")
    assert (refused.value.status, refused.value.retry_after) == (503, 1.0)


def test_new_sessions_play_with_the_version_that_was_put_last() -> None:
    served = director()
    served.serve(made_version("main:1"))
    first = served.cast("a", "")
    served.serve(made_version("main:2", seed=2))
    second = served.cast("b", "")
    assert names(first) == ["main:1", "main:1"] and names(second) == ["main:2", "main:2"]
    assert second.info == {"purpose": "serving", "alias": "board-games@champion", "version": "main:2"}
    assert served.swaps == 1


def test_a_session_keeps_its_version_and_requests_under_way_are_answered_by_it() -> None:
    served = director()
    served.serve(made_version("main:1"))
    model: Any = served.cast("a", "").seats[0].model
    model.submit({}, lambda answer: None)
    served.serve(made_version("main:2", seed=2))
    assert model.version == "main:1" and len(model.asked) == 1


def test_sessions_swap_too_where_that_is_asked_for() -> None:
    served = director(swap_sessions=True)
    served.serve(made_version("main:1"))
    model: Any = served.cast("a", "").seats[0].model
    model.submit({}, lambda answer: None)
    before = model._model
    served.serve(made_version("main:2", seed=2))
    model.submit({}, lambda answer: None)
    assert model.version == "main:2"
    assert len(before.asked) == 1, "the first request stays with the model that it was sent to"
    assert len(model._model.asked) == 1


def test_sessions_keep_a_model_whose_recurrent_state_the_new_one_does_not_have() -> None:
    served = director(swap_sessions=True)
    served.serve(made_version("main:1", model="gru", options={"hidden": 8}))
    model: Any = served.cast("a", "").seats[0].model
    served.serve(made_version("main:2"))
    assert model.version == "main:1"
    assert served.cast("b", "").seats[0].model.version == "main:2"  # type: ignore[union-attr]


def test_a_version_of_another_game_is_refused_and_the_old_one_goes_on() -> None:
    served = director()
    served.serve(made_version("main:1"))
    with pytest.raises(UnservableVersion, match="versions that share sessions need equal ones"):
        served.serve(made_version("main:2", game="connect_four"))
    assert names(served.cast("a", "")) == ["main:1", "main:1"]


def test_the_game_plays_seats_that_are_not_served() -> None:
    served = director(seats=[0])
    served.serve(made_version("main:1"))
    assert [seat.model is None for seat in served.cast("a", "").seats] == [False, True]
    with pytest.raises(ValueError, match="seats 0 to 1"):
        director(seats=[2]).serve(made_version("main:1"))


def test_the_canary_gets_its_share() -> None:
    served = director()
    served.serve(made_version("main:1"))
    served.serve_canary(made_version("main:2", seed=2), 0.25)
    casts = [served.cast(str(number), "") for number in range(2_000)]
    assert 430 < sum(names(cast)[0] == "main:2" for cast in casts) < 570
    assert served.share == 0.25
    served.serve_canary(None)
    assert {names(served.cast("a", ""))[0] for _ in range(50)} == {"main:1"} and served.share == 0


def test_results_of_both_versions_are_compared_pair_by_pair() -> None:
    served = director()
    served.serve(made_version("main:1"))
    served.serve_canary(made_version("main:2", seed=2), 0.5)
    casts = [served.cast(str(number), "") for number in range(200)]
    for cast in casts:
        end(served, cast, 1.0 if names(cast)[0] == "main:2" else -1.0)
    (report,) = served.take_reports()
    assert (report.champion_version_id, report.canary_version_id) == ("main:1", "main:2")
    canaries = sum(names(cast)[0] == "main:2" for cast in casts)
    assert (report.canary_sessions, report.canary_returns) == (canaries, canaries)
    assert (report.losses, report.draws, report.wins) == (0, 0, min(canaries, 200 - canaries))
    assert served.take_reports() == []


def test_results_of_sessions_that_outlive_a_promotion_belong_to_the_versions_they_began_with() -> None:
    served = director()
    served.serve(made_version("main:1"))
    served.serve_canary(made_version("main:2", seed=2), 1.0)
    cast = served.cast("a", "")
    served.serve(made_version("main:3", seed=3))
    assert served.take_reports() == []
    end(served, cast, 1.0)
    (report,) = served.take_reports()
    assert (report.champion_version_id, report.canary_version_id) == ("main:1", "main:2")


def test_a_game_of_a_version_against_itself_says_nothing_about_it() -> None:
    served = director()
    served.serve(made_version("main:1"))
    served.serve_canary(made_version("main:2", seed=2), 1.0)
    end(served, served.cast("a", ""), 1.0, played=(0, 1))
    assert served.take_reports() == [] and served.not_compared == 1


def test_a_canary_that_was_promoted_is_compared_no_more() -> None:
    served = director()
    served.serve(made_version("main:2", seed=2))
    served.serve_canary(made_version("main:2", seed=2), 0.5)
    end(served, served.cast("a", ""), 1.0)
    assert served.take_reports() == []


def test_sessions_are_counted_by_version_and_outcome() -> None:
    served = director()
    served.serve(made_version("main:1"))
    first, second = served.cast("a", ""), served.cast("b", "")
    end(served, first, 1.0)
    served.aborted(second, "b", "it fell silent")
    assert dict(served.sessions) == {("main:1", "started"): 2, ("main:1", "finished"): 1, ("main:1", "aborted"): 1}
