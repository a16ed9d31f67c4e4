"""Whatever comes in, the answer is a trial or InvalidTrial; and what is a trial can be stored and read back."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.spec import InvalidTrial, Problem, TrialFile, TrialSpec
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.reading.loading import parse_trial
from orchestrator.spec.tournament import TournamentSpec, check_tournament

KEYS = sorted(
    {*TrialFile.model_fields, "id", "players", "preset", "name", "role", "bot", "steps", "until", "hidden", "x"}
)
WORDS = ["connect_four", "main", "bot", "alphastar", "random", "mcts-5", "30m", "a:b", "running", "0 3 * * *", "", "ü"]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=5)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
)
PLAYERS = st.lists(
    st.dictionaries(st.sampled_from(["name", "role", "bot", "weights"]), SCALARS, max_size=4), max_size=4
)


def refused(problems: tuple[Problem, ...]) -> None:
    assert problems
    for problem in problems:
        assert problem.message
        assert "<" not in problem.path  # the classes of a choice are nothing to be shown


@given(TREES)
def test_plain_values(data: Any) -> None:
    try:
        spec = check_spec(data)
    except InvalidTrial as error:
        refused(error.problems)
    else:
        assert TrialSpec.model_validate(spec.to_json()) == spec


@given(PLAYERS, st.sampled_from(["alphastar", "self_play", "my:rule", 3]), TREES)
def test_leagues(players: list[Any], preset: Any, matchmaking: Any) -> None:
    league = {"preset": preset, "players": players, "matchmaking": matchmaking}
    try:
        spec = check_spec({"game": {"id": "connect_four"}, "league": league})
    except InvalidTrial as error:
        refused(error.problems)
    else:
        assert TrialSpec.model_validate(spec.to_json()) == spec


@given(st.dictionaries(st.sampled_from(sorted(TournamentSpec.model_fields)), TREES, max_size=5))
def test_tournaments(data: dict[str, Any]) -> None:
    try:
        spec = check_tournament(data)
    except InvalidTrial as error:
        refused(error.problems)
    else:
        assert check_tournament(spec.model_dump(mode="json")) == spec


@given(st.text(alphabet=st.sampled_from("agme:id {}[]&*!-?|>'\"#,\n\t0_.x<%@`ü\x00\x85"), max_size=60))
def test_any_text(text: str) -> None:
    try:
        parse_trial(text)
    except InvalidTrial as error:
        assert all(problem.line and problem.column for problem in error.problems)
