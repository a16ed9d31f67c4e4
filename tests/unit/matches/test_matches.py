"""Matches are paired, exact, complete and the same every time."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from league.types import Earned, VersionId
from orchestrator.catalog import Component, Kind, built_in_names, game_opening_plies
from orchestrator.contracts.play import Contender, PlayRequest
from orchestrator.storage.artifacts import ArtifactStore
from workers.activities.playing import match_task
from workers.checkpoints import load
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.games.replay import replay
from workers.inference.policy import Policy
from workers.matches.annotate import annotate
from workers.matches.game_queue import GameQueue
from workers.matches.host import MatchHost
from workers.matches.play import play_match
from workers.matches.task import BadMatch, Entrant, MatchStopped, MatchTask, Randomness

CONNECT_FOUR = Component(id="connect_four")
KUHN = Component(id="kuhn_poker")
THREE_SEATS = Component(id="openspiel", options={"game": "leduc_poker(players=3)"})
HEX = Component(id="openspiel", options={"game": "hex(board_size=9)"})
LEFT_OPEN = Randomness(opening_plies=None)
CART_POLE = Component(id="gymnasium", options={"env": "CartPole-v1"})


def bot(name: str) -> Entrant:
    return Entrant(id=VersionId(name), bot=name)


def match(game: Component, *entrants: Entrant, pairs: int = 20, seed: int = 5, **more: object) -> MatchTask:
    return MatchTask(game=game, entrants=entrants, pairs=pairs, seed=seed, **more)


@pytest.mark.parametrize("game", [CONNECT_FOUR, KUHN, THREE_SEATS, Component(id="rock_paper_scissors"), CART_POLE])
def test_every_game_replays_from_its_seed_and_moves(store: ArtifactStore, version, game: Component) -> None:
    result = play_match(match(game, version(game, 1), bot("random"), pairs=3), store=store)
    for record in result.games:
        *_, last = replay(lambda tables: make_game(game.id, tables, **game.options), record.seed, record.moves)
        assert last.done
        assert last.returns == pytest.approx(record.returns)
        assert last.ply == record.length


@pytest.mark.parametrize("sampled", [True, False])
def test_a_match_is_a_function_of_its_entrants_and_seeds(store: ArtifactStore, version, sampled: bool) -> None:
    task = match(CONNECT_FOUR, version(CONNECT_FOUR, 1), bot("random"), randomness=Randomness(sampled=sampled))
    again = play_match(task, store=store).games
    assert play_match(task, store=store).games == again
    assert play_match(replace(task, seed=6), store=store).games != again


def test_batching_changes_no_game(store: ArtifactStore) -> None:
    task = match(CONNECT_FOUR, bot("mcts-5"), bot("random"), pairs=12)
    together = play_match(task, store=store).games
    for tables in (1, 7):
        assert play_match(replace(task, tables=tables), store=store).games == together


def test_pairs_swap_seats_and_share_their_seed(store: ArtifactStore) -> None:
    result = play_match(match(CONNECT_FOUR, bot("random"), bot("first-legal")), store=store)
    assert [game.seating for game in result.games] == [(0, 1), (1, 0)] * 20
    seeds = [{game.seed for game in pair} for pair in result.pairs()]
    assert all(len(pair) == 1 for pair in seeds)
    assert len(set.union(*seeds)) == 20
    assert max(set.union(*seeds)) < 2**53


def test_one_policy_against_itself_scores_one_half_in_every_pair(store: ArtifactStore, version) -> None:
    same = version(CONNECT_FOUR, 1)
    result = play_match(match(CONNECT_FOUR, same, replace(same, id=VersionId("twin"))), store=store)
    assert result.pentanomial == (0, 0, 20, 0, 0)
    assert result.mean_score() == 0.5


def test_chance_is_shared_within_a_pair(store: ArtifactStore) -> None:
    """In Kuhn poker both bots never bet, so the higher card wins: whoever holds it, in both games of a pair."""
    result = play_match(match(KUHN, bot("always-0"), bot("always-0"), pairs=50), store=store)
    assert result.pentanomial == (0, 0, 50, 0, 0)
    assert {game.returns for game in result.games} == {(1.0, -1.0), (-1.0, 1.0)}


def test_pentanomial_counts_and_tallies_agree_with_the_games(store: ArtifactStore) -> None:
    result = play_match(
        match(Component(id="rock_paper_scissors"), bot("always-rock"), bot("random"), pairs=60), store=store
    )
    expected = [0] * 5
    for first, second in result.pairs():
        score = [0, 1, 2][1 + int(np.sign(first.returns[0]))] + [0, 1, 2][1 + int(np.sign(second.returns[1]))]
        expected[score] += 1
    assert result.pentanomial == tuple(expected)
    assert all(expected)
    by_seat = {tally.seat: tally for tally in result.tallies()}
    assert [by_seat[seat].games for seat in (0, 1)] == [60, 60]
    assert by_seat[1].wins == sum(game.returns[1] > 0 for game in result.games if game.seating == (1, 0))


def test_scores_and_sides_are_right(store: ArtifactStore) -> None:
    result = play_match(match(CONNECT_FOUR, bot("mcts-50"), bot("random"), pairs=10), store=store)
    assert result.mean_score(0) > 0.8
    assert result.mean_score(1) == pytest.approx(1 - result.mean_score(0))
    assert result.mean_return(0) > 0


def test_tallies_carry_what_both_sides_earned(store: ArtifactStore) -> None:
    result = play_match(match(KUHN, bot("always-1"), bot("random"), pairs=50), store=store)
    for tally in result.tallies():
        mine = [game.returns[tally.seat] for game in result.games if game.seat_of(0) == tally.seat]
        assert tally.earned == Earned(sum(mine), -sum(mine))
        assert tally.earned.own != tally.wins - tally.losses, "a bet that is called is worth two"


def test_three_seats_rotate_and_are_compared_by_final_order(store: ArtifactStore) -> None:
    two = play_match(match(THREE_SEATS, bot("first-legal"), bot("random"), pairs=4), store=store)
    assert [game.seating for game in two.games[:3]] == [(0, 1, 1), (1, 0, 1), (1, 1, 0)]
    assert two.pentanomial is None
    assert [tally.games for tally in two.tallies()] == [8, 8, 8]

    three = play_match(match(THREE_SEATS, bot("first-legal"), bot("random"), bot("always-1"), pairs=4), store=store)
    assert [game.seating for game in three.games[:3]] == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert sum(tally.games for tally in three.tallies()) == 3 * 12


def test_one_seat_counts_returns_not_wins(store: ArtifactStore) -> None:
    result = play_match(match(CART_POLE, bot("always-0"), bot("random"), pairs=3), store=store)
    assert [game.seating for game in result.games] == [(0,), (1,)] * 3
    assert result.tallies() == ()
    assert result.mean_score() is None
    assert result.mean_return(0) < result.mean_return(1)


def test_a_game_beyond_its_bound_is_refused(store: ArtifactStore) -> None:
    endless, rounds = Component(id="tests.unit.training.samples:Endless"), count()
    task = match(endless, bot("always-0"), bot("random"), pairs=1)
    with pytest.raises(BadGame, match="a game is longer than its max_steps, 4"):
        play_match(task, store=store, should_stop=lambda: next(rounds) > 20)


def test_random_openings_are_shared_within_a_pair_and_differ_between_pairs(store: ArtifactStore, version) -> None:
    randomness = Randomness(sampled=False, opening_plies=4)
    entrants = version(CONNECT_FOUR, 1), version(CONNECT_FOUR, 2)
    result = play_match(match(CONNECT_FOUR, *entrants, randomness=randomness), store=store)
    openings = [{game.moves[:4] for game in pair} for pair in result.pairs()]
    assert all(len(pair) == 1 for pair in openings)
    assert len(set.union(*openings)) > 15
    assert str(randomness) == "greedy, random openings of 4 plies"


@pytest.mark.parametrize(
    ("game", "plies"),
    [
        (CONNECT_FOUR, 4),
        (Component(id="tic_tac_toe"), 2),
        (HEX, 8),
        (Component(id="openspiel", options={"game": "dots_and_boxes"}), 2),
        (Component(id="openspiel", options={"game": "nim(pile_sizes=1;1)"}), 1),
        (Component(id="openspiel", options={"game": "pig"}), 0),
        (Component(id="openspiel", options={"game": "dark_hex(board_size=3)"}), 0),
        (KUHN, 0),
        (Component(id="rock_paper_scissors"), 0),
        (CART_POLE, 0),
    ],
    ids=lambda each: str(each.options or each.id) if isinstance(each, Component) else str(each),
)
def test_openings_suit_the_game(game: Component, plies: int) -> None:
    spec = make_game(game.id, 1, **game.options).spec
    assert Randomness(opening_plies=None).plies(spec) == plies
    assert game_opening_plies(game.id) in (plies, None), "the catalog says the same by name"
    MatchTask(game=game, entrants=(bot("random"), bot("random")), pairs=2, seed=1, randomness=LEFT_OPEN).check(spec)


def test_every_built_in_game_has_the_openings_that_the_catalog_says() -> None:
    adapters = {"openspiel", "gymnasium", "pettingzoo_aec", "pettingzoo_parallel", "envpool", "remote"}
    plain = set(built_in_names(Kind.GAME)) - adapters
    assert len(plain) >= 5
    for game in plain:
        assert Randomness(opening_plies=None).plies(make_game(game, 1).spec) == game_opening_plies(game)


def test_deterministic_bots_differ_from_pair_to_pair_by_openings_that_suit_the_game(store: ArtifactStore) -> None:
    def different(randomness: Randomness) -> int:
        result = play_match(match(HEX, bot("first-legal"), bot("first-legal"), randomness=randomness), store=store)
        assert {game.opening for game in result.games} == {randomness.opening_plies or 8 * (randomness is LEFT_OPEN)}
        return len({(game.seating, game.moves) for game in result.games})

    assert different(LEFT_OPEN) == 40
    assert different(Randomness()) == 2
    assert str(LEFT_OPEN) == "sampled, random openings where they suit the game"


def test_openings_grow_shorter_where_each_would_end_the_game(store: ArtifactStore) -> None:
    """The game's bound is 20 moves, and its games last for three."""
    short = Component(id="tests.unit.training.samples:Countdown", options={"length": 3, "bound": 20})
    task = match(short, bot("random"), bot("first-legal"), pairs=4, randomness=Randomness(opening_plies=8))
    result = play_match(task, store=store)
    assert {(game.opening, game.length) for game in result.games} == {(2, 3)}
    assert all(len({game.seed for game in pair}) == 1 for pair in result.pairs())


