"""Root's stack with a worker user: user code is another user's, reads no secret and ends no part but its own."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.stack import LocalStack

USER = "nobody"
PROBE = '''
"""A game of somebody's own that looks around when it is imported, and says what it could do."""

import json, os, pathlib, signal

from workers.games.builtin.tic_tac_toe import TicTacToe


def attempt(action, *arguments):
    try:
        action(*arguments)
    except OSError as error:
        return type(error).__name__
    return "did it"


def read(path):
    with open(path, "rb") as file:
        file.read(1)


WANTED = json.loads(pathlib.Path(__file__).with_name("wanted.json").read_text())
SEEN = {
    "uid": os.getuid(),
    "groups": os.getgroups(),
    "files": {path: attempt(read, path) for path in WANTED["files"]},
    "folders": {path: attempt(os.listdir, path) for path in WANTED["folders"]},
    "written": {path: attempt(pathlib.Path(path, "planted").write_text, "x") for path in WANTED["folders"]},
    "kills": {str(pid): attempt(os.kill, pid, signal.SIGTERM) for pid in WANTED["pids"]},
    "environment": dict(os.environ),
}


class Probe(TicTacToe):
    def __init__(self, *, tables):
        raise RuntimeError("SEEN " + json.dumps(SEEN) + " NEES")
'''
TINY = {
    "game": {"id": "tic_tac_toe"},
    "model": {"id": "mlp", "hidden": [8]},
    "league": {"preset": "self_play", "players": [{"name": "main", "role": "main"}]},
    "generation": {"steps": 256, "tables": 16},
    "budget": {"steps": 256},
}


@contextmanager
def search_permission(path: Path) -> Iterator[None]:
    """Lets other users pass through root's own folders while the test runs; Python may be installed below them."""
    with ExitStack() as back:
        for folder in path.parents:
            mode = stat.S_IMODE(folder.stat().st_mode)
            if not mode & stat.S_IXOTH:
                folder.chmod(mode | stat.S_IXOTH)
                back.callback(folder.chmod, mode)
        yield


@pytest.fixture(scope="module")
def stack() -> Iterator[LocalStack]:
    if os.getuid() != 0:
        pytest.skip("only root can start processes as another user")
    # not pytest's folder: every run of pytest closes it to other users
    folder = Path(tempfile.mkdtemp(prefix="lanista-worker-user-"))
    folder.chmod(0o711)
    code = folder / "code"
    code.mkdir(mode=0o755)
    (code / "probe.py").write_text(PROBE)
    local = LocalStack.at(folder)
    path = os.pathsep.join([str(code), *filter(None, [os.environ.get("PYTHONPATH")])])
    local.extra = {"LANISTA_WORKER_USER": USER, "PYTHONPATH": path, "SOME_TOKEN": "of the shell"}
    with ExitStack() as opened:
        for needed in (Path(sys.executable), Path(sys.executable).resolve(), Path(__file__), code / "probe.py"):
            opened.enter_context(search_permission(needed))
        started = local.up()
        assert started.returncode == 0, started.stdout + started.stderr
        yield local
        local.down()
    shutil.rmtree(folder)


def look_around(stack: LocalStack) -> dict[str, Any]:
    """What a game of somebody's own sees in the train worker."""
    root = stack.home.root
    secrets = ("session.secret", "admin.token", "postgres.password", "temporal.db", "stack.json", "ports.json")
    keys = [path for path in root.glob("*") if path.is_file() and path.name != "ray.token"]
    wanted = {
        "files": [*(str(root / name) for name in secrets), *map(str, keys), str(stack.home.run / "environment.json")],
        "folders": [str(root), str(stack.home.postgres), str(stack.home.logs), str(stack.home.artifacts / "upload")],
        "pids": [stack.pid(part) for part in ("supervisor", "api", "store-worker", "postgres", "temporal")],
    }
    wanted["files"] += [f"/proc/{pid}/environ" for pid in wanted["pids"]]
    (stack.folder / "code" / "wanted.json").write_text(json.dumps(wanted))
    (stack.folder / "code" / "wanted.json").chmod(0o644)
    checked = stack.call("POST", "/trials/validate", {"spec": {"game": {"id": "probe:Probe"}}})
    message = checked["problems"][0]["message"]
    assert "SEEN " in message, message
    seen: dict[str, Any] = json.loads(message.partition("SEEN ")[2].partition(" NEES")[0])
    return seen


def test_user_code_reads_no_secret_and_ends_no_other_part(stack: LocalStack) -> None:
    seen = look_around(stack)
    assert seen["uid"] != 0 and 0 not in seen["groups"]
    for path, outcome in {**seen["files"], **seen["folders"], **seen["written"]}.items():
        missing = outcome == "FileNotFoundError" and not Path(path).exists()
        listed = path.endswith("upload") and path in seen["folders"] and outcome == "did it"
        assert outcome == "PermissionError" or missing or listed, f"{path}: {outcome}"
    assert seen["written"][str(stack.home.artifacts / "upload")] == "PermissionError"
    assert set(seen["kills"].values()) == {"PermissionError"}
    files = ("session.secret", "postgres.password", "temporal.key", "temporal-train.key")
    secrets = [(stack.home.root / name).read_text().strip() for name in files]
    for value in seen["environment"].values():
        assert not any(secret in value for secret in (*secrets, "of the shell"))


def test_ray_and_the_train_worker_belong_to_the_user_and_nothing_else_does(stack: LocalStack) -> None:
    for part in ("train-worker", "ray", "tensorboard"):
        tree = [psutil.Process(stack.pid(part))]
        tree += tree[0].children(recursive=True)
        assert {process.username() for process in tree} == {USER}, part
    for part in ("supervisor", "api", "store-worker", "temporal"):
        assert psutil.Process(stack.pid(part)).username() == "root"


def test_a_league_trains_and_the_api_reads_its_artifacts(stack: LocalStack) -> None:
    made = stack.call("POST", "/trials", {"name": "as-another-user", "spec": TINY})
    deadline = time.monotonic() + 120
    while (trial := stack.call("GET", f"/trials/{made['id']}"))["status"] not in ("completed", "failed"):
        assert time.monotonic() < deadline, trial
        time.sleep(0.3)
    assert trial["status"] == "completed", trial
    versions = stack.call("GET", f"/trials/{made['id']}/versions")["items"]
    assert len(versions) >= 2
    files = [path for path in (stack.home.artifacts / "checkpoint").rglob("*") if path.is_file()]
    assert files and {path.owner() for path in files} == {USER}
    audited = stack.lanista("audit")
    assert audited.returncode == 0, audited.stdout + audited.stderr
