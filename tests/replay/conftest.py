"""Replayed workflows are collected where they were replayed."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _collected() -> Iterator[None]:
    # Python 3.11 fails in `ast.parse` ("recursion depth mismatch") where the collector ends a workflow's coroutines
    # meanwhile, so a later test in this process would fail
    yield
    gc.collect()