@pytest.mark.parametrize("game", [CONNECT_FOUR, HEX], ids=["connect_four", "hex"])
def test_rating_games_that_would_repeat_one_game_are_refused(game: Component, store: ArtifactStore) -> None:
    host = MatchHost(store.root_url)
    sides = [Contender(version=name, player=name, bot=name) for name in ("first-legal", "always-0")]
    asked = PlayRequest(trial="", occasion="", game=game, contenders=sides, pairs=2, seed=1, sampled=False)
    with pytest.raises(BadMatch, match="leave opening_plies out"):
        host.play(match_task(asked))
    for varied in ({"sampled": True}, {"opening_plies": 2}, {"opening_plies": None}, {"pairs": 1}, {"game": KUHN}):
        assert host.play(match_task(replace(asked, **varied))).games


def test_an_opening_that_ends_the_game_is_drawn_again(store: ArtifactStore) -> None:
    """One pile of two stones: half of all first moves take both and end the game at once."""
    nim = Component(id="openspiel", options={"game": "nim(pile_sizes=2;0)"})
    task = match(nim, bot("random"), bot("random"), pairs=60, randomness=Randomness(opening_plies=1))
    result = play_match(task, store=store)
    scheduled = [int(seed) for seed in GameQueue(task, make_game(nim.id, 1, **nim.options).spec).seeds]
    redrawn = [game.seed != seed for game, seed in zip(result.games, scheduled, strict=True)]
    assert 20 < sum(redrawn) < 100
    assert all(game.length == 2 and len(game.moves) == 2 for game in result.games)
    assert all(len({game.seed for game in pair}) == 1 for pair in result.pairs())


