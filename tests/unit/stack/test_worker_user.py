"""The user for user code: which names are refused, and whose folders become."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from lanista.settings import StackSettings
from lanista.stack.errors import StackError
from lanista.stack.home import Home
from lanista.stack.parts import Parts
from lanista.stack.processes import worker_user
from lanista.stack.processes.worker_user import find_worker_user, prepare_folders
from orchestrator.settings import SettingsError

AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    made = Home(tmp_path / "home")
    made.create()
    return made


def test_without_the_setting_there_is_no_other_user(home: Home) -> None:
    assert find_worker_user("", home) is None


def test_only_root_may_name_another_user(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    with pytest.raises(StackError, match=r"LANISTA_WORKER_USER='nobody': only root"):
        find_worker_user("nobody", home)


@AS_ROOT
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no-such-user", "there is no such user.*useradd"),
        ("root", "a user of its own"),
        ("pgserver", "pgserver|no such"),
    ],
)
def test_a_user_that_cannot_be_used_is_refused(name: str, words: str, home: Home) -> None:
    with pytest.raises(StackError, match=words):
        find_worker_user(name, home)


def test_the_name_has_the_form_of_a_users() -> None:
    for wrong in ("../x", "a b", "-rf"):
        with pytest.raises(SettingsError, match="worker-user"):
            StackSettings.load(worker_user=wrong)


@AS_ROOT
def test_the_user_gets_its_folders_and_no_others(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_user, "_check_access", lambda user: None)
    (home.artifacts / "checkpoint" / "ab").mkdir(parents=True)
    old = home.artifacts / "checkpoint" / "ab" / "made-as-root"
    old.write_text("weights")
    home.secret("session.secret")
    user = find_worker_user("nobody", home)
    assert user is not None
    prepare_folders(home, user, str(home.artifacts))
    nobody = pwd.getpwnam("nobody").pw_uid
    for path in (old, old.parent, home.tensorboard, user.folder, home.artifacts / "games", home.root / "ray.token"):
        assert path.stat().st_uid == nobody, path
    for path in (home.artifacts, home.artifacts / "upload", home.imports):
        assert path.stat().st_uid == 0 and path.stat().st_mode & 0o7777 == 0o2750, path
    assert (home.root / "session.secret").stat().st_mode & 0o777 == 0o600
    assert home.logs.stat().st_mode & 0o077 == 0


@AS_ROOT
def test_a_link_in_the_place_of_a_folder_is_not_given_away(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_user, "_check_access", lambda user: None)
    target = tmp_path / "of-root"
    target.mkdir()
    (home.artifacts / "checkpoint").symlink_to(target)
    user = find_worker_user("nobody", home)
    assert user is not None
    with pytest.raises(StackError, match="is a link"):
        prepare_folders(home, user, str(home.artifacts))
    assert target.stat().st_uid == 0


@AS_ROOT
def test_a_user_that_cannot_run_python_stops_the_start(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = home.root / "closed"
    closed.mkdir(mode=0o700)
    python = closed / "python"
    python.touch(mode=0o755)
    monkeypatch.setattr("sys.executable", str(python))
    with pytest.raises(StackError, match=r"cannot start .*closed/python.*(setfacl -m u:nobody:x /|install)"):
        Parts(StackSettings.load(home=home.root, worker_user="nobody"), home)


def test_files_that_an_earlier_version_left_open_are_closed(home: Home) -> None:
    left = home.root / "temporal.db"
    left.touch(mode=0o644)
    left.chmod(0o644)
    home.create()
    assert left.stat().st_mode & 0o777 == 0o600
