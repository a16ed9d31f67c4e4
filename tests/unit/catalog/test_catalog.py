"""Names resolve without imports, unknown ones say what is allowed, and third parties join by entry points."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import catalog
from orchestrator.catalog import AmbiguousName, BrokenTarget, Kind, UnknownName
from workers.bots.names import make_bot
from workers.games.names import make_game


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed distribution with a game of its own, and a bot whose name is already taken."""
    folder = tmp_path / "hexgames-1.2.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: hexgames\nVersion: 1.2\n")
    (folder / "entry_points.txt").write_text(
        "[lanista.games]\nhex = hexgames:Hex\n\n[lanista.bots]\nrandom = hexgames:Random\n"
    )
    (tmp_path / "hexgames.py").write_text("class Hex: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    catalog._entries.cache_clear()
    yield tmp_path
    catalog._entries.cache_clear()
    sys.modules.pop("hexgames", None)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("random", {}),
        ("mcts-100", {"simulations": 100}),
        ("minimax", {}),
        ("minimax-random", {"ties": "random"}),
        ("minimax-0.3", {"ties": "random", "skill": 0.3}),
        ("mixed-0.5-0.25-0.25", {"probabilities": [0.5, 0.25, 0.25]}),
        ("always-rock", {"action": "rock"}),
    ],
)
def test_options_are_part_of_a_bots_name(name: str, options: dict[str, object]) -> None:
    assert catalog.resolve(Kind.BOT, name).options == options


@pytest.mark.parametrize("name", ["mcts", "mcts-", "mcts-many", "mcts-1-2", "mtcs-50", "mcts--5"])
def test_wrong_parameters_are_refused_and_the_right_form_is_shown(name: str) -> None:
    with pytest.raises(UnknownName, match="did you mean 'mcts-<simulations>'"):
        catalog.resolve(Kind.BOT, name)


@pytest.mark.parametrize("kind", Kind)
def test_every_built_in_imports(kind: Kind) -> None:
    for entry in catalog.names(kind).values():
        if entry.source == "built-in":
            module, _, attribute = entry.target.partition(":")
            assert callable(getattr(importlib.import_module(module), attribute)), entry.name


def test_names_made_by_the_bots_and_by_the_catalog_are_the_same() -> None:
    spec = make_game("tic_tac_toe", 1).spec
    for name in ("random", "first-legal", "minimax", "minimax-random", "minimax-0.3", "mcts-5", "always-2"):
        resolved = catalog.resolve(Kind.BOT, name)
        made = catalog.load(Kind.BOT, name)(spec, **resolved.options)
        by_name = make_bot(name, spec)
        assert type(made) is type(by_name)
        assert _plain(made) == _plain(by_name)


def _plain(bot: object) -> dict[str, str]:
    return {key: str(value) for key, value in vars(bot).items() if not key.startswith("_")}


def test_an_unknown_name_lists_what_is_allowed_and_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        catalog.resolve(Kind.GAME, "conect_four")
    assert "did you mean 'connect_four'?" in str(caught.value)
    assert all(name in str(caught.value) for name in catalog.names(Kind.GAME))


def test_an_import_path_is_a_name() -> None:
    assert catalog.load(Kind.GAME, "collections:OrderedDict.fromkeys") is not None
    with pytest.raises(BrokenTarget, match="nowhere_at_all"):
        catalog.load(Kind.GAME, "nowhere_at_all:Game")
    with pytest.raises(BrokenTarget, match="NoSuchGame"):
        catalog.load(Kind.GAME, "collections:NoSuchGame")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("def rule(:\n", "SyntaxError"),
        ("rule = undefined\n", "NameError: name 'undefined'"),
        ("raise OSError('no table')\n", "OSError: no table"),
        ("raise SystemExit(2)\n", "SystemExit: 2"),
    ],
)
def test_a_module_that_fails_at_its_import_is_named_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, error: str
) -> None:
    (tmp_path / "rules_of_ones_own.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BrokenTarget, match=rf"rules_of_ones_own:rule\) does not import: {error}"):
        catalog.load(Kind.MATCHMAKER, "rules_of_ones_own:rule")


def test_third_parties_join_by_entry_point(third_party: Path) -> None:
    assert catalog.names(Kind.GAME)["hex"].source == "hexgames 1.2"
    assert catalog.load(Kind.GAME, "hex").__name__ == "Hex"


def test_a_name_claimed_twice_is_refused(third_party: Path) -> None:
    with pytest.raises(AmbiguousName, match=r"built-in and hexgames 1\.2"):
        catalog.resolve(Kind.BOT, "random")
    assert catalog.resolve(Kind.BOT, "mcts-5").options == {"simulations": 5}


def test_describing_the_catalog_imports_no_target() -> None:
    script = (
        "import sys, json; from orchestrator.catalog import describe; json.dumps(describe());"
        "heavy = {'torch', 'ray', 'numpy', 'pyspiel', 'workers'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_description_names_every_kind_with_one_line_each() -> None:
    described = catalog.describe()
    assert sorted(described) == ["agents", "algorithms", "bots", "games", "matchmakers", "models"]
    rows = [row for rows in described.values() for row in rows]
    assert {"name": "mcts-<simulations>"}.items() <= next(r for r in rows if r["name"].startswith("mcts")).items()
    assert all(row["description"] and "\n" not in row["description"] for row in rows)
