"""Messages between the API and its checking process: the trial file to check, and the findings.

Both are JSON of the standard library, which carries whatever text a caller sends, also what UTF-8 cannot encode.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from orchestrator.spec import InvalidTrial, TrialSpec
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.reading.loading import parse_trial
from orchestrator.spec.reading.problems import Problem


@dataclass(frozen=True, kw_only=True)
class ToRead:
    """A trial file as text, or a spec as JSON."""

    text: str | None = None
    spec: dict[str, Any] | None = None

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode("ascii")

    @classmethod
    def from_json(cls, text: bytes) -> ToRead:
        return cls(**json.loads(text))


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The problems of a file; its spec if there are none."""

    spec: dict[str, Any] | None = None
    problems: tuple[Problem, ...] = ()

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode("ascii")

    @classmethod
    def from_json(cls, text: bytes) -> Finding:
        found = json.loads(text)
        return cls(spec=found["spec"], problems=tuple(Problem(**problem) for problem in found["problems"]))

    def result(self) -> TrialSpec:
        """The spec; raises InvalidTrial."""
        if self.spec is None:
            raise InvalidTrial(self.problems)
        return TrialSpec.model_validate(self.spec)


def read(file: ToRead) -> Finding:
    """Check the file; nothing is imported and nothing is run."""
    try:
        spec = parse_trial(file.text).spec if file.text is not None else check_spec(file.spec or {})
    except InvalidTrial as error:
        return Finding(problems=error.problems)
    return Finding(spec=spec.to_json())
