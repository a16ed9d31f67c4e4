"""Another user listens where the local API should be, and gets no token."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from typer.testing import CliRunner

from lanista.cli import app, connection
from lanista.cli.installation.demo import own_api
from lanista.client import AsyncClient, Client, Retries
from lanista.client.errors import TokenWithheld, Unreachable
from lanista.client.local import ApiAddress, find_api
from lanista.client.own_process import only_to
from lanista.stack.errors import NotStarted
from lanista.stack.home import ChildState, Home, StackState, write_atomically
from lanista.stack.ports import unused_port
from lanista.stack.sign_in_link import sign_in_link

TOKEN = "the-token-of-the-local-admin"
ONCE = Retries(attempts=1)
ROOT = os.geteuid() == 0
LISTENER = """
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.headers.get("Authorization"), flush=True)
        body = b'{"name": "a", "scope": "admin", "expires_at": null, "csrf_token": null, "code": "c"}'
        self.send_response(200 if self.command == "GET" else 201)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer)
print("listening", flush=True)
server.serve_forever()
"""


@dataclass
class Listener:
    """A process that answers like the API, and keeps the tokens that it is sent."""

    process: subprocess.Popen[str]

    def end(self) -> list[str]:
        """The tokens that it was sent."""
        self.process.kill()
        return self.process.communicate()[0].split("\n")[:-1]


@contextmanager
def listening(port: int, *, as_nobody: bool = False) -> Iterator[Listener]:
    identity: dict[str, Any] = {"user": "nobody", "group": "nogroup", "extra_groups": []} if as_nobody and ROOT else {}
    base = Path(sys.base_prefix) / "bin" / "python3"
    python = "/usr/bin/python3" if identity and Path("/usr/bin/python3").exists() else str(base)
    process = subprocess.Popen(
        [python, "-c", LISTENER, str(port)], stdout=subprocess.PIPE, text=True, cwd="/", **identity
    )
    assert process.stdout is not None and process.stdout.readline() == "listening\n"
    listener = Listener(process)
    try:
        yield listener
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@dataclass
class Stack:
    """A data folder whose supervisor is this test."""

    home: Home
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def record(self, pid: int | None, started: float | None = None) -> None:
        """Write the state as the supervisor does."""
        if pid is not None and started is None:
            started = psutil.Process(pid).create_time()
        api = ChildState(state="ready", pid=pid, started=started)
        state = StackState(pid=os.getpid(), page=self.url, started="now", children={"api": api})
        write_atomically(self.home.state_file, state.to_json())

    def address(self) -> ApiAddress:
        return find_api(home=self.home.root)


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    for name in ("LANISTA_URL", "LANISTA_TOKEN", "LANISTA_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    home = Home(tmp_path / "home")
    home.create()
    made = Stack(home, unused_port())
    write_atomically(home.admin_token, TOKEN)
    write_atomically(home.run / "environment.json", json.dumps({"LANISTA_URL": made.url}))
    lock = home.try_lock()
    assert lock is not None
    with lock:
        yield made


def test_the_token_goes_to_the_process_of_the_stack(stack: Stack) -> None:
    with listening(stack.port) as api:
        stack.record(api.process.pid)
        with Client(stack.address(), retries=ONCE) as client:
            assert client.who_am_i().name == "a"
        assert sign_in_link(stack.url, stack.home).endswith("#code=c")
        assert api.end() == [f"Bearer {TOKEN}"] * 2


def test_the_demo_uses_its_own_token_beside_that_of_another_installation(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANISTA_TOKEN", "of a cluster")
    monkeypatch.setenv("LANISTA_URL", "https://cluster.invalid")
    assert own_api(stack.home) == ApiAddress(stack.url, TOKEN)


async def _ask_in_every_way(stack: Stack) -> None:
    with Client(stack.address(), retries=ONCE) as client, pytest.raises(Unreachable):
        client.who_am_i()
    async with AsyncClient(stack.address(), retries=ONCE) as other:
        with pytest.raises(Unreachable):
            await other.who_am_i()
    assert "no sign-in link" in sign_in_link(stack.url, stack.home)


async def test_a_stranger_on_the_port_of_an_api_that_is_down_gets_nothing(stack: Stack) -> None:
    with listening(stack.port, as_nobody=True) as thief:
        stack.record(None)
        await _ask_in_every_way(stack)
        assert thief.end() == []


async def test_a_stranger_on_the_port_of_a_stack_that_is_down_gets_nothing(stack: Stack, tmp_path: Path) -> None:
    """The state file still names a process that lives: the supervisor is gone, and the number is reused."""
    with listening(stack.port, as_nobody=True) as thief:
        stack.record(thief.process.pid)
        down = Stack(Home(tmp_path / "other"), stack.port)
        down.home.create()
        for name in ("stack.json", "admin.token", "run/environment.json"):
            (down.home.root / name).write_text((stack.home.root / name).read_text())
        await _ask_in_every_way(down)
        assert thief.end() == []


async def test_a_stranger_beside_the_living_api_gets_nothing(stack: Stack) -> None:
    with listening(unused_port()) as api, listening(stack.port, as_nobody=True) as thief:
        stack.record(api.process.pid)
        await _ask_in_every_way(stack)
        assert api.end() == thief.end() == []


async def test_a_process_with_the_number_of_the_api_gets_nothing(stack: Stack) -> None:
    with listening(stack.port) as thief:
        stack.record(thief.process.pid, psutil.Process(thief.process.pid).create_time() - 60)
        await _ask_in_every_way(stack)
        assert thief.end() == []


@pytest.mark.skipif(not ROOT, reason="only root can be another user")
async def test_a_process_of_another_user_gets_nothing(stack: Stack) -> None:
    with listening(stack.port, as_nobody=True) as thief:
        stack.record(thief.process.pid)
        await _ask_in_every_way(stack)
        assert thief.end() == []


@pytest.mark.skipif(not ROOT, reason="only root reads what others cannot")
@pytest.mark.parametrize("how", ["link", "hard link"])
def test_root_sends_no_file_that_the_owner_of_a_folder_chose(stack: Stack, tmp_path: Path, how: str) -> None:
    """Somebody's data folder, which root may be in, has a file of root's for its token and a process of its owner."""
    secret = tmp_path / "of-root"
    secret.write_text("only root reads this")
    secret.chmod(0o600)
    stack.home.admin_token.unlink()
    (stack.home.admin_token.symlink_to if how == "link" else stack.home.admin_token.hardlink_to)(secret)
    os.chown(stack.home.root, pwd.getpwnam("nobody").pw_uid, -1)
    with listening(stack.port, as_nobody=True) as theirs:
        stack.record(theirs.process.pid)
        with pytest.raises(Unreachable), Client(stack.address(), retries=ONCE) as client:
            client.who_am_i()
        assert "no sign-in link" in sign_in_link(stack.url, stack.home)
        assert theirs.end() == []


@pytest.mark.skipif(not ROOT, reason="only root can be another user")
def test_root_sends_the_token_of_somebodys_stack_to_it(stack: Stack) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    os.chown(stack.home.admin_token, nobody, -1)
    with listening(stack.port, as_nobody=True) as theirs:
        stack.record(theirs.process.pid)
        with Client(stack.address(), retries=ONCE) as client:
            assert client.who_am_i().name == "a"
        assert theirs.end() == [f"Bearer {TOKEN}"]


def test_a_port_that_changes_hands_during_the_connection_gets_nothing(stack: Stack) -> None:
    with listening(stack.port) as thief:
        owners = iter(["the API", "a stranger"])
        with (
            httpx.Client(headers={"Authorization": TOKEN}, **only_to(lambda: next(owners))) as client,
            pytest.raises(httpx.ConnectError, match="took the port"),
        ):
            client.get(stack.url)
        assert thief.end() == []


def test_no_proxy_of_the_environment_gets_the_token(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy_port = unused_port()
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy_port}")
    with listening(stack.port) as api, listening(proxy_port) as proxy:
        stack.record(api.process.pid)
        with Client(stack.address(), retries=ONCE) as client:
            client.who_am_i()
        assert len(api.end()) == 1 and proxy.end() == []


def test_a_client_waits_for_an_api_that_restarts(stack: Stack) -> None:
    looks = 0

    def owner() -> object:
        nonlocal looks
        looks += 1
        if looks < 3:
            raise NotStarted("the API restarts")
        return "the API"

    where = ApiAddress(stack.url, TOKEN, owner)
    with listening(stack.port), Client(where, retries=Retries(attempts=5, first_wait=0.01)) as client:
        assert client.who_am_i().name == "a"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder that somebody else may have filled."""
    for name in ("LANISTA_URL", "LANISTA_TOKEN", "LANISTA_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lanista.toml").write_text('url = "http://elsewhere.example"\n')
    return tmp_path


