"""Which work a session belongs to, and what gamecores that ask are told."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from orchestrator.catalog import Component
from tests.unit.gateway.league_games import GAME
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.gateway.contract import Cast, Episode, Refused, SessionResult
from workers.gateway.league.demand import Contestant, Demand, GameOrder, OrderedGame
from workers.gateway.league.director import FLUSH_SECONDS, LeagueDirector
from workers.gateway.league.frames import Frame
from workers.gateway.league.work import Collection, OpenOrder

SPEC = make_game(GAME.id, 1, **GAME.options).spec
MODEL: Any = object()
NOTHING = Component(id="x")


def collection(
    sent: list[Frame], id: str = "c", name: str = "", window: int = 100, game: Component = GAME
) -> Collection:
    owner = np.array([[-1, 0], [0, -1], [-1, 1], [1, -1], [-1, -1]])
    players = [Contestant(name="a", bot="random"), Contestant(name="b", bot="outside-house")]
    demand = Demand(
        id=id, game=game, model=NOTHING, algorithm=NOTHING, seed=1, owner=owner, opponents=players, window=window
    )
    return Collection(demand, name, SPEC, None, sent.append, MODEL, [[MODEL] * 2, [None] * 2], [])


def order(sent: list[Frame], games: int, name: str = "") -> OpenOrder:
    players = [Contestant(name="a", bot="random"), Contestant(name="b", bot="random")]
    made = OpenOrder(GameOrder(id="o", game=GAME, entrants=players), name, SPEC, None, sent.append, [[MODEL] * 2] * 2)
    made.add([OrderedGame(game=number, seating=(0, 1), seed=number) for number in range(games)])
    return made


def result(session: str, **more: Any) -> SessionResult:
    return SessionResult(session, np.array([1.0, -1.0]), 5, **more)


def episode(session: str, rows: int) -> Episode:
    return Episode(session, 0, {"action": np.zeros(rows, np.int64), "reward": np.zeros(rows, np.float32)}, True)


def run(test: Callable[[LeagueDirector], Awaitable[None]]) -> None:
    async def main() -> None:
        await test(LeagueDirector())

    asyncio.run(main())


def test_sessions_are_spread_over_matchups_and_seats() -> None:
    async def test(director: LeagueDirector) -> None:
        director.open(collection([]))
        casts = [director.cast(f"s{number}", "") for number in range(10)]
        assert [sum(cast.key.slot == slot for cast in casts) for slot in range(5)] == [2] * 5
        assert len({cast.seed for cast in casts}) == 10
        outside = next(cast for cast in casts if cast.key.slot == 2)
        assert [(seat.model is None, seat.name) for seat in outside.seats] == [(False, "learner"), (True, "house")]
        assert [seat.learning for seat in outside.seats] == [True, False]

    run(test)


def test_experience_goes_before_its_result_and_beyond_the_window_is_dropped() -> None:
    async def test(director: LeagueDirector) -> None:
        sent: list[Frame] = []
        work = collection(sent, window=10)
        director.open(work)
        for number in range(4):
            cast = director.cast(f"s{number}", "")
            director.episode(cast, episode(f"s{number}", 6))
            director.finished(cast, result(f"s{number}"))
        await asyncio.sleep(3 * FLUSH_SECONDS)
        assert [frame.kind for frame in sent] == ["episodes", "results"]
        assert sent[0].arrays["lengths"].tolist() == [6, 6]
        assert (len(sent[1].fields["results"]), sent[1].fields["dropped"]) == (4, 12)
        work.taken(12)
        director.episode(director.cast("later", ""), episode("later", 6))
        await asyncio.sleep(3 * FLUSH_SECONDS)
        assert sent[2].kind == "episodes"

    run(test)


def test_a_result_of_somebody_else_is_none() -> None:
    async def test(director: LeagueDirector) -> None:
        sent: list[Frame] = []
        director.open(collection(sent))
        casts: dict[int, tuple[str, Cast]] = {}
        for number in range(5):
            cast = director.cast(f"s{number}", "")
            casts[cast.key.slot] = f"s{number}", cast
        for slot, outside in ((0, {1: "somebody"}), (2, {1: "house"}), (3, {0: "another"})):
            session, cast = casts[slot]
            director.finished(cast, result(session, outside=outside))
        await asyncio.sleep(3 * FLUSH_SECONDS)
        assert [each["matchup"] for each in sent[0].fields["results"]] == [2]
        assert "which was not its to play" in sent[0].fields["aborted"][0]
        assert "planned was 'house'" in sent[0].fields["aborted"][1]

    run(test)


def test_matches_and_training_take_turns() -> None:
    async def test(director: LeagueDirector) -> None:
        director.open(collection([]))
        director.open(order([], 3))
        purposes = [director.cast(f"s{number}", "").info["purpose"] for number in range(6)]
        assert purposes == ["match", "training", "match", "training", "match", "training"]

    run(test)


def test_a_gamecore_that_asks_waits_for_a_game_and_gets_a_ticket_for_it() -> None:
    async def test(director: LeagueDirector) -> None:
        answers: list[Any] = []
        director.next_game(5, answers.append)
        withdrawn = director.next_game(5, answers.append)
        withdrawn()
        assert not answers and director.status("")["waiting"] == 1
        sent: list[Frame] = []
        director.open(order(sent, 1))
        (told,) = answers
        assert (told["purpose"], told["seed"]) == ("match", 0)
        with pytest.raises(Refused, match="nothing to play"):
            director.cast("s", "")
        cast = director.cast("s", told["ticket"])
        director.finished(cast, result("s"))
        assert [frame.kind for frame in sent] == ["begun", "played"]

    run(test)


def test_a_gamecore_is_told_when_there_is_nothing_to_play() -> None:
    async def test(director: LeagueDirector) -> None:
        answers: list[Any] = []
        director.next_game(0.01, answers.append)
        await asyncio.sleep(0.05)
        assert answers == [None]
        with pytest.raises(Refused, match="nothing to play") as refused:
            director.cast("s", "")
        assert (refused.value.status, refused.value.retry_after) == (503, 0.5)

    run(test)


def test_of_games_with_names_the_ticket_says_which() -> None:
    async def test(director: LeagueDirector) -> None:
        director.open(collection([], "c", "chess"))
        director.open(collection([], "g", "go"))
        with pytest.raises(Refused, match="Open: 'chess', 'go'"):
            director.cast("s", "")
        assert director.cast("s", "go").key.work.id == "g"
        assert director.cast("t", "c").key.work.id == "c"

    run(test)


@pytest.mark.parametrize("others", [("chess",), ("chess", "go")])
def test_a_gamecore_that_names_no_game_gets_none_with_a_name(others: tuple[str, ...]) -> None:
    async def test(director: LeagueDirector) -> None:
        answers: list[Any] = []
        director.next_game(5, answers.append)
        for name in others:
            director.open(collection([], name, name))
        director.open(order([], 3, "chess"))
        director.next_game(5, answers.append)
        with pytest.raises(Refused, match="Open: 'chess'") as refused:
            director.cast("s", "")
        assert (refused.value.status, answers) == (503, []), "it may wait, and is told why"
        assert director.status("chess")["waiting"] == 0 and director.status("chess")["seconds"] is None
        director.open(collection([], "unnamed"))
        assert [told["ticket"] for told in answers] == ["unnamed", "unnamed"]
        assert director.cast("s", "").key.work.id == "unnamed"

    run(test)


def test_a_gamecore_gets_games_of_the_name_it_says_only() -> None:
    async def test(director: LeagueDirector) -> None:
        answers: list[Any] = []
        director.next_game(5, answers.append, "go")
        director.open(collection([], "c"))
        director.open(order([], 1, "chess"))
        assert answers == []
        with pytest.raises(Refused, match="nothing to play"):
            director.cast("s", "go")
        director.open(collection([], "g", "go"))
        assert [told["game"] for told in answers] == ["go"]

    run(test)


def test_an_overview_names_what_is_played_and_what_waits() -> None:
    async def test(director: LeagueDirector) -> None:
        director.open(collection([], "c", "chess"))
        director.open(order([], 3, "chess"))
        director.cast("s", "c")
        director.next_game(5, lambda told: None, "go")
        chess, go = director.overview()
        assert (chess["name"], chess["sessions"], chess["generations"], chess["games"]) == ("chess", 1, 1, 3)
        assert chess["heard_seconds"] is not None and chess["gamecores_waiting"] == 0
        assert (go["name"], go["gamecores_waiting"], go["generations"], go["games"]) == ("go", 1, 0, 0)

    run(test)


def test_games_of_one_name_must_be_the_same() -> None:
    async def test(director: LeagueDirector) -> None:
        other = Component(id=GAME.id, options={**GAME.options, "agent": "another:Agent"})
        director.open(first := collection([], "c"))
        edited = Component(id=GAME.id, options={**GAME.options, "agent": f"lanista_code_{'a' * 64}.generic"})
        director.open(collection([], "same", game=edited))
        with pytest.raises(BadGame, match=r"another game without a name .* give the games names"):
            director.open(collection([], "d", game=other))
        director.open(collection([], "named", "go", game=other))
        assert director.find("d") is None
        for id in ("c", "same"):
            director.leave(director.find(id) or first)
        director.open(collection([], "d", game=other))

    run(test)


def test_what_ends_records_nothing_more() -> None:
    async def test(director: LeagueDirector) -> None:
        sent: list[Frame] = []
        withdrawn: list[str] = []
        director.withdraw = lambda chosen, reason: withdrawn.append(reason) or 0
        work = collection(sent)
        director.open(work)
        cast = director.cast("s", "")
        director.leave(work)
        assert withdrawn == []
        director.episode(cast, episode("s", 3))
        director.finished(cast, result("s"))
        director.open(again := collection(sent, "d"))
        director.cast("t", "")
        director.close(again, "the trainer is gone")
        await asyncio.sleep(3 * FLUSH_SECONDS)
        assert (sent, withdrawn) == ([], ["the trainer is gone"])

    run(test)
