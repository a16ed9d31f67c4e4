"""What a person at the page is answered, without Temporal in between."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save as save_tensors
from temporalio.exceptions import ApplicationError

from orchestrator.catalog import Component, Kind
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.interactive import (
    ActionNumber,
    ComponentCheck,
    ComponentVerdict,
    ImportWeights,
    MoveRequest,
    NameMoves,
    ReplayRequest,
)
from orchestrator.contracts.play import Contender
from orchestrator.contracts.trials import InitialWeightsRequest
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.code_importing import archive_store, import_archives_from
from workers.activities.interactive import InteractiveActivities
from workers.activities.training import WeightsActivities
from workers.algorithms.building import fresh_weights
from workers.checkpoints import Checkpoint, load, save
from workers.games.names import make_game
from workers.games.teams import ask_for_teams
from workers.matches import replays

TIC_TAC_TOE = Component(id="tic_tac_toe")
CONNECT_FOUR = Component(id="connect_four")
MODEL = Component(id="mlp", options={"hidden": [8]})
RANDOM = Contender(version="v", player="p", bot="random")


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path))


@pytest.fixture
def answers(store: ArtifactStore) -> InteractiveActivities:
    return InteractiveActivities(store)


def test_a_replay_shows_every_position_and_numbers_the_moves(answers: InteractiveActivities) -> None:
    shown = answers.render_replay(ReplayRequest(game=CONNECT_FOUR, seed=1, moves=[3, 2, 3, 2, 3, 2, 3]))
    assert [position.ply for position in shown.positions] == list(range(8))
    assert shown.positions[-1].done and shown.positions[-1].returns == [1.0, -1.0]
    assert shown.notation.startswith("1. ") and "4. " in shown.notation
    assert all(position.svg.startswith("<svg") for position in shown.positions)


def test_a_version_annotates_each_decision(answers: InteractiveActivities, store: ArtifactStore) -> None:
    request = InitialWeightsRequest(trial="t", game=CONNECT_FOUR, model=MODEL, seed=1)
    checkpoint = WeightsActivities(store).make_initial_weights(request)
    annotator = Contender(version="v", player="p", checkpoint=checkpoint)
    shown = answers.render_replay(ReplayRequest(game=CONNECT_FOUR, seed=1, moves=[3, 2], annotator=annotator))
    first = shown.positions[0]
    assert first.value is not None
    assert sum(candidate.probability or 0 for candidate in first.legal[0]) == pytest.approx(1, abs=1e-5)


def test_a_long_game_comes_in_parts_that_temporal_takes(answers: InteractiveActivities) -> None:
    slimes = Component(id="slime_volley")
    table, moves, done = make_game("slime_volley", 1), list[int](), False
    table.auto_reset = False
    table.reset(np.array([1], np.uint64))
    draws = np.random.default_rng(1)
    while not done:
        actions = draws.integers(0, table.spec.actions, 2)
        moves += actions.tolist()
        done = bool(table.step(actions).done[0])
    plies: list[int] = []
    sizes: list[int] = []
    first: int | None = 0
    while first is not None:
        part = answers.render_replay(ReplayRequest(game=slimes, seed=1, moves=moves, first=first))
        plies += [position.ply for position in part.positions]
        sizes.append(len(json.dumps(asdict(part))))
        assert all(position.svg for position in part.positions)
        assert bool(part.notation) == (part.next is None), "the notation comes with the last moves"
        first = part.next
    assert plies == list(range(len(moves) // 2 + 1)) and part.positions[-1].done
    assert sum(sizes) > 2_000_000 > 1.5 * max(sizes), "more than a message holds, in parts with room for annotations"
    with pytest.raises(ApplicationError, match="no position 9999"):
        answers.render_replay(ReplayRequest(game=CONNECT_FOUR, seed=1, moves=[3], first=9999))


def test_a_part_is_annotated_and_searched_as_in_the_whole_game(
    answers: InteractiveActivities, version: Contender, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ReplayRequest(game=CONNECT_FOUR, seed=1, moves=[3, 2, 3, 2, 3, 2, 3], annotator=version)
    whole = answers.render_replay(request)
    assert answers.render_replay(replace(request, first=5)).positions == whole.positions[5:]
    monkeypatch.setattr(replays, "MOST_SEARCHED", 3)
    part = answers.render_replay(replace(request, search=8, first=2))
    assert [each.ply for each in part.positions] == [2, 3, 4] and part.next == 5
    assert all(each.searched_value is not None for each in part.positions)


def test_moves_are_named_as_the_board_names_them(answers: InteractiveActivities) -> None:
    named = answers.name_moves(NameMoves(game=CONNECT_FOUR, openings=[[3, 3], [], [0]], seeds=[1, 2, 3]))
    assert named.openings == [["4", "4"], [], ["1"]]
    dealt = answers.name_moves(NameMoves(game=Component(id="kuhn_poker"), openings=[[1]], seeds=[1]))
    assert dealt.openings == [["bet"]]


@pytest.fixture
def version(store: ArtifactStore) -> Iterator[Contender]:
    """A version of connect four, in the store that bots that search read from."""
    before = archive_store()
    import_archives_from(store)
    request = InitialWeightsRequest(trial="t", game=CONNECT_FOUR, model=MODEL, seed=1)
    yield Contender(version="v", player="p", checkpoint=WeightsActivities(store).make_initial_weights(request))
    if before is not None:
        import_archives_from(before)


def test_a_search_annotates_beside_the_network(answers: InteractiveActivities, version: Contender) -> None:
    won_next = [3, 2, 3, 2, 3, 2, 3]
    request = ReplayRequest(game=CONNECT_FOUR, seed=1, moves=won_next, annotator=version, search=200)
    last = answers.render_replay(request).positions[6]
    found = {candidate.action: candidate.searched or 0.0 for candidate in last.legal[0]}
    assert max(found, key=lambda action: found[action]) == 3 and sum(found.values()) == pytest.approx(1, abs=1e-4)
    assert last.searched_value is not None and last.value is not None and last.searched_value > last.value
    plain = answers.render_replay(replace(request, search=None)).positions[6]
    assert plain.searched_value is None and plain.legal[0][0].searched is None
    kuhn = ReplayRequest(game=Component(id="kuhn_poker"), seed=1, moves=[0, 0], annotator=version, search=8)
    with pytest.raises(ApplicationError):
        answers.render_replay(kuhn)


def test_an_opponent_searches_where_the_request_says_so(answers: InteractiveActivities, version: Contender) -> None:
    request = MoveRequest(
        game=CONNECT_FOUR, seed=1, moves=[3, 2, 3, 2, 3], person=0, opponent=version, search=200, sampled=False
    )
    answer = answers.choose_move(request)
    assert answer.answered == [3] and answer.search == 200, "it stops three in a line"


def test_a_person_plays_a_game_to_its_end(answers: InteractiveActivities) -> None:
    moves: list[int] = []
    for _ in range(9):
        look = answers.choose_move(MoveRequest(game=TIC_TAC_TOE, seed=4, moves=moves, person=1, opponent=RANDOM))
        moves = look.moves
        if look.position.done:
            break
        assert look.position.seats == [1], "it is the person's turn"
        action = look.position.legal[0][0].action
        after = answers.choose_move(
            MoveRequest(game=TIC_TAC_TOE, seed=4, moves=moves, person=1, opponent=RANDOM, action=action)
        )
        assert after.moves[: len(moves) + 1] == [*moves, action]
        moves = after.moves
    assert look.position.done or after.position.done


@pytest.mark.parametrize(
    ("game", "sampled"), [("tic_tac_toe", False), ("connect_four", False), ("kuhn_poker", True), ("soccer", True)]
)
def test_the_best_move_is_played_unless_it_must_not_be_foreseen(
    answers: InteractiveActivities, game: str, sampled: bool
) -> None:
    request = MoveRequest(game=Component(id=game), seed=1, moves=[], person=0, opponent=RANDOM, sampled=None)
    assert answers.choose_move(request).sampled is sampled
    assert answers.choose_move(replace(request, sampled=not sampled)).sampled is not sampled, "the request may say so"


def test_a_person_plays_on_from_a_recorded_position(answers: InteractiveActivities) -> None:
    request = MoveRequest(game=CONNECT_FOUR, seed=1, moves=[3, 2, 3], person=0, opponent=RANDOM)
    begun = answers.choose_move(request)
    assert begun.moves[:3] == [3, 2, 3] and len(begun.answered) == 1 and not begun.position.simultaneous
    with pytest.raises(ApplicationError, match="connect_four has no seat 2; its seats are 0 to 1"):
        answers.choose_move(replace(request, person=2))
    with pytest.raises(ApplicationError, match="the game is over"):
        answers.choose_move(replace(request, moves=[3, 2, 3, 2, 3, 2, 3, 2]))
    halfway = replace(request, game=Component(id="soccer"), moves=[0, 0, 0, 0, 1])
    with pytest.raises(ApplicationError, match="5 actions end in the middle of a move, in which 4 are made"):
        answers.choose_move(halfway)


def test_both_sides_choose_at_once_where_the_game_says_so(answers: InteractiveActivities) -> None:
    game = Component(id="rock_paper_scissors")
    paper = Contender(version="v", player="p", bot="always-paper")
    answer = answers.choose_move(MoveRequest(game=game, seed=1, moves=[], person=0, opponent=paper, action=2))
    assert answer.answered == [1] and answer.position.done
    assert answer.position.returns == [1.0, -1.0], "scissors cut paper"


TUG = Component(id="pettingzoo_parallel", options={"env": "tests.unit.games.environments:Tug", "teams": "each"})


def robot(actions: str) -> Component:
    options = {"env": "tests.unit.games.environments:Robot", "options": {"actions": actions}, "max_steps": 3}
    return Component(id="gymnasium", options=options)


def test_a_person_types_the_numbers_of_an_action(answers: InteractiveActivities) -> None:
    look = answers.choose_move(MoveRequest(game=TUG, seed=4, moves=[], person=1, opponent=RANDOM))
    assert look.position.numbers == [ActionNumber(low=0.0, high=1.0, whole=False)]
    while not look.position.done:
        pull = MoveRequest(game=TUG, seed=4, moves=look.moves, person=1, opponent=RANDOM, numbers=[1.0])
        look = answers.choose_move(pull)
    assert look.position.ply == 4 and look.position.returns == [-1.0, 1.0], "nobody pulls harder than 1"
    assert look.position.numbers == [ActionNumber(low=0.0, high=1.0, whole=False)]


@pytest.mark.parametrize(
    ("actions", "numbers", "paid"),
    [("several", [1, 2], 2.0), ("binary", [1, 0, 1], 2.0), ("box", [-1.0, 3.5], 2.5), ("nested", [0.5, -0.5, 1], 1.0)],
)
def test_actions_of_every_space_can_be_typed(
    answers: InteractiveActivities, actions: str, numbers: list[float], paid: float
) -> None:
    request = MoveRequest(game=robot(actions), seed=4, moves=[], person=0, opponent=RANDOM, numbers=numbers)
    answer = answers.choose_move(request)
    assert len(answer.moves) == len(answer.position.numbers) == len(numbers)
    assert answer.position.returns == [paid], "one-hot choices count 1 each"


@pytest.mark.parametrize(
    ("actions", "numbers", "words"),
    [
        (
            "several",
            [1, 3],
            r"number 1 is 3; allowed there: 0, 1, 2|number 1 is 3; allowed there: whole numbers from 0 to 2",
        ),
        ("several", [0.5, 0], "number 0 is 0.5; allowed there: "),
        ("box", [0.0, 4.5], "number 1 is 4.5; allowed there: numbers from 0 to 4"),
        ("box", [0.0], "has 2 numbers, not 1"),
        ("box", None, "give their numbers"),
        ("discrete", [1], "give the number of one as action"),
    ],
)
def test_wrong_numbers_are_refused_with_what_is_allowed(
    answers: InteractiveActivities, actions: str, numbers: list[float] | None, words: str
) -> None:
    request = MoveRequest(
        game=robot(actions),
        seed=4,
        moves=[],
        person=0,
        opponent=RANDOM,
        action=None if numbers else 0,
        numbers=numbers,
    )
    with pytest.raises(ApplicationError, match=words) as refusal:
        answers.choose_move(request)
    assert refusal.value.type == Failure.BAD_INPUT and refusal.value.non_retryable


@pytest.mark.parametrize(("moves", "action", "words"), [([0], 0, "not legal"), ([0, 3, 1, 4, 2], 5, "over")])
def test_wrong_moves_are_refused_with_what_is_allowed(
    answers: InteractiveActivities, moves: list[int], action: int, words: str
) -> None:
    with pytest.raises(ApplicationError, match=words) as refusal:
        answers.choose_move(
            MoveRequest(game=TIC_TAC_TOE, seed=1, moves=moves, person=1, opponent=RANDOM, action=action)
        )
    assert refusal.value.type == Failure.BAD_INPUT and refusal.value.non_retryable


def test_plain_weights_become_a_checkpoint_or_are_refused(answers: InteractiveActivities, store: ArtifactStore) -> None:
    request = InitialWeightsRequest(trial="t", game=TIC_TAC_TOE, model=MODEL, seed=1)
    weights = dict(load(store, WeightsActivities(store).make_initial_weights(request)).weights)
    uploaded = store.put(save_tensors(weights), kind="upload")
    imported = answers.import_weights(ImportWeights(game=TIC_TAC_TOE, model=MODEL, uploaded=uploaded))
    assert all(torch.equal(value, weights[name]) for name, value in load(store, imported).weights.items())
    other = store.put(save_tensors({"wrong": torch.zeros(1)}), kind="upload")
    with pytest.raises(ApplicationError, match="wrong") as refusal:
        answers.import_weights(ImportWeights(game=TIC_TAC_TOE, model=MODEL, uploaded=other))
    assert refusal.value.type == Failure.BAD_INPUT


def test_a_component_that_ends_the_process_ends_nothing(
    answers: InteractiveActivities, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ends_all.py").write_text("import sys\nsys.exit(7)\n")
    monkeypatch.syspath_prepend(tmp_path)
    for kind in (Kind.GAME, Kind.MODEL):
        verdict = answers.check_component(ComponentCheck(kind=kind, component=Component(id="ends_all:Thing")))
        assert not verdict.usable and "SystemExit: 7" in verdict.problem


def test_a_users_component_is_looked_at(answers: InteractiveActivities) -> None:
    assert answers.check_component(ComponentCheck(kind=Kind.GAME, component=TIC_TAC_TOE)).usable
    missing = answers.check_component(ComponentCheck(kind=Kind.GAME, component=Component(id="nowhere:Game")))
    assert not missing.usable and "nowhere" in missing.problem


def test_the_memory_of_a_full_buffer_is_found_by_the_games_spaces(store: ArtifactStore) -> None:
    answers = InteractiveActivities(store, buffer_memory=1 << 30)

    def checked(kind: str, **options: object) -> ComponentVerdict:
        algorithm = Component(id=kind, options=options)
        asked = ComponentCheck(kind=Kind.ALGORITHM, component=algorithm, game=TIC_TAC_TOE, model=MODEL)
        return answers.check_component(asked)

    found = checked("examples.own_algorithm:Dqn", capacity=10**9)
    # 18 squares of float32, 9 legal moves, the action, the reward and the link to the next row
    assert found.usable and found.buffer_bytes == 10**9 * (18 * 4 + 9 + 8 + 4 + 8)
    assert found.buffer_memory == 1 << 30
    assert checked("ppo").buffer_bytes == 0


def test_an_algorithm_must_suit_the_trials_crews(answers: InteractiveActivities) -> None:
    own = Component(id="tests.unit.training.own_algorithms:Restarting")

    def checked(algorithm: Component, **crew: Any) -> ComponentVerdict:
        asked = ComponentCheck(kind=Kind.ALGORITHM, component=algorithm, game=TIC_TAC_TOE, model=MODEL, **crew)
        return answers.check_component(asked)

    assert checked(own).usable and checked(own, topology="split", tables=1).usable
    refused = checked(own, topology="asynchronous")
    assert not refused.usable and "its games begin anew with each update" in refused.problem
    es = Component(id="es", options={"population": 64})
    assert checked(es, tables=64).usable
    assert "the processes have 32 tables in all" in checked(es, tables=32).problem


SURVIVORS = {"env": "tests.unit.games.environments:Survivors"}


@pytest.mark.parametrize(
    ("game", "options", "asked"),
    [
        ("pettingzoo_parallel", SURVIVORS, "which of a, b, c play together"),
        ("openspiel", {"game": "leduc_poker(players=3)"}, "which of seat 0, seat 1, seat 2 play together"),
        ("openspiel", {"game": "tiny_hanabi"}, "Say teams: each .* teams: one"),
    ],
)
def test_a_new_trial_must_say_which_seats_play_together(
    answers: InteractiveActivities, store: ArtifactStore, game: str, options: dict[str, str], asked: str
) -> None:
    def check(**more: object) -> ComponentVerdict:
        component = Component(id=game, options={**options, **more})
        return answers.check_component(ComponentCheck(kind=Kind.GAME, component=component))

    verdict = check()
    assert not verdict.usable and re.search(asked, verdict.problem)
    assert check(teams="one").teams == [0] * len(check(teams="each").teams)
    assert "numbered [0, 7]" in check(teams=[0, 7, 7][: len(check(teams="each").teams)]).problem
    begun = Component(id=game, options=options)
    assert make_game(begun.id, 1, **begun.options).spec.team_count > 1, "a trial that began without teams goes on"
    request = InitialWeightsRequest(trial="t", game=begun, model=Component(id="mlp"), seed=1)
    with pytest.raises(ApplicationError, match="play together"):
        WeightsActivities(store).make_initial_weights(request)


def test_the_names_of_agents_suggest_their_teams() -> None:
    assert "such as teams: [0, 0, 1, 1], as their names suggest" in ask_for_teams(
        "g", ["red_0", "red_1", "blue_0", "blue_1"]
    )
    assert ask_for_teams("g", ["p_0", "p_1", "p_2", "p_3"]).endswith("such as teams: [0, 1, 0, 1]")
    assert ask_for_teams("g", ["north", "east", "south"]).endswith("such as teams: [0, 1, 2]")


PENDULUM = Component(id="gymnasium", options={"env": "Pendulum-v1"})


def together(game: Component, model: Component, algorithm: str) -> ComponentCheck:
    return ComponentCheck(kind=Kind.GAME, component=game, model=model, algorithm=Component(id=algorithm))


def test_a_game_is_tried_with_its_model_and_algorithm(
    answers: InteractiveActivities, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "examples")
    assert answers.check_component(together(PENDULUM, MODEL, "ppo")).usable
    board = answers.check_component(together(PENDULUM, Component(id="conv"), "ppo"))
    assert (board.usable, board.section) == (False, Kind.MODEL)
    assert "needs observations of (planes, height, width)" in board.problem
    greedy = answers.check_component(together(PENDULUM, MODEL, "own_algorithm:Dqn"))
    assert (greedy.usable, greedy.section) == (False, Kind.ALGORITHM)
    assert "cannot learn gymnasium/Pendulum-v1, whose actions are Box(-2.0, 2.0" in greedy.problem
    assert "Discrete actions only" in greedy.problem
    nothing = answers.check_component(together(Component(id="nowhere:Game"), MODEL, "ppo"))
    assert (nothing.usable, nothing.section) == (False, Kind.GAME)


def test_an_algorithm_says_which_actions_it_learns(answers: InteractiveActivities) -> None:
    picky = "tests.unit.training.own_algorithms:DiscreteOnly"
    assert answers.check_component(together(CONNECT_FOUR, MODEL, picky)).usable
    refused = answers.check_component(together(PENDULUM, MODEL, picky))
    assert (refused.usable, refused.section) == (False, Kind.ALGORITHM)
    assert "cannot learn gymnasium/Pendulum-v1, whose actions are Box(-2.0, 2.0" in refused.problem
    assert refused.problem.endswith("it learns Discrete and MultiDiscrete actions only")


def test_a_person_sees_a_replay_of_a_continuous_game(answers: InteractiveActivities) -> None:
    moves = np.array([0.5, -2.0], np.float32).view(np.int32).tolist()
    shown = answers.render_replay(ReplayRequest(game=PENDULUM, seed=1, moves=moves))
    assert [position.names for position in shown.positions] == [["(0.5)"], ["(-2)"], []]
    assert [position.actions for position in shown.positions] == [[moves[0]], [moves[1]], []]
    assert shown.positions[0].legal == [[]]


def test_two_agents_that_always_earn_the_same_are_asked_about(answers: InteractiveActivities) -> None:
    def check(**more: object) -> ComponentVerdict:
        options = {"env": "tests.unit.games.environments:Duet", **more}
        component = Component(id="pettingzoo_parallel", options=options)
        return answers.check_component(ComponentCheck(kind=Kind.GAME, component=component))

    asked = check()
    assert not asked.usable and "which of left, right play together" in asked.problem
    assert asked.problem.endswith("in random play all earned the same")
    assert check(teams="one").teams == [0, 0]
    assert check(teams="each").teams == check(options={"shared": False}).teams == [0, 1]


def test_weights_for_a_gate_of_three_teams_are_refused(store: ArtifactStore) -> None:
    relay = Component(id="tests.unit.training.samples:Relay", options={"teams": [0, 1, 2]})
    request = InitialWeightsRequest(trial="t", game=relay, model=MODEL, seed=1)
    weights = WeightsActivities(store)
    assert weights.make_initial_weights(request).size
    with pytest.raises(ApplicationError, match=r"league\.champion_gate: a gate compares two teams") as refusal:
        weights.make_initial_weights(replace(request, gated=True))
    assert refusal.value.type == Failure.BAD_INPUT


def test_weights_that_an_algorithm_cannot_start_from_are_refused(store: ArtifactStore) -> None:
    answers = InteractiveActivities(store)
    spec = make_game(TIC_TAC_TOE.id, 1).spec
    values = {name: Component(id=name, options={}) for name in ("dqn", "qrdqn")}
    refs = {}
    for name, algorithm in values.items():
        weights, acts_by = fresh_weights(MODEL, algorithm, spec, 0)
        refs[name] = save(store, Checkpoint(model=MODEL, game=TIC_TAC_TOE, weights=weights, algorithm=acts_by))
    for name, algorithm in values.items():
        for source, ref in refs.items():
            check = ComponentCheck(kind=Kind.ALGORITHM, component=algorithm, game=TIC_TAC_TOE, model=MODEL, weights=ref)
            verdict = answers.check_component(check)
            assert verdict.usable is (name == source), verdict.problem
            assert verdict.usable or "weights do not fit the model" in verdict.problem
            assert verdict.buffer_bytes == 0, "the check of the algorithm itself counts its buffer"