def test_the_address_of_a_folder_gets_no_token_of_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_api() == ApiAddress("http://elsewhere.example", None)
    monkeypatch.setenv("LANISTA_TOKEN", "mine")
    for refused in (find_api, Client, AsyncClient, lambda: Client(token="mine")):
        with pytest.raises(TokenWithheld, match=r"set LANISTA_URL=http://elsewhere\.example too"):
            refused()
    ended = CliRunner().invoke(app, ["trial", "list"])
    assert isinstance(ended.exception, TokenWithheld) and connection.exit_code(ended.exception) == 4
    assert find_api(allow=lambda url: url == "http://elsewhere.example").token == "mine"
    monkeypatch.setenv("LANISTA_URL", "http://elsewhere.example")
    assert find_api().token == "mine"


def test_a_file_that_one_names_and_a_token_of_the_file_itself_are_trusted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANISTA_TOKEN", "mine")
    monkeypatch.setenv("LANISTA_CONFIG", str(folder / "lanista.toml"))
    assert find_api().token == "mine"
    monkeypatch.delenv("LANISTA_CONFIG")
    monkeypatch.delenv("LANISTA_TOKEN")
    (folder / "lanista.toml").write_text('url = "http://elsewhere.example"\ntoken = "theirs"\n')
    assert find_api().token == "theirs"


@pytest.mark.parametrize("answer", [True, False])
def test_a_person_is_asked(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: bool) -> None:
    asked: list[str] = []

    def confirm(text: str, **_: object) -> bool:
        asked.append(text)
        return answer

    monkeypatch.setenv("LANISTA_TOKEN", "mine")
    monkeypatch.setattr(connection.typer, "confirm", confirm)
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    if answer:
        assert connection.address(None).token == "mine"
    else:
        with pytest.raises(TokenWithheld):
            connection.address(None)
    assert asked == ["lanista.toml in this folder names http://elsewhere.example. Send your token there?"]
