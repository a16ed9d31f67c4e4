"""A short fuzzing of every call by its OpenAPI document; benchmarks/faults/api_schemathesis.py does 20,000 requests."""

from __future__ import annotations

from api.schemas.enums import Scope
from benchmarks.faults.api_schemathesis import ENDLESS, REVOKING, fuzz
from tests.integration.api.league import readable_league
from tests.integration.api.server import Served


def test_no_call_crashes_hangs_or_answers_what_it_does_not_say(api: Served) -> None:
    readable_league(api.sessions)
    code, cases, said = fuzz(
        api.base,
        api.tokens[Scope.ADMIN],
        *("--phases", "examples,fuzzing", "-n", "3", "--seed", "1"),
        *("--exclude-path-regex", f"{ENDLESS}|{REVOKING}"),
    )
    assert code == 0, said[said.find("FAILURES") :]
    assert cases > 100
