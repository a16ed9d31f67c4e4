"""The link that signs a browser in: on a terminal only, and plain words where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest

from lanista.cli.installation import stack
from lanista.stack.home import Home, StackState
from lanista.stack.sign_in_link import sign_in_link

PAGE = "http://127.0.0.1:1"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    made.create()
    made.admin_token.parent.mkdir(parents=True, exist_ok=True)
    made.admin_token.write_text("secret\n")
    return made


@pytest.mark.parametrize(
    ("answer", "link"),
    [
        (httpx.Response(201, json={"code": "c0de"}), f"{PAGE}/signin#code=c0de"),
        (httpx.Response(403, json={"detail": "not you"}), f"{PAGE} (no sign-in link: not you)"),
        (
            httpx.Response(502, text="<html>Bad Gateway</html>"),
            f"{PAGE} (no sign-in link: the API does not answer: JSONDecodeError)",
        ),
    ],
)
def test_the_link_or_why_there_is_none(
    home: Home, monkeypatch: pytest.MonkeyPatch, answer: httpx.Response, link: str
) -> None:
    monkeypatch.setattr(httpx.Client, "post", lambda *_, **__: answer)
    assert sign_in_link(PAGE, home) == link


@pytest.mark.parametrize("terminal", [True, False])
def test_the_link_is_printed_on_a_terminal_only(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    asked: list[str] = []

    def link(page: str, _: Home) -> str:
        asked.append(page)
        return f"{page}/signin#code=c0de"

    monkeypatch.setattr(stack, "sign_in_link", link)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setenv("FORCE_COLOR", "1")  # colours in a log make no terminal of it
    stack.print_sign_in_link(StackState(pid=1, page=PAGE, started="now"), home)
    assert ("#code=c0de" in capsys.readouterr().out) == bool(asked) == terminal
