"""Which names of a trial are code, and which are the catalog's."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.spec.code_names import code_in_trial, files_in_trial
from orchestrator.spec.reading.checking import check_spec


@pytest.mark.parametrize(
    "game",
    [
        {"id": "connect_four"},
        {"id": "openspiel", "game": "hex(board_size=7)"},
        {"id": "gymnasium", "env": "CartPole-v1", "options": {"render_mode": "ansi", "page": "http://localhost:80/"}},
        {"id": "gymnasium", "env": "FrozenLake-v1", "options": {"desc": ["SF", "HG"], "time": "12:30"}},
        {"id": "gymnasium", "env": "Ant-v5", "options": {"xml_file": "ant.xml"}, "variants": [{"a": 1}, {"a": 2}]},
        {"id": "pettingzoo_aec", "env": "classic/tictactoe_v3", "options": {"depth": [1, {"a": None}]}},
    ],
)
def test_names_of_the_catalog_are_not_code(game: dict[str, Any]) -> None:
    assert code_in_trial(check_spec({"game": game})) == []


@pytest.mark.parametrize(
    ("game", "field"),
    [
        ({"id": "openspiel", "game": "nfg_game(filename=/etc/x)"}, "game.game"),
        ({"id": "openspiel", "game": "misere(game=efg_game(FileName = x))"}, "game.game"),
        ({"id": "my_games:Nim", "rules": {"maker": "rules:make"}}, "game.id game.rules.maker"),
        ({"id": "gymnasium", "env": "module:Env-v0"}, "game.env"),
        ({"id": "gymnasium", "env": "A-v0", "variants": [{}, {"env_id": "evil:Env-v0"}]}, "game.variants[1].env_id"),
        ({"id": "pettingzoo_aec", "env": "a/b_v0", "variants": [{"x": "evil:make"}]}, "game.variants[0].x"),
        ({"id": "envpool", "env": "Pong-v5", "options": {"x": "evil:make"}}, "game.options.x"),
        (
            {"id": "gymnasium", "env": "a.b:c", "options": {"x": [{"y": "deep.er:Env-v1"}]}},
            "game.env game.options.x[0].y",
        ),
        (
            {"id": "gymnasium", "env": "GymV26Environment-v0", "variants": [{}, {"env_id": "antigravity:x"}]},
            "game.variants[1].env_id",
        ),
        (
            {"id": "pettingzoo_parallel", "env": "butterfly/pistonball_v6", "variants": [{"maker": "os:system"}]},
            "game.variants[0].maker",
        ),
        ({"id": "gymnasium", "env": "GymV26Environment-v0", "options": {"env_id": "this:1"}}, "game.options.env_id"),
        ({"id": "gymnasium", "env": "Ant-v5", "options": {"xml_file": "/etc/x.xml"}}, "game.options.xml_file"),
        ({"id": "gymnasium", "env": "Ant-v5", "options": {"xml_file": "a/../../x.xml"}}, "game.options.xml_file"),
        ({"id": "envpool", "env": "Pong-v5", "options": {"base_path": "~/x"}}, "game.options.base_path"),
    ],
)
def test_what_a_worker_would_import_or_read_is_code(game: dict[str, Any], field: str) -> None:
    assert " ".join(each.field for each in code_in_trial(check_spec({"game": game}))) == field


def test_algorithms_and_models_of_players_are_looked_into() -> None:
    players = [
        {"name": "main"},
        {"name": "other", "algorithm": {"id": "mine:Dqn"}, "model": {"id": "mine:Net", "rules": "rules:make"}},
    ]
    found = code_in_trial(
        check_spec({"game": {"id": "connect_four"}, "league": {"preset": "pfsp", "players": players}})
    )
    place = "league.players[1]"
    assert [each.field for each in found] == [f"{place}.model.id", f"{place}.model.rules", f"{place}.algorithm.id"]


def test_data_files_are_no_code_but_what_gives_data_is() -> None:
    names = ["/imports/games.npz", "games/*.npz", "../x.npz", "my_data:games"]
    algorithm = {"id": "bc", "dataset": names, "validation_dataset": ["held:out"]}
    players = [{"name": "main"}, {"name": "second", "algorithm": {"id": "iql", "dataset": ["more.npz"]}}]
    spec = check_spec(
        {"game": {"id": "connect_four"}, "algorithm": algorithm, "league": {"preset": "pfsp", "players": players}}
    )
    code = {each.field: each.name for each in code_in_trial(spec)}
    assert code == {"algorithm.dataset[3]": "my_data:games", "algorithm.validation_dataset[0]": "held:out"}
    files = {each.field: each.name for each in files_in_trial(spec)}
    assert files == {
        **{f"algorithm.dataset[{number}]": name for number, name in enumerate(names[:3])},
        "league.players[1].algorithm.dataset[0]": "more.npz",
    }
