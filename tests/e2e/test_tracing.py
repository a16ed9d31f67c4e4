"""A league on a traced stack: one generation is followed from the API to the processes on Ray."""

from __future__ import annotations

import json
from typing import Any

from orchestrator.tracing.reading import read_spans
from tests.e2e.leagues import League
from tests.e2e.stack import LocalStack


def test_a_generation_is_followed_from_the_request_to_the_actors(stack: LocalStack, league: League) -> None:
    listed = stack.lanista("trace", league.trial, "main", "--json")
    assert listed.returncode == 0, listed.stderr
    slowest = json.loads(listed.stdout)[0]
    shown = stack.lanista("trace", league.trial, "main", str(slowest["generation"]), "--json")
    (generation,) = json.loads(shown.stdout)
    spans: list[dict[str, Any]] = generation["spans"]
    roles = {span["name"]: span["process"] for span in spans}
    assert roles["plan_generation"] == roles["record_generation"] == roles["judge_generation"] == "store-worker"
    assert roles["train_generation"] == "train-worker"
    actor = next(span for span in spans if span["name"] == "FusedActor 0")
    parts = {span["name"] for span in spans if span["parent"] == actor["span"]}
    assert {"load", "rollout", "update", "upload"} <= parts
    workers = {stack.pid(name) for name in ("api", "store-worker", "train-worker")}
    assert actor["attributes"]["process.pid"] not in workers

    request = [span for span in read_spans(stack.home.traces) if [span.trace] == generation["links"]]
    by_role = {span.name: span.role for span in request}
    assert by_role["POST /api/v1/trials"] == "api"
    assert by_role["begin_trial"] == "store-worker"
    assert by_role["make_initial_weights"] == "train-worker"
