"""Tournament files: what they may say, and what is said when they are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.spec import InvalidTrial
from orchestrator.spec.entrants import EntrantRule, Rule, parse_entrant
from orchestrator.spec.reading.tournament_loading import load_tournament_file
from orchestrator.spec.tournament import TournamentFile, TournamentSpec, check_tournament

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "tournaments.md"
GAME = {"id": "tic_tac_toe"}
VERSION = "0198c5a2-7c31-7abc-8def-0123456789ab"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("latest", EntrantRule(rule=Rule.LATEST)),
        ("latest:main@*", EntrantRule(rule=Rule.LATEST, argument="main", trial="*")),
        ("snapshots@other-trial", EntrantRule(rule=Rule.SNAPSHOTS, trial="other-trial")),
        ("every:5/main", EntrantRule(rule=Rule.EVERY, argument="main", every=5)),
        ("bots", EntrantRule(rule=Rule.BOTS)),
        ("bot:mcts-100", EntrantRule(rule=Rule.BOT, argument="mcts-100")),
        ("bot:my_bots:Clever", EntrantRule(rule=Rule.BOT, argument="my_bots:Clever")),
        ("alias:champion", EntrantRule(rule=Rule.ALIAS, argument="champion")),
        (f"version:{VERSION.upper()}", EntrantRule(rule=Rule.VERSION, argument=VERSION)),
        (f"version:{VERSION} with search-200", EntrantRule(rule=Rule.VERSION, argument=VERSION, search=200)),
        ("latest:main@* with search-64", EntrantRule(rule=Rule.LATEST, argument="main", trial="*", search=64)),
    ],
)
def test_entrant_rules(text: str, rule: EntrantRule) -> None:
    assert parse_entrant(text) == rule


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("newest", "must be one of latest"),
        ("", "must be one of latest"),
        ("alias:", "an argument after the colon"),
        ("every:0", "whole number from 1 on"),
        ("every:x/main", "whole number from 1 on"),
        ("every:²", "whole number from 1 on"),
        ("bots:random", "bot:random"),
        ("bot:nobody", "unknown bot"),
        ("version:7", "not the id of a version"),
        ("latest@No Name", "a trial's name"),
        ("latest@", "a trial's name"),
        ("latest with search-0", "number of simulations up to 10,000"),
        ("alias:champion with search-many", "number of simulations up to 10,000"),
        ("bot:random with search-64", "only versions search"),
    ],
)
def test_wrong_entrant_rules_say_what_is_allowed(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_entrant(text)


@pytest.mark.parametrize(
    ("given", "path", "words"),
    [
        ({"game": GAME, "trial": "a"}, "game", "either a trial or a game"),
        ({}, "game", "either a trial or a game"),
        ({"game": GAME, "format": "swiss", "cycles": 2}, "cycles", "gauntlet and round_robin only"),
        ({"game": GAME, "format": "gauntlet"}, "challengers", "a gauntlet needs challengers"),
        ({"game": GAME, "games": 5}, "games", "even"),
        ({"game": GAME, "games": 2000}, "games", "1000"),
        ({"game": GAME, "format": "swis"}, "format", "swiss"),
        ({"game": GAME, "format": ["swiss"], "cycles": 2}, "format", "swiss"),
        ({"game": GAME, "entrants": ["bot:nobody"]}, "entrants[0]", "unknown bot"),
        ({"game": {"id": "chequers"}}, "game.id", "unknown game"),
        ({"game": GAME, "promote": {"error": 0.7}}, "promote.error", "less than 0.5"),
    ],
)
def test_wrong_tournaments_say_where_and_why(given: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(InvalidTrial) as refusal:
        check_tournament(given)
    (problem,) = refusal.value.problems
    assert problem.path == path and words in problem.message


def test_a_spec_survives_json_and_gives_its_format_what_it_takes() -> None:
    spec = check_tournament({"game": GAME, "format": "adaptive", "target_width": 80.0, "rounds": 9})
    assert check_tournament(spec.to_json()) == spec
    assert spec.options == {"games": 20, "target_width": 80.0, "rounds": 9}
    narrow = check_tournament({"game": GAME, "target_width": 80.0, "cycles": 9})
    assert narrow.options == {"games": 20, "cycles": 9}, "the store stops a round robin, not its rule"


def test_a_stored_tournament_is_read_again_though_its_plug_in_is_gone() -> None:
    stored = {"game": GAME, "entrants": ["bot:gone-since", "bot:random"]}
    assert TournamentSpec.model_validate(stored).entrants == ("bot:gone-since", "bot:random")


def test_a_file_says_every_problem_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "field.yaml"
    file.write_text("game: {id: tic_tac_toe}\nformat: swis\nentrants: [newest]\ngamess: 3\n")
    with pytest.raises(InvalidTrial) as refusal:
        load_tournament_file(file)
    assert [(problem.line, problem.column) for problem in refusal.value.problems] == [(2, 9), (3, 12), (4, 1)]
    file.write_text("project: nim\ngame: {id: tic_tac_toe}\n")
    loaded = load_tournament_file(file)
    assert loaded.project == "nim" and isinstance(loaded.spec, TournamentSpec)
    with pytest.raises(InvalidTrial, match="cannot be read"):
        load_tournament_file(tmp_path / "nowhere.yaml")


def test_every_option_and_rule_is_in_the_guide() -> None:
    text = GUIDE.read_text()
    assert [name for name in TournamentFile.model_fields if f"`{name}" not in text and f"\n{name}:" not in text] == []
    assert [rule for rule in Rule if f"`{rule}" not in text] == []


def test_an_entrant_may_be_a_mapping_with_its_search() -> None:
    spec = TournamentSpec.model_validate(
        {"game": GAME, "entrants": [{"version": VERSION, "search": 200}, {"alias": "champion"}, "bot:random"]}
    )
    assert spec.entrants == (f"version:{VERSION} with search-200", "alias:champion", "bot:random")
    with pytest.raises(ValueError, match="must be text"):
        TournamentSpec.model_validate({"game": GAME, "entrants": [{"search": 200}]})