def test_recurrent_policies_remember_their_game_only(store: ArtifactStore, version) -> None:
    gru = version(KUHN, 3, Component(id="gru", options={"hidden": 8}))
    task = match(KUHN, gru, bot("random"), pairs=40, tables=8)
    few = play_match(task, store=store).games
    assert play_match(replace(task, tables=80), store=store).games == few


def test_annotations_follow_the_record(store: ArtifactStore, version) -> None:
    entrant = version(CONNECT_FOUR, 1)
    task = match(CONNECT_FOUR, entrant, bot("random"), pairs=1, randomness=Randomness(sampled=False))
    record = play_match(task, store=store).games[0]
    policy = Policy.from_checkpoint(load(store, entrant.checkpoint), make_game("connect_four", 1).spec)
    annotations = annotate(CONNECT_FOUR, record.seed, record.moves, policy)
    assert [annotation.action for annotation in annotations] == list(record.moves)
    assert all(sum(annotation.probabilities) == pytest.approx(1) for annotation in annotations)
    mine = [annotation for annotation in annotations if annotation.seat == record.seat_of(0)]
    assert all(int(np.argmax(annotation.probabilities)) == annotation.action for annotation in mine)
    assert len({annotation.value for annotation in annotations}) > 1


def test_a_match_that_is_told_to_stop_has_no_result(store: ArtifactStore) -> None:
    calls = count()
    with pytest.raises(MatchStopped, match="of 40 games"):
        play_match(match(CONNECT_FOUR, bot("random"), bot("random")), store=store, should_stop=lambda: next(calls) > 10)


