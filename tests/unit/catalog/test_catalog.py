"""Names resolve without imports, unknown ones say what is allowed, and third parties join by entry points."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import catalog
from orchestrator.catalog import AmbiguousName, BrokenTarget, Kind, UnknownName


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
    catalog._claims.cache_clear()
    yield tmp_path
    catalog._claims.cache_clear()
    sys.modules.pop("hexgames", None)


def test_a_parameter_is_part_of_a_bots_name() -> None:
    resolved = catalog.resolve(Kind.BOT, "mcts-100")
    assert resolved.entry.name == "mcts"
    assert resolved.options == {"simulations": 100}


@pytest.mark.parametrize("name", ["mcts", "mcts-", "mcts-many", "mcts-1-2", "random-3"])
def test_wrong_parameters_are_refused(name: str) -> None:
    with pytest.raises(UnknownName, match=r"mcts-<simulations>|written random"):
        catalog.resolve(Kind.BOT, name)


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
    assert sorted(described) == ["algorithms", "bots", "games", "matchmakers", "models"]
    rows = [row for rows in described.values() for row in rows]
    assert {"name": "mcts-<simulations>"}.items() <= next(
        r for r in rows if r["name"].startswith("mcts")
    ).items()
    assert all(row["description"] and "\n" not in row["description"] for row in rows)
