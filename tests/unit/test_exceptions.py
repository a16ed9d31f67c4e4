"""Every exception of the project passes between processes: Ray and subprocesses pickle what they raise."""

from __future__ import annotations

import builtins
import importlib
import pickle
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from orchestrator.contracts.errors import Failure
from orchestrator.spec.reading.problems import Problem
from orchestrator.workflows.retries import FailedAttempt

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "lanista", "league", "orchestrator", "workers")
ROOTS = {name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)}
"""Names of exceptions that do not come from these packages."""


def exceptions() -> Iterator[type[Exception]]:
    """Every exception class of these packages. Only the modules that define one are imported."""
    classes = list(_classes())
    known = ROOTS | {"ApplicationError"}
    while new := {name for _, name, bases in classes if bases & known} - known:
        known |= new
    for module, name, bases in classes:
        if bases & known:
            kind = getattr(importlib.import_module(module), name)
            assert issubclass(kind, Exception)
            yield kind


def _classes() -> Iterator[tuple[str, str, set[str]]]:
    """Module, name and names of the bases of every class of these packages."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            for name, bases in re.findall(r"^class (\w+)\(([^)]*)\):", path.read_text(), re.MULTILINE):
                yield module, name, {base.strip().rpartition(".")[2] for base in bases.split(",")}


SAMPLES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "api.store.core.errors.Conflict": (("taken",), {"status": "running"}),
    "api.web.problems.ProblemError": ((409, "taken"), {"headers": {"Retry-After": "1"}, "trial_status": "running"}),
    "lanista.client.errors.Problem": ((409, "Conflict", "taken", {"trial_status": "running"}), {}),
    "lanista.client.errors.TokenWithheld": (("http://there",), {}),
    "lanista.simulator.exchange.Refused": ((503, "busy", 1.0), {}),
    "league.errors.UnknownPlayer": (("main", "the roster"), {}),
    "league.errors.UnknownRule": (("format", "x", ["swiss"]), {}),
    "orchestrator.storage.artifact_errors.ArtifactStoreUnavailable": (("file:///there", "full"), {}),
    "orchestrator.storage.artifact_errors.DamagedArtifact": (("file:///there", "aa", "bb", 3, 2), {}),
    "orchestrator.storage.artifact_errors.MissingArtifact": (("file:///there", "aa"), {}),
    "orchestrator.spec.reading.problems.InvalidTrial": (([Problem(path="game.id", message="missing", line=2)],), {}),
    "orchestrator.spec.reading.yaml_source.TextError": (("no YAML", (3, 4)), {}),
    "orchestrator.workflows.retries.RetriesExhausted": (
        (FailedAttempt(failure=Failure.UNKNOWN, problem="x", tries=1, delay=timedelta(0)),),
        {"final": True},
    ),
    "workers.games.errors.IllegalAction": (("nim", 0, 1, 7, [0, 1]), {}),
    "workers.gateway.contract.Refused": ((503, "busy", 1.0), {}),
    "workers.user_errors.UserCodeError": (("ZeroDivisionError: x", "  File 'y'"), {}),
}
"""Arguments for the classes whose constructors take more than a message; their subclasses share them."""


def example_of(kind: type[Exception]) -> Exception:
    for each in kind.__mro__:
        found = SAMPLES.get(f"{each.__module__}.{each.__qualname__}")
        if found is not None:
            return kind(*found[0], **found[1])
    return kind("words")


def test_every_exception_passes_between_processes() -> None:
    found = list(exceptions())
    assert {kind.__module__.partition(".")[0] for kind in found} == set(PACKAGES), "all packages were searched"
    lost = []
    for kind in found:
        error = example_of(kind)
        try:
            again = pickle.loads(pickle.dumps(error))
        except TypeError as problem:
            lost.append(f"{kind.__module__}.{kind.__qualname__}: {problem}")
            continue
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
    assert lost == []
