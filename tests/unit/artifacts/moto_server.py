"""An object store for tests: moto's S3 in a thread of this process, where `moto` and `s3fs` are installed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from orchestrator.storage.artifacts import ArtifactStore


@contextmanager
def s3_store(bucket: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[ArtifactStore]:
    """A store in a bucket of its own; skips the test where the packages are not installed."""
    reason = 'needs `pip install "moto[server]" s3fs`'
    pytest.importorskip("s3fs", reason=reason)
    servers = pytest.importorskip("moto.server", reason=reason)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = servers.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        }.items():
            monkeypatch.setenv(name, value)
        store = ArtifactStore(f"s3://{bucket.replace('_', '-').lower()[:60]}/artifacts")
        store._fs.clear_instance_cache()
        store = ArtifactStore(store.root_url)
        store._fs.mkdir(store.root_url.split("/")[2])
        yield store
    finally:
        server.stop()
