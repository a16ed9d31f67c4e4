"""Logs of parts as an admin sees them: the last lines, what follows them, and never a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.web.live.logs import MOST_BYTES, last_lines, log_files, without_secrets


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("postgresql+psycopg://lanista:hunter2@127.0.0.1/db", "postgresql+psycopg://***@127.0.0.1/db"),
        ("token lanista_0123456789abcdefghijklmnop used", "token *** used"),
        ("GET http://127.0.0.1/signin#code=abc.DEF-1", "GET http://127.0.0.1/signin#code=***"),
        ("Authorization: Bearer eyJhbGciOi.x.y", "Authorization: Bearer ***"),
        ('{"password": "hunter2", "port": 5432}', '{"password": "***", "port": 5432}'),
        ("LANISTA_TEMPORAL_KEY=aaaabbbbcccc LANISTA_PORT=1", "LANISTA_TEMPORAL_KEY=*** LANISTA_PORT=1"),
        ("session_secret='aaaa' host='b'", "session_secret='***' host='b'"),
        ("main finished generation 3: 60,000 steps", "main finished generation 3: 60,000 steps"),
        (
            "lanista_code_0123456789abcdef0123456789abcdef.nim:Nim",
            "lanista_code_0123456789abcdef0123456789abcdef.nim:Nim",
        ),
    ],
)
def test_secrets_are_replaced(line: str, shown: str) -> None:
    assert without_secrets(line) == shown


def test_the_last_lines_and_then_only_what_follows(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    log.write_text("one\ntwo\nthree\nhalf")
    found = last_lines(str(tmp_path), "api", lines=2)
    assert found is not None and found.lines == ["two", "three"]
    log.write_text("one\ntwo\nthree\nhalf a line\nnext\n")
    more = last_lines(str(tmp_path), "api", lines=10, after=found.end)
    assert more is not None and more.lines == ["half a line", "next"]
    nothing = last_lines(str(tmp_path), "api", lines=10, after=more.end)
    assert nothing is not None and (nothing.lines, nothing.end) == ([], more.end)


def test_a_log_that_began_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "api.log").write_text("new\n")
    found = last_lines(str(tmp_path), "api", lines=10, after=5_000)
    assert found is not None and found.lines == ["new"]


def test_of_a_large_log_only_whole_lines_of_its_end_are_read(tmp_path: Path) -> None:
    (tmp_path / "api.log").write_text("".join(f"line {number:09}\n" for number in range(MOST_BYTES // 10)))
    found = last_lines(str(tmp_path), "api", lines=1_000_000)
    assert found is not None and len(found.lines) < MOST_BYTES // 14
    assert {len(line) for line in found.lines} == {14}, "no half line"


@pytest.mark.parametrize("part", ["../secret", "..", "api.log", "API", "", "link", "folder", "missing"])
def test_nothing_else_is_read(tmp_path: Path, part: str) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (tmp_path / "secret.log").write_text("secret\n")
    (logs / "link.log").symlink_to(tmp_path / "secret.log")
    (logs / "folder.log").mkdir()
    assert last_lines(str(logs), part, lines=10) is None
    assert log_files(str(logs)) == []


def test_without_a_folder_there_is_no_log() -> None:
    assert log_files("") == [] and last_lines("", "api", lines=1) is None