def test_progress_ends_with_every_game(store: ArtifactStore) -> None:
    seen: list[tuple[int, int]] = []
    play_match(match(CONNECT_FOUR, bot("random"), bot("random")), store=store, progress=lambda *now: seen.append(now))
    assert seen[-1] == (40, 40)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize(
    ("game", "entrants", "more", "message"),
    [
        (CONNECT_FOUR, 3, {}, "takes 2 entrants, not 3"),
        (CART_POLE, 3, {}, "takes 1 or 2 entrants"),
        (KUHN, 2, {"randomness": Randomness(opening_plies=1)}, "let the policies sample"),
        (CONNECT_FOUR, 2, {"randomness": Randomness(opening_plies=22)}, "up to 21"),
    ],
)
def test_what_the_game_does_not_allow_is_refused(
    store: ArtifactStore, game: Component, entrants: int, more: dict[str, object], message: str
) -> None:
    with pytest.raises(BadMatch, match=message):
        play_match(match(game, *[bot("random")] * entrants, **more), store=store)


def test_bad_tasks_are_refused_at_once() -> None:
    with pytest.raises(BadMatch, match="either a checkpoint or a bot"):
        Entrant(id=VersionId("nobody"))
    with pytest.raises(BadMatch, match="at least 1"):
        match(CONNECT_FOUR, bot("random"), bot("random"), pairs=0)
    with pytest.raises(BadMatch, match="seed"):
        match(CONNECT_FOUR, bot("random"), bot("random"), seed=-1)
