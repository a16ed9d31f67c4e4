"""What can be wrong with artifacts. All survive pickling on their way through Ray and Temporal.

ArtifactError
├── ArtifactStoreUnavailable   the store cannot be opened, read or written
│   └── ArtifactStoreFull      no space (or quota) left; nothing was stored
├── MissingArtifact            the reference names nothing in this store
└── DamagedArtifact            the bytes are not those that were stored
"""

from __future__ import annotations

from orchestrator.storage.uris import without_secrets

_UNREADABLE = "is whole and cannot be read"


class ArtifactError(Exception):
    """The base of all errors of artifacts."""


class ArtifactStoreUnavailable(ArtifactError):
    """The store cannot be opened, read or written."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri, self.reason = uri, reason

    def __str__(self) -> str:
        return f"artifact store: {without_secrets(self.uri)}: {self.reason}"


class ArtifactStoreFull(ArtifactStoreUnavailable):
    """There is no space left for the artifact; nothing was stored."""


class MissingArtifact(ArtifactError):
    """The reference names nothing in this store, or a `part` of the artifact is gone."""

    def __init__(self, uri: str, sha256: str, part: str = "") -> None:
        super().__init__(uri, sha256, part)
        self.uri, self.sha256, self.part = uri, sha256, part

    def __str__(self) -> str:
        what = f"has no part {self.part}" if self.part else "is missing"
        return f"artifact {without_secrets(self.uri)} {what} (sha256 {self.sha256})"


class DamagedArtifact(ArtifactError):
    """The bytes found are not the bytes stored: truncated, longer or changed.

    Where only a `part` was read, the sizes and the hash found are the part's; `expected` is always the artifact's hash.
    """

    def __init__(
        self, uri: str, expected: str, found: str, expected_size: int, found_size: int, part: str = ""
    ) -> None:
        super().__init__(uri, expected, found, expected_size, found_size, part)
        self.uri, self.expected, self.found = uri, expected, found
        self.expected_size, self.found_size = expected_size, found_size
        self.part = part

    def __str__(self) -> str:
        if self.found_size < self.expected_size:
            what = "cut short"
        else:
            what = "longer than it was" if self.found_size > self.expected_size else "changed"
        artifact = f"artifact {without_secrets(self.uri)}"
        if self.part:
            return (
                f"{artifact} is damaged in its part {self.part} ({what}): expected {self.expected_size} bytes, found "
                f"{self.found_size} bytes with sha256 {self.found}"
            )
        return (
            f"{artifact} is damaged ({what}): expected {self.expected_size} bytes with sha256 {self.expected}, found "
            f"{self.found_size} bytes with sha256 {self.found}"
        )


def unreadable(uri: str, reason: str) -> str:
    """The message for a file whose hash is right but whose content cannot be parsed."""
    return f"{uri} {_UNREADABLE}: {reason}"


def is_called_unreadable(sha256: str, problem: str) -> bool:
    """Whether a message contains that of `unreadable` for this artifact."""
    return f"{sha256} {_UNREADABLE}: " in problem
