"""What is wrong is said with its place, its value and what is allowed; all of it at once."""

from pathlib import Path

import pytest

from orchestrator.spec import InvalidTrial, Problem
from orchestrator.spec.reading.checking import check_algorithm, check_player, check_spec
from orchestrator.spec.reading.loading import load_trial_file, parse_trial

GAME = "game: {id: connect_four}\n"


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(InvalidTrial) as refused:
        parse_trial(text)
    return refused.value.problems


MANY = """\
project: Connect
seed: 7
game: {id: conect_four}
model:
  id: mlp
  hiden: [64]
algorithm: {id: ppo, gamma: 1.2}
league:
  preset: alphastar
  players:
    - {name: main, role: main}
    - {name: main, role: main_exploter}
    - name: random
      role: bot
  snapshot: {min_steps: 9_000_000, max_steps: 8_000_000}
budget: {wall_clock: 30}
strat: paused
"""


def test_everything_wrong_is_said_at_once_and_where_it_stands() -> None:
    found = [(problem.line, problem.column, problem.path, problem.value) for problem in problems_of(MANY)]
    assert found == [
        (1, 10, "project", "'Connect'"),
        (3, 12, "game.id", "'conect_four'"),
        (6, 3, "model.hiden", None),
        (7, 29, "algorithm.gamma", "1.2"),
        (12, 14, "league.players[1].name", "'main'"),
        (12, 26, "league.players[1].role", "'main_exploter'"),
        (13, 7, "league.players[2].bot", "null"),
        (15, 47, "league.snapshot.max_steps", "8000000"),
        (16, 22, "budget.wall_clock", "30"),
        (17, 1, "strat", None),
    ]


def test_a_message_names_what_is_allowed_and_what_was_likely_meant() -> None:
    said = {problem.path: problem.message for problem in problems_of(MANY)}
    assert "did you mean 'connect_four'?" in said["game.id"]
    assert "tic_tac_toe" in said["game.id"]
    allowed = "id, normalise, head, hidden, activation"
    assert said["model.hiden"] == f"no such option, did you mean 'hidden'? Allowed: {allowed}"
    assert said["league.players[1].role"] == (
        "must be one of main, main_exploiter, league_exploiter, historical, bot; did you mean 'main_exploiter'?"
    )
    assert "did you mean 'start'?" in said["strat"]


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("seed: 1", "game", "is missing: what is played"),
        ("game: connect_four", "game", "must be a mapping"),
        ("game: {size: 3}", "game.id", "is missing"),
        ("game: {id: openspiel}", "game.game", "is missing: OpenSpiel's name"),
        (GAME + "seed: true", "seed", "must be a whole number"),
        (GAME + "seed: '7'", "seed", "must be a whole number"),
        (GAME + "seed: -1", "seed", "must be greater than or equal to 0"),
        (GAME + "model: {hidden: []}", "model.hidden", "at least 1"),
        (GAME + "algorithm: {learning_rate: 0}", "algorithm.learning_rate", "must be greater than 0"),
        (GAME + "algorithm: {clip: 1e999}", "algorithm.clip", "must be a finite number"),
        (GAME + "algorithm: {normalise_advantages: yes}", "algorithm.normalise_advantages", "must be true or false"),
        (GAME + "league: {players: {name: main}}", "league.players", "must be a list"),
        (GAME + "league: {preset: pfspp}", "league.preset", "did you mean 'pfsp'?"),
        (GAME + "league: {champion_gate: {elo0: 40}}", "league.champion_gate.elo1", "greater than elo0 (40)"),
        (GAME + "league: {champion_gate: {alpha: 0.5}}", "league.champion_gate.alpha", "less than 0.5"),
        (GAME + "league: {snapshot: {win_rate: 70}}", "league.snapshot.win_rate", "less than or equal to 1"),
        (
            GAME + "league: {preset: alphastar, matchmaking: {pfsp_share: 0.9}}",
            "league.matchmaking.verification_share",
            "must not exceed 1 together",
        ),
        (GAME + "generation: {rollout_actors: 3, trainers: 2}", "generation.trainers", "evenly"),
        (GAME + "budget: {}", "budget", "at least one of steps, wall_clock, until"),
        (GAME + "budget: {wall_clock: 0s}", "budget.wall_clock", "from 1s to 366d"),
        (GAME + "budget: {wall_clock: soon}", "budget.wall_clock", "as 90s, 30m, 2h"),
        (GAME + "budget: {until: {opponent: mtcs-100}}", "budget.until.opponent", "did you mean"),
        (GAME + "evaluation: {schedule: nightly}", "evaluation.schedule", "five fields"),
        (GAME + "evaluation: {schedule: '0 25 * * *'}", "evaluation.schedule", "numbers from 0 to 23"),
        (GAME + "evaluation: {schedule: '*/0 3 * * *'}", "evaluation.schedule", "minute '*/0'"),
        (GAME + "evaluation: {schedule: '9-3 3 * * *'}", "evaluation.schedule", "minute '9-3'"),
        (GAME + "start: now", "start", "must be one of running, paused"),
        (GAME + "start: !!binary running", "start", "the tag !!binary has no meaning here"),
        (GAME + "seed: 1\nseed: 2", "seed", "given twice; first at line 2, column 1"),
        (GAME + "? [1, 2]\n: 3", "", "the key must be a name"),
        ("- 1", "", "must be a mapping"),
        ("", "", "the file is empty"),
        ("game: [1", "", "not valid YAML"),
        ("game: {id: connect_four}\n---\nseed: 1", "", "a single document"),
        ("seed: \x07", "", r"the character '\x07' is not allowed"),
        ("a: &a [*a]", "", "the alias *a stands within what it names"),
        ("[" * 5_000, "", "nested too deeply"),
        ("x" * 1_000_001, "", "characters are too many"),
    ],
)
def test_each_mistake_is_one_problem_at_its_path(text: str, path: str, words: str) -> None:
    (problem,) = problems_of(text)
    assert problem.path == path
    assert words in problem.message
    assert problem.line is not None


