"""Runs user code as another user: the train worker and Ray, where root runs the stack.

See docs/decisions/user-code.md.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanista.stack.errors import StackError
from lanista.stack.home import Home
from lanista.stack.postgres import SYSTEM_USER, Owner, open_path_for_search

SETTING = "LANISTA_WORKER_USER"
WRITTEN_BY_WORKERS = ("checkpoint", "partial", "buffer", "games", "probe")
"""Kinds of artifacts that the train worker writes; the API and the store write the others, into folders of root's."""
WRITTEN_BY_ROOT = ("upload", "code", "installations")
PRIVATE_TO_GROUP = 0o027
"""The umask of the API and the store worker beside a worker user: its group reads what they write, and no one else."""
AS_ROOT = (
    f"user code runs as root and can read every secret of this machine; set {SETTING} to a user of its own "
    "(docs/guides/security.md#a-user-for-user-code)"
)
_PROBE = """
import importlib.util, sys
missing = [name for name in ("lanista.cli", "workers.worker", "ray", "torch") if importlib.util.find_spec(name) is None]
sys.exit("cannot read the packages " + ", ".join(missing) if missing else 0)
"""


@dataclass(frozen=True)
class WorkerUser:
    """The user that user code runs as."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    folder: Path
    """Its home, and the working folder of its processes."""

    @property
    def owner(self) -> Owner:
        return Owner(uid=self.uid, gid=self.gid)

    def identity(self) -> dict[str, Any]:
        """Arguments for subprocess."""
        groups = {"user": self.uid, "group": self.gid, "extra_groups": list(self.groups)}
        return {**groups, "umask": 0o077, "cwd": str(self.folder)}

    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "USER": self.name, "LOGNAME": self.name, "TMPDIR": str(self.folder)}


def find_worker_user(name: str, home: Home) -> WorkerUser | None:
    """The user of the setting; None without one. Raises StackError for a user that cannot be used."""
    if not name:
        return None
    if os.getuid() != 0:
        raise StackError(
            f"{SETTING}={name!r}: only root can start processes as another user. Run as root, or unset it."
        )
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise StackError(
            f"{SETTING}={name!r}: there is no such user. Make one: useradd --system --no-create-home {name}"
        ) from None
    if entry.pw_uid == 0 or name == SYSTEM_USER:
        raise StackError(f"{SETTING}={name!r}: must be a user of its own, not root and not {SYSTEM_USER}.")
    groups = tuple(group for group in os.getgrouplist(name, entry.pw_gid) if group not in (0, entry.pw_gid))
    return WorkerUser(name=name, uid=entry.pw_uid, gid=entry.pw_gid, groups=groups, folder=home.scratch / "worker")


def prepare_folders(home: Home, user: WorkerUser, artifacts: str) -> None:
    """Give the user its folders and nothing else; then check that it can run Python and Lanista.

    Nothing of the user runs yet, so that no folder is exchanged for a link meanwhile.
    """
    for path in (home.artifacts / "-", home.run / "-"):
        open_path_for_search(path, user.owner, "The worker user")
    home.scratch.chmod(0o711)
    _own_folder(user.folder, user)
    _own_folder(home.tensorboard, user)
    home.secret("ray.token")
    os.chown(home.root / "ray.token", user.uid, user.gid)
    _share(home.imports, user)
    if "://" not in artifacts:
        _prepare_artifacts(Path(artifacts), user)
    _check_access(user)


def prepare_own_folder(folder: Path, user: WorkerUser) -> None:
    """Give the user one more folder, and the way to it."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    open_path_for_search(folder, user.owner, "The worker user")
    _own_folder(folder, user)


def prepare_scratch(folder: Path, user: WorkerUser | None) -> None:
    """An empty folder for Ray's session."""
    shutil.rmtree(folder, ignore_errors=True)
    if user is not None:
        folder.mkdir(mode=0o700)
        os.chown(folder, user.uid, user.gid)


def _prepare_artifacts(root: Path, user: WorkerUser) -> None:
    root.mkdir(mode=0o750, parents=True, exist_ok=True)
    _share(root, user)
    for kind in WRITTEN_BY_WORKERS:
        _own_folder(root / kind, user)
    for kind in WRITTEN_BY_ROOT:
        (root / kind).mkdir(mode=0o750, exist_ok=True)
        for folder, _, files, descriptor in os.fwalk(root / kind):
            _share(Path(folder), user)
            for name in files:
                os.chown(name, 0, user.gid, dir_fd=descriptor, follow_symlinks=False)
                os.chmod(name, 0o640, dir_fd=descriptor)


def _share(folder: Path, user: WorkerUser) -> None:
    """The user's group may read; what root puts there later belongs to that group too."""
    os.chown(folder, 0, user.gid)
    folder.chmod(stat.S_ISGID | 0o750)


def _own_folder(folder: Path, user: WorkerUser) -> None:
    """The user owns the folder and all below it, also what an earlier run made as root."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink():
        raise StackError(f"{folder} is a link; user code could make it lead anywhere. Replace it by a folder.")
    for _, folders, files, descriptor in os.fwalk(folder):
        os.fchown(descriptor, user.uid, user.gid)
        for name in (*folders, *files):
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if status.st_uid == 0 and (status.st_nlink == 1 or stat.S_ISDIR(status.st_mode)):
                os.chown(name, user.uid, user.gid, dir_fd=descriptor, follow_symlinks=False)


def _check_access(user: WorkerUser) -> None:
    environment = {**os.environ, **user.environment()}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROBE], env=environment, capture_output=True, text=True, **user.identity()
        )
        problem = done.stderr.strip().splitlines()[-1] if done.returncode else ""
    except OSError as error:
        problem = f"cannot start {sys.executable}: {error.strerror}"
    if problem:
        closed = _closed_folder(user)
        advice = f"setfacl -m u:{user.name}:x {closed}, or i" if closed else "I"
        where = f" ({closed} is closed to it)" if closed else ""
        raise StackError(
            f"{SETTING}={user.name!r}: this user {problem}{where}. {advice}nstall Python and Lanista where every user "
            "may read, as below /opt."
        )


def _closed_folder(user: WorkerUser) -> Path | None:
    """The first folder on the way to Python or to a package that the user may not enter."""
    paths = [
        Path(sys.executable),
        Path(sys.executable).resolve(),
        *(Path(entry).resolve() for entry in sys.path if entry),
    ]
    for path in paths:
        for folder in [*reversed(path.parents), *([path] if path.is_dir() else [])]:
            status = folder.stat()
            if status.st_uid == user.uid:
                needed = stat.S_IXUSR
            else:
                needed = stat.S_IXGRP if status.st_gid in (user.gid, *user.groups) else stat.S_IXOTH
            if not status.st_mode & needed:
                return folder
    return None
