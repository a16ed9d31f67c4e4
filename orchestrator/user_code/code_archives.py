"""Archives of users' own code: content-addressed zip files whose modules are imported by `code_importing`.

A trial file names `my_game:Nim`. The command that starts the trial packs the module and uploads the archive to the
artifact store, and the trial is recorded with `lanista_code_<sha256>.my_game:Nim`. So it runs the same code in every
generation and on every node, and an edited module is another archive.

See docs/decisions/user-code.md.
"""

from __future__ import annotations

import io
import re
import stat
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from orchestrator.user_code.packages import BadPackages, packages_of

KIND = "code"
"""The kind of artifact."""
PACKAGE = "lanista_code_"
LARGEST_ARCHIVE = 1 << 20
LARGEST_CONTENT = 16 << 20
"""Bytes of all files of an archive together."""
MOST_FILES = 2_000

_NAMED = re.compile(rf"{PACKAGE}([0-9a-f]{{64}})\.")
_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive: equal files must give equal bytes."""


class BadArchive(ValueError):
    """The bytes are no archive of code, or one that is refused."""


def pack(files: Mapping[str, bytes]) -> bytes:
    """Files by their paths as an archive; equal files give equal bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(files):
            archive.writestr(zipfile.ZipInfo(path, _TIME), files[path], zipfile.ZIP_DEFLATED)
    data = packed.getvalue()
    check_archive(data)
    return data


def check_archive(data: bytes) -> list[str]:
    """The paths of an archive's files; raises BadArchive."""
    if len(data) > LARGEST_ARCHIVE:
        raise BadArchive(f"an archive of {len(data):,} bytes is too large; at most {LARGEST_ARCHIVE:,} are allowed")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise BadArchive(f"not a zip archive: {error}") from None
    if len(infos) > MOST_FILES:
        raise BadArchive(f"{len(infos):,} files are too many; at most {MOST_FILES:,} are allowed")
    if (size := sum(info.file_size for info in infos)) > LARGEST_CONTENT:
        raise BadArchive(f"the files have {size:,} bytes; at most {LARGEST_CONTENT:,} are allowed")
    for info in infos:
        path = PurePosixPath(info.filename)
        unsafe = path.is_absolute() or ".." in path.parts or "\\" in info.filename or not path.parts
        if unsafe or info.is_dir() or stat.S_ISLNK(info.external_attr >> 16):
            raise BadArchive(f"{info.filename!r}: allowed are relative paths of plain files")
    if not any(info.filename.endswith(".py") for info in infos):
        raise BadArchive("there is no Python file in it")
    _check_packages(data)
    return [info.filename for info in infos]


def _check_packages(data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        try:
            packages_of({name: archive.read(name) for name in archive.namelist() if name.endswith(".py")})
        except BadPackages as error:
            raise BadArchive(str(error)) from None


def archived_name(sha256: str, name: str) -> str:
    """A name of code, `module:attr`, as a name in the archive."""
    return f"{PACKAGE}{sha256}.{name}"


def archive_of(name: str) -> str | None:
    """The sha256 of the archive that a name is of; None where it is of none."""
    found = _NAMED.match(name)
    return None if found is None else found[1]


def plain_name(text: str) -> str:
    """A name, or names in a text, as their author wrote them."""
    return _NAMED.sub("", text)


def modules_of(paths: Iterable[str]) -> frozenset[str]:
    """The top modules and packages among these paths."""
    return frozenset(PurePosixPath(path).parts[0].removesuffix(".py") for path in paths)