@pytest.mark.parametrize("line", ["0 3 * * *", "*/15 0-6 1,15 * 0-7", "5/10 2 * 12 5"])
def test_schedules_that_are_right(line: str) -> None:
    assert parse_trial(GAME + f"evaluation: {{schedule: '{line}'}}").evaluation.schedule == line


def test_a_few_lines_cannot_stand_for_billions_of_values() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    (problem,) = problems_of(bomb)
    assert "too large: 50000 values" in problem.message


def test_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "league.yaml"
    path.write_text("game: {id: connect_four}\nstart: now\n")
    with pytest.raises(InvalidTrial) as refused:
        load_trial_file(path)
    expected = f"{path}:2:8: start = 'now': must be one of running, paused"
    assert str(refused.value) == expected


@pytest.mark.parametrize(("content", "words"), [(None, "No such file"), (b"\xff\xfe", "is not UTF-8 text (byte 0)")])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "league.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidTrial) as refused:
        load_trial_file(path)
    assert str(path) in str(refused.value)
    assert words in str(refused.value)


def test_a_spec_over_rest_has_paths_but_no_lines() -> None:
    with pytest.raises(InvalidTrial) as refused:
        check_spec({"game": {"id": "connect_four"}, "project": "x", "budget": {"steps": 0}})
    assert [(problem.path, problem.line) for problem in refused.value.problems] == [
        ("budget.steps", None),
        ("project", None),
    ]


def test_a_player_or_an_algorithm_alone_is_checked_alike() -> None:
    assert check_player({"name": "rival", "role": "bot", "bot": "mcts-50"}).bot == "mcts-50"
    with pytest.raises(InvalidTrial, match="unknown bot"):
        check_player({"name": "rival", "role": "bot", "bot": "mcts"})
    assert check_algorithm({"id": "ppo", "clip": 0.1}).component.options["clip"] == 0.1
    with pytest.raises(InvalidTrial, match=r"^entropy = -1: must be greater"):
        check_algorithm({"id": "ppo", "entropy": -1})
