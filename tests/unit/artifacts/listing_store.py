"""An object store in memory that keeps listings as those over the network do: for ever, and believes them."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import fsspec
from fsspec import AbstractFileSystem

PROTOCOL = "listed"


@dataclass
class Bucket:
    """What is stored, whoever asks, and how often one file's own entry was asked for."""

    objects: dict[str, tuple[bytes, datetime]] = field(default_factory=dict)
    heads: int = 0


BUCKET = Bucket()


class ListedFileSystem(AbstractFileSystem):
    """Answers from a listing where it has one, even that a file is not there."""

    protocol = PROTOCOL

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        path = self._strip_protocol(path)
        if path not in self.dircache:
            found = self._listed(path)
            if not found:
                raise FileNotFoundError(path)
            self.dircache[path] = found
        listed = self.dircache[path] if path in self.dircache else self._listed(path)
        return listed if detail else [each["name"] for each in listed]

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        known = self._ls_from_cache(path)  # raises where the folder's listing does not have it
        if known:
            return dict(next(each for each in known if each["name"] == path))
        BUCKET.heads += 1
        if path in BUCKET.objects:
            return self._entry(path)
        if self._listed(path):
            return {"name": path, "type": "directory", "size": 0}
        raise FileNotFoundError(path)

    def modified(self, path: str) -> datetime:
        stored: datetime = self.info(path)["LastModified"]
        return stored

    def cat_file(self, path: str, *options: Any, **more: Any) -> bytes:
        try:
            return BUCKET.objects[self._strip_protocol(path)][0]
        except KeyError:
            raise FileNotFoundError(path) from None

    def pipe_file(self, path: str, value: bytes, *options: Any, **more: Any) -> None:
        BUCKET.objects[self._strip_protocol(path)] = (value, datetime.now(UTC))

    def rm_file(self, path: str) -> None:
        del BUCKET.objects[self._strip_protocol(path)]

    def invalidate_cache(self, path: str | None = None) -> None:
        self.dircache.clear()

    def _entry(self, path: str) -> dict[str, Any]:
        data, at = BUCKET.objects[path]
        return {"name": path, "type": "file", "size": len(data), "LastModified": at}

    def _listed(self, path: str) -> list[dict[str, Any]]:
        below = [name for name in BUCKET.objects if name.startswith(f"{path}/")]
        folders = {posixpath.join(path, name[len(path) + 1 :].split("/")[0]) for name in below} - set(below)
        files = [self._entry(name) for name in below if posixpath.dirname(name) == path]
        return files + [{"name": name, "type": "directory", "size": 0} for name in sorted(folders)]


def register() -> None:
    fsspec.register_implementation(PROTOCOL, ListedFileSystem, clobber=True)
