"""What happens in a league, in words."""

from __future__ import annotations

from league.commentary import Look, Record, Seen, Story, comment
from league.types import Role

MAIN, EXPLOITER = Seen(role=Role.MAIN, generation=3), Seen(role=Role.MAIN_EXPLOITER, generation=2)
PLAYERS = {"main": MAIN, "main-exploiter": EXPLOITER, "random": Seen(role=Role.BOT)}


def look(records: dict[tuple[str, str], tuple[int, int]], **players: Seen) -> Look:
    """A look by wins and losses."""
    named = {name.replace("_", "-"): seen for name, seen in players.items()}
    played = {pair: Record(wins=wins, losses=losses) for pair, (wins, losses) in records.items()}
    return Look(players=PLAYERS | named, records=played)


def tell(*looks: Look) -> list[list[str]]:
    story, told = Story(), []
    for each in looks:
        story, sentences = comment(story, each)
        told.append(sentences)
    return told


def test_a_hole_is_found_and_closed_by_the_same_exploiter() -> None:
    found = look({("main-exploiter", "main"): (71, 29)})
    still = look({("main-exploiter", "main"): (71 + 60, 29 + 40)}, main=Seen(role=Role.MAIN, generation=4))
    closed = look({("main-exploiter", "main"): (131 + 40, 69 + 60)}, main=Seen(role=Role.MAIN, generation=5))
    assert tell(found, still, closed) == [
        ["main-exploiter found a hole in main: it wins 71%"],
        [],
        ["main closed it two generations later: it wins 60% against main-exploiter"],
    ]


def test_after_a_snapshot_it_is_the_snapshot_that_must_be_beaten() -> None:
    frozen = Seen(role=Role.HISTORICAL, parent="main-exploiter")
    later = Seen(role=Role.MAIN, generation=4)
    found = look({("main-exploiter", "main"): (80, 20)})
    # the exploiter starts anew and loses: that closes nothing
    reset = look({("main-exploiter", "main"): (80, 120)}, main_exploiter_1=frozen)
    met = look(
        {("main-exploiter", "main"): (80, 120), ("main", "main-exploiter-1"): (35, 30)},
        main_exploiter_1=frozen,
        main=later,
    )
    assert tell(found, reset, met)[1:] == [
        [],
        ["main closed it one generation later: it wins 54% against main-exploiter-1"],
    ]


def test_a_hole_that_opens_again_is_told_again() -> None:
    found = look({("main-exploiter", "main"): (71, 29)})
    closed = look({("main-exploiter", "main"): (101, 99)})
    again = look({("main-exploiter", "main"): (181, 119)})
    told = tell(found, closed, again)
    assert told[1] == ["main closed it within the same generation: it wins 70% against main-exploiter"]
    assert told[2] == ["main-exploiter found a hole in main: it wins 80%"]


def test_a_main_beats_bots_and_its_own_past_once_each() -> None:
    past = Seen(role=Role.HISTORICAL, parent="main")
    first = look({("main", "random"): (95, 5), ("main", "main-1"): (30, 30)}, main_1=past)
    second = look({("main", "random"): (195, 5), ("main", "main-1"): (100, 60)}, main_1=past)
    assert tell(first, second) == [
        ["main beats random: it wins 95%"],
        ["main beats its own past, main-1: it wins 70%"],
    ]


def test_few_games_and_even_results_say_nothing() -> None:
    assert tell(look({("main-exploiter", "main"): (30, 0)}), look({("main-exploiter", "main"): (60, 50)})) == [[], []]
    assert tell(look({})) == [[]]
