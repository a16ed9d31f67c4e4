"""Health and metrics of a serving process, beside those of its gateway."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from workers.gateway.metrics import Series
from workers.serving.director import ServingDirector


class Following(Protocol):
    """What is known of the alias."""

    api_reachable: bool
    problem: str
    refused: dict[str, str]


def serving_series(director: ServingDirector, following: Following) -> list[Series]:
    """Numbers for Prometheus."""
    return list(_series(director, following))


def _series(director: ServingDirector, following: Following) -> Iterator[Series]:
    text = "Sessions by version and outcome."
    for (version, outcome), count in sorted(director.sessions.items()):
        labels = {"version": version, "outcome": outcome}
        yield "lanista_serving_sessions_total", "counter", text, labels, count
    for role, version in _versions(director).items():
        labels = {"role": role, "version": version}
        yield "lanista_serving_version_info", "gauge", "Versions that are served.", labels, 1
    numbers = (
        ("swaps_total", "counter", "How often the champion changed.", director.swaps),
        ("canary_share", "gauge", "The share of sessions that the canary gets.", director.share),
        ("not_compared_total", "counter", "Sessions of a comparison that say nothing.", director.not_compared),
        ("api_reachable", "gauge", "Whether the API answers.", int(following.api_reachable)),
        ("refused_versions", "gauge", "Versions that could not be served.", len(following.refused)),
    )
    for name, kind, text, value in numbers:
        yield f"lanista_serving_{name}", kind, text, {}, value


def serving_health(director: ServingDirector, following: Following) -> dict[str, Any]:
    """Fields of `GET /health`."""
    return {
        "alias": director.alias,
        "versions": _versions(director),
        "api_reachable": following.api_reachable,
        "problem": following.problem,
        "refused": dict(following.refused),
    }


def _versions(director: ServingDirector) -> dict[str, str]:
    served = {"champion": director.champion, "canary": director.canary}
    return {role: version.record.name for role, version in served.items() if version is not None}
