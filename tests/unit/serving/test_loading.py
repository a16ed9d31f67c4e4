"""`lanista.load`: an actor in three lines, from an alias, a version or a file."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanista
from lanista.client.errors import NoSuchName
from lanista.serving import loading
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code import code_importing
from orchestrator.user_code.code_archives import archived_name, pack
from tests.unit.serving.fake_league import FakeLeague
from tests.unit.serving.made_versions import checkpoint_bytes
from workers.games.names import make_game


@pytest.fixture
def league(monkeypatch: pytest.MonkeyPatch) -> FakeLeague:
    made = FakeLeague()
    made.promote(made.add(3))
    monkeypatch.setattr(loading, "Client", lambda url, token: made.connect())
    return made


@pytest.mark.parametrize("name", ["champion", "board-games@champion", "00000000-0000-7000-8000-000000000003"])
def test_a_version_is_found_by_alias_and_by_id(league: FakeLeague, name: str) -> None:
    assert lanista.load(name).version == "main:3"


def test_an_unknown_alias_says_what_there_is(league: FakeLeague) -> None:
    with pytest.raises(NoSuchName, match="no project has an alias 'chmapion'; projects: board-games"):
        lanista.load("chmapion")


def loaded(tmp_path: Path, seed: int | None = None, **kind: Any) -> Any:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(checkpoint_bytes(**kind))
    return lanista.load(path, seed=seed)


def test_it_plays_a_game_by_the_best_legal_action(tmp_path: Path) -> None:
    actor = loaded(tmp_path)
    game = make_game("tic_tac_toe", 1)
    game.reset(np.array([5], np.uint64))
    for _ in range(4):
        turn = game.turn()
        action = actor.act(turn.observations[0], turn.legal[0])
        assert isinstance(action, int) and turn.legal[0, action]
        again = actor.actor.act({"obs": turn.observations.copy(), "legal": turn.legal.copy()}, None)
        assert action == again["action"][0]
        game.step(np.array([action]))


def test_sampled_actions_follow_the_seed(tmp_path: Path) -> None:
    observation = np.zeros(make_game("tic_tac_toe", 1).spec.observation_shape, np.float32)
    one, two = loaded(tmp_path, seed=4), loaded(tmp_path, seed=4)
    drawn = [one.act(observation, sample=True) for _ in range(30)]
    assert drawn == [two.act(observation, sample=True) for _ in range(30)]
    assert len(set(drawn)) > 3


def test_a_recurrent_actor_remembers_until_it_is_reset(tmp_path: Path) -> None:
    actor = loaded(tmp_path, model="gru", options={"hidden": 8})
    observation = np.ones(actor.spec.observation_shape, np.float32)
    actor.act(observation)
    first = actor._state["state"].copy()
    actor.act(observation)
    assert not np.array_equal(first, actor._state["state"])
    actor.reset()
    actor.act(observation)
    np.testing.assert_array_equal(first, actor._state["state"])


def test_wrong_input_is_named(tmp_path: Path) -> None:
    actor = loaded(tmp_path)
    with pytest.raises(ValueError, match=r"the observation has the shape \(3,\), the game has"):
        actor.act([1, 2, 3])
    with pytest.raises(ValueError, match="legal has 2 entries, the game has 9 actions"):
        actor.act(np.zeros(actor.spec.observation_shape), [1, 0])


def test_the_name_loads_nothing_before_it_is_used() -> None:
    loaded = "', '.join(name for name in ('torch', 'workers') if name in sys.modules) or None"
    code = f"import sys, lanista; lanista.load; sys.exit({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_own_code_of_a_version_is_downloaded_and_imported_by_its_hash(
    league: FakeLeague, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = b"from lanista.models import Mlp\n\n\nclass Own(Mlp):\n    pass\n"
    archive = pack({"own_net.py": source})
    sha256 = hashlib.sha256(archive).hexdigest()
    league.archives[sha256] = archive
    monkeypatch.setattr(code_importing._FINDER, "store", None)
    monkeypatch.setenv("LANISTA_HOME", str(tmp_path))
    with monkeypatch.context() as patched:  # made by a process that has the archive
        elsewhere = ArtifactStore(str(tmp_path / "elsewhere"))
        elsewhere.put(archive, kind="code")
        patched.setattr(code_importing._FINDER, "store", elsewhere)
        code_importing.import_archives_from(elsewhere)
        league.promote(league.add(9, model=archived_name(sha256, "own_net:Own")))
    for name in [name for name in sys.modules if name.startswith(f"lanista_code_{sha256}")]:
        del sys.modules[name]
    actor = lanista.load("champion")
    assert type(actor.actor.model).__module__ == f"lanista_code_{sha256}.own_net"
    assert league.fetched == [sha256]
    lanista.load("champion")
    assert league.fetched == [sha256], "it is on disk"
