"""Counters of one gateway process, and their text for Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
"""Upper bounds of the histogram of answering times, in seconds."""
_OTHER_REASONS = "other"
_MOST_LABELS = 50


Series = tuple[str, str, str, dict[str, str], float]
"""A number besides those of every gateway: name, kind, help, labels and value."""


class GatewayMetrics:
    """Plain numbers: a tick adds to a few of them and allocates nothing."""

    __slots__ = (
        "aborted",
        "buckets",
        "connections",
        "ended",
        "forwarded",
        "more",
        "refused",
        "requests",
        "seconds",
        "sessions",
        "started",
        "user",
    )

    def __init__(self) -> None:
        self.started = 0
        self.ended = 0
        self.aborted: Counter[str] = Counter()
        """By reason."""
        self.refused: Counter[int] = Counter()
        """By status."""
        self.requests: Counter[str] = Counter()
        """By transport."""
        self.sessions = 0
        self.connections = 0
        self.forwarded = 0
        """Steps sent to another process of this gateway."""
        self.buckets = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0
        """Answering times, summed."""
        self.more: Callable[[], Sequence[Series]] = tuple
        """Further numbers, asked for when Prometheus asks: series of one name side by side."""
        self.user: dict[str, float] = {}
        """What agents report, by name: the latest value."""

    def answered(self, seconds: float) -> None:
        """One step was answered after `seconds`."""
        self.seconds += seconds
        self.buckets[bisect_left(BUCKETS, seconds)] += 1

    def abort(self, kind: str) -> None:
        """One session was aborted; `kind` is one of few words, since each becomes a time series."""
        self.aborted[kind if kind in self.aborted or len(self.aborted) < _MOST_LABELS else _OTHER_REASONS] += 1

    def snapshot(self) -> dict[str, Any]:
        """The numbers as JSON, to be merged over the processes of a gateway."""
        return {
            "started": self.started,
            "ended": self.ended,
            "aborted": dict(self.aborted),
            "refused": {str(status): count for status, count in self.refused.items()},
            "requests": dict(self.requests),
            "sessions": self.sessions,
            "connections": self.connections,
            "forwarded": self.forwarded,
            "buckets": list(self.buckets),
            "seconds": self.seconds,
            "more": [list(series) for series in self.more()],
        }


def prometheus_text(processes: Mapping[int, Mapping[str, Any]]) -> str:
    """Prometheus' text format; every series is labelled with the process it comes from."""
    lines: list[str] = []

    def family(name: str, kind: str, text: str) -> None:
        lines.extend((f"# HELP lanista_gateway_{name} {text}", f"# TYPE lanista_gateway_{name} {kind}"))

    def plain(name: str, key: str, kind: str, text: str) -> None:
        family(name, kind, text)
        lines.extend(f'lanista_gateway_{name}{{process="{i}"}} {numbers[key]}' for i, numbers in processes.items())

    def labelled(name: str, key: str, label: str, text: str) -> None:
        family(name, "counter", text)
        for i, numbers in processes.items():
            lines.extend(
                f'lanista_gateway_{name}{{process="{i}",{label}="{_escape(value)}"}} {count}'
                for value, count in numbers[key].items()
            )

    plain("sessions", "sessions", "gauge", "Game sessions open now.")
    plain("connections", "connections", "gauge", "Connections open now.")
    plain("sessions_started_total", "started", "counter", "Game sessions started.")
    plain("sessions_ended_total", "ended", "counter", "Game sessions that ended by themselves.")
    labelled("sessions_aborted_total", "aborted", "reason", "Game sessions without a result.")
    labelled("requests_total", "requests", "transport", "Steps received.")
    labelled("refused_total", "refused", "status", "Steps refused.")
    plain("forwarded_total", "forwarded", "counter", "Steps sent on to the process that has the session.")
    family("step_seconds", "histogram", "Time from a whole request to its answer.")
    for i, numbers in processes.items():
        total = 0
        for bound, count in zip([*map(str, BUCKETS), "+Inf"], numbers["buckets"], strict=True):
            total += count
            lines.append(f'lanista_gateway_step_seconds_bucket{{process="{i}",le="{bound}"}} {total}')
        lines.append(f'lanista_gateway_step_seconds_count{{process="{i}"}} {total}')
        lines.append(f'lanista_gateway_step_seconds_sum{{process="{i}"}} {numbers["seconds"]:.6f}')
    lines.extend(_further(processes))
    return "\n".join(lines) + "\n"


def _further(processes: Mapping[int, Mapping[str, Any]]) -> list[str]:
    """Lines of the numbers that a gateway has besides its own, those of one name together."""
    families: dict[str, list[str]] = {}
    for i, numbers in processes.items():
        for name, kind, text, labels, value in numbers["more"]:
            lines = families.setdefault(name, [f"# HELP {name} {text}", f"# TYPE {name} {kind}"])
            named = "".join(f',{label}="{_escape(each)}"' for label, each in labels.items())
            lines.append(f'{name}{{process="{i}"{named}}} {value:g}')
    return [line for lines in families.values() for line in lines]


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
