"""What is shown of an address holds no user and no password."""

import pytest

from orchestrator.storage.artifacts import ArtifactStoreUnavailable, DamagedArtifact, MissingArtifact, open_filesystem
from orchestrator.storage.uris import without_secrets


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("sftp://ada:secret@store/checkpoint/9f/9f86", "sftp://store/checkpoint/9f/9f86"),
        ("simplecache::sftp://ada:secret@store/9f", "simplecache::sftp://store/9f"),
        ("s3://bucket/a@b/9f86", "s3://bucket/a@b/9f86"),
        ("/srv/a@b", "/srv/a@b"),
    ],
)
def test_a_uri_tells_no_secret(uri: str, shown: str) -> None:
    assert without_secrets(uri) == shown


def test_errors_tell_no_secret() -> None:
    uri = "sftp://ada:secret@store/checkpoint/9f/9f86"
    errors = ArtifactStoreUnavailable(uri, "gone"), MissingArtifact(uri, "9f86"), DamagedArtifact(uri, "a", "b", 3, 2)
    assert all("store/checkpoint" in str(error) and "secret" not in str(error) for error in errors)
    with pytest.raises(ArtifactStoreUnavailable) as refused:
        open_filesystem("nonsense://ada:secret@store")
    assert "nonsense://store" in str(refused.value) and "secret" not in str(refused.value)
