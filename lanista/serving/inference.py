"""The inference service of a serving gateway: one for all of its processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

import ray

from lanista.serving.server import ServeOptions, join_ray
from workers.serving.inference_service import InferenceService


@contextmanager
def shared_service(options: ServeOptions, processes: int) -> Iterator[ServeOptions]:
    """Start a service that the processes of a gateway join; a single process starts its own."""
    if options.service is None or processes == 1:
        yield options
        return
    join_ray()
    name = f"serving-{uuid4().hex[:12]}"
    service = InferenceService(options.service, name=name)
    try:
        yield replace(options, service_name=name)
    finally:
        service.stop()
        ray.shutdown()
