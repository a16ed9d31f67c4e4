"""Requests repeated under one Idempotency-Key after the first answer was lost, whatever had been done by then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select, update

from api.schemas.enums import GateStatus, Scope
from api.store.core.ids import new_id
from api.store.tables import AuditEntry, Event, Gate, IdempotencyKey
from api.web import changes
from api.web.routes import versions
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import PLAIN, Served
from tests.integration.api.stand_ins import weights_file
from tests.integration.api.test_trials import make, until


class Death(Exception):
    """Stands for a kill -9 of the API between what it did and the answer it would have kept."""


@contextmanager
def dying_before_the_answer(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def die(*arguments: Any) -> None:
        raise Death

    with monkeypatch.context() as patched:
        patched.setattr(changes, "store_response", die)
        yield


ORDERED = {"resume": {"running"}, "pause": {"pausing", "paused"}, "stop": {"stopping", "stopped"}}
"""Where a trial may be after an order."""


def new_key() -> dict[str, str]:
    return {"Idempotency-Key": new_id()}


@pytest.fixture
def paused(operator: httpx.Client) -> str:
    """A trial that waits to be resumed."""
    trial_id: str = make(operator)["id"]
    until(lambda: status_of(operator, trial_id) == "paused")
    return trial_id


def status_of(client: httpx.Client, trial_id: str) -> str:
    status: str = client.get(f"/api/v1/trials/{trial_id}").json()["status"]
    return status


def audited(api: Served, action: str, target: str) -> int:
    entries = select(func.count()).where(AuditEntry.action == action, AuditEntry.target == target)
    with api.sessions() as session:
        return session.scalars(entries).one()


def test_orders_whose_answer_was_lost_succeed_when_they_are_repeated(
    api: Served, operator: httpx.Client, paused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for order in ("resume", "pause", "stop"):
        path, key = f"/api/v1/trials/{paused}/{order}", new_key()
        with dying_before_the_answer(monkeypatch):
            assert operator.post(path, headers=key).status_code == 500
        again = operator.post(path, headers=key)
        assert again.status_code == 200, (order, again.text)
        assert operator.post(path, headers=key).content == again.content, "and its answer is kept"
        assert audited(api, f"trial.{order}", f"trial/{paused}") == 1
        other = operator.post(path, headers=new_key())
        assert other.status_code == 409, order
        # what was under way then may be done by now
        assert {other.json()["trial_status"], status_of(operator, paused)} <= ORDERED[order], order
        assert operator.post(path).status_code == 409, order


def test_a_repeated_order_does_not_undo_what_was_ordered_since(
    api: Served, operator: httpx.Client, paused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, key = f"/api/v1/trials/{paused}", new_key()
    with dying_before_the_answer(monkeypatch):
        assert operator.post(f"{path}/resume", headers=key).status_code == 500
    assert operator.post(f"{path}/pause").status_code == 200
    again = operator.post(f"{path}/resume", headers=key)
    assert again.status_code == 200 and again.json()["status"] in ("pausing", "paused")
    with api.sessions() as session:
        resumed = select(func.count()).where(Event.trial_id == paused, Event.payload["to"].astext == "running")
        assert session.scalars(resumed).one() == 1


def test_a_key_of_an_order_under_way_is_good_for_that_order_alone(
    operator: httpx.Client, paused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, key = f"/api/v1/trials/{paused}/stop", new_key()
    with dying_before_the_answer(monkeypatch):
        assert operator.post(path, headers=key, json={"reason": "one"}).status_code == 500
    other = operator.post(path, headers=key, json={"reason": "two"})
    assert other.status_code == 409 and "used for another request" in other.json()["detail"]
    assert operator.post(path, headers=key, json={"reason": "one"}).status_code == 200


def test_a_refused_order_may_be_mended_under_its_key(operator: httpx.Client, paused: str) -> None:
    """The workflow takes no new player before the trial was resumed once; that binds the key to nothing."""
    path, key = f"/api/v1/trials/{paused}/players", new_key()
    refused = operator.post(path, headers=key, json={"name": "more", "role": "main"})
    assert refused.status_code == 409, "not launched yet"
    mended = operator.post(path, headers=key, json={"name": "other", "role": "main"})
    assert "used for another request" not in mended.text


def test_a_gate_whose_stop_was_not_answered(
    api: Served, operator: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate_id = waiting_gate(api, readable_league(api.sessions))
    path, key, why = f"/api/v1/gates/{gate_id}/stop", new_key(), {"reason": "not this one"}
    with dying_before_the_answer(monkeypatch):
        assert operator.post(path, headers=key, json=why).status_code == 500
    again = operator.post(path, headers=key, json=why)
    assert (again.status_code, again.json()["status"]) == (200, "invalid")
    assert operator.post(path, headers=new_key(), json=why).status_code == 409


def waiting_gate(api: Served, readable: ReadableLeague) -> str:
    with api.sessions.begin() as session:
        passed = session.get_one(Gate, readable.gate_id)
        same = ("project_id", "trial_id", "game", "candidate_version_id", "elo0", "elo1", "alpha", "beta")
        values = {name: getattr(passed, name) for name in (*same, "lower_bound", "upper_bound", "max_pairs", "seed")}
        waiting = Gate(**values, alias=new_id(), status=GateStatus.WAITING, pairs=0, pentanomial=[0] * 5, llr=0.0)
        session.add(waiting)
        session.flush()
        return waiting.id


def test_a_repeated_import_of_weights_asks_no_worker(
    api: Served, operator: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, key = {"trial_id": readable_league(api.sessions).trial_id, "name": "veteran"}, new_key()

    def imported() -> httpx.Response:
        return operator.post("/api/v1/versions", params=where, content=weights_file("good"), headers=key)

    first = imported()
    assert first.status_code == 201, first.text

    async def no_worker(*question: Any) -> None:
        raise versions.ProblemError(409, "no train worker answers")

    monkeypatch.setattr(versions, "ask", no_worker)
    assert imported().content == first.content


def test_one_key_makes_one_code(api: Served) -> None:
    key = new_key()
    with api.client(Scope.VIEWER) as client:
        first, again = (client.post("/api/v1/session/codes", headers=key) for _ in range(2))
        other = client.post("/api/v1/session/codes", headers=new_key())
    assert (first.status_code, again.headers["cache-control"]) == (201, "no-store")
    assert first.json() == again.json() and other.json()["code"] != first.json()["code"]
    assert sign_in(api, first.json()["code"]).status_code == 201


def sign_in(api: Served, code: str, headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.post(f"{api.base}/api/v1/session", json={"code": code}, headers=headers, **PLAIN)


@pytest.fixture
def code(api: Served) -> str:
    with api.client(Scope.VIEWER) as client:
        made: str = client.post("/api/v1/session/codes").json()["code"]
    return made


def test_a_sign_in_whose_answer_was_lost_is_repeated_by_who_sent_it(api: Served, code: str) -> None:
    key = new_key()
    assert [sign_in(api, code, key).status_code for _ in range(2)] == [201, 201]
    assert sign_in(api, code).status_code == 401
    assert sign_in(api, code, new_key()).status_code == 401


@pytest.mark.parametrize(
    "spoilt", [lambda api: age_keys(api, timedelta(seconds=61)), lambda api: {"Idempotency-Key": "once"}]
)
def test_a_code_is_not_taken_again_late_or_under_a_key_that_could_be_guessed(
    api: Served, code: str, spoilt: Callable[[Served], dict[str, str] | None]
) -> None:
    short = spoilt(api)
    key = short or new_key()
    assert sign_in(api, code, key).status_code == 201
    spoilt(api)
    assert sign_in(api, code, key).status_code == 401


def age_keys(api: Served, age: timedelta) -> None:
    with api.sessions.begin() as session:
        session.execute(update(IdempotencyKey).values(created_at=IdempotencyKey.created_at - age))
