"""Calls go out as the API wants them, come back typed, and are tried again where that can help."""

from __future__ import annotations

import hashlib
import inspect
import json
import subprocess
import sys
from functools import partial

import httpx
import pytest
from tenacity import AsyncRetrying, Retrying

from api.schemas.trials import Trial
from lanista.client import AsyncClient, Client, LanistaError, Retries, asynchronous, blocking
from lanista.client.errors import (
    ChangedMeanwhile,
    Conflict,
    InvalidRequest,
    NotAllowed,
    NotFound,
    NotSignedIn,
    Problem,
    ServerFault,
    TooManyRequests,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
)
from tests.unit.client.fake_api import (
    NO_WAITING,
    URL,
    Caller,
    FakeApi,
    Stream,
    a_trial,
    a_version,
    an_id,
    page,
    problem,
)

LOST = httpx.ConnectError("Connection refused")


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a client slept between attempts; nobody sleeps."""
    taken: list[float] = []

    async def awaited(seconds: float) -> None:
        taken.append(seconds)

    monkeypatch.setattr(blocking, "Retrying", partial(Retrying, sleep=taken.append))
    monkeypatch.setattr(asynchronous, "AsyncRetrying", partial(AsyncRetrying, sleep=awaited))
    return taken


def test_a_call_carries_the_token_and_comes_back_typed(caller: Caller) -> None:
    api = FakeApi(httpx.Response(200, json=a_trial()))
    trial = caller.call(api, lambda client: client.trial(an_id(1)))
    assert isinstance(trial, Trial)
    assert trial.label == "games/trial-1" and trial.started_at is not None and trial.started_at.year == 2030
    assert api.requests[0].url.path == f"/api/v1/trials/{an_id(1)}"
    assert api.requests[0].headers["Authorization"] == "Bearer secret"
    assert "Idempotency-Key" not in api.requests[0].headers


def test_what_was_not_given_is_not_sent(caller: Caller) -> None:
    api = FakeApi(httpx.Response(200, json=a_trial()))
    caller.call(api, lambda client: client.stop_trial(an_id(1), mode="now"))
    assert json.loads(api.requests[0].content) == {"mode": "now"}


def test_weights_are_sent_as_they_are(caller: Caller) -> None:
    api = FakeApi(httpx.Response(201, json=a_version(1)))
    caller.call(api, lambda client: client.import_weights(an_id(1), name="veteran", data=b"\x00weights"))
    assert api.requests[0].content == b"\x00weights"
    assert api.requests[0].headers["Content-Type"] == "application/octet-stream"
    assert dict(api.requests[0].url.params) == {"trial_id": an_id(1), "name": "veteran"}


def test_what_a_call_answered_can_be_given_to_the_next(caller: Caller) -> None:
    api = FakeApi(httpx.Response(200, json=a_version(1)))
    version = caller.call(api, lambda client: client.version(an_id(201)))
    caller.call(api, lambda client: client.version(version))
    assert api.requests[0].url == api.requests[1].url


def test_names_in_paths_cannot_reach_another_call(caller: Caller) -> None:
    api = FakeApi(problem(404))
    with pytest.raises(NotFound):
        caller.call(api, lambda client: client.alias("../tokens", "a/b"))
    assert api.requests[0].url.raw_path == b"/api/v1/projects/..%2Ftokens/aliases/a%2Fb"


@pytest.mark.parametrize("passing", [LOST, httpx.ReadTimeout("slow"), problem(503), problem(429), problem(502)])
def test_a_change_is_repeated_under_one_key(caller: Caller, passing: httpx.Response | Exception) -> None:
    api = FakeApi(passing, passing, httpx.Response(201, json=a_trial()))
    caller.call(api, lambda client: client.create_trial(name="trial-1", spec={"game": {"id": "tic_tac_toe"}}))
    assert len(api.requests) == 3
    keys = {request.headers["Idempotency-Key"] for request in api.requests}
    assert len(keys) == 1 and keys.pop()
    assert len({request.content for request in api.requests}) == 1


def test_two_changes_have_two_keys(caller: Caller) -> None:
    api = FakeApi(httpx.Response(200, json=a_trial()))
    for _ in range(2):
        caller.call(api, lambda client: client.pause_trial(an_id(1)))
    assert len({request.headers["Idempotency-Key"] for request in api.requests}) == 2


def test_nobody_answering_is_told_in_the_end(caller: Caller) -> None:
    api = FakeApi(LOST)
    with pytest.raises(Unreachable, match=r"http://lanista\.test does not answer: Connection refused"):
        caller.call(api, lambda client: client.system())
    assert len(api.requests) == NO_WAITING.attempts


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequest),
        (401, NotSignedIn),
        (403, NotAllowed),
        (404, NotFound),
        (409, Conflict),
        (412, ChangedMeanwhile),
        (413, InvalidRequest),
        (422, InvalidRequest),
        (429, TooManyRequests),
        (500, ServerFault),
        (503, Unavailable),
    ],
)
def test_problems_become_errors_of_their_kind(caller: Caller, status: int, kind: type[Problem]) -> None:
    api = FakeApi(problem(status, "so it is", trial_status="paused"))
    with pytest.raises(LanistaError) as caught:
        caller.call(api, lambda client: client.pause_trial(an_id(1)))
    error = caught.value
    assert type(error) is kind
    assert isinstance(error, Problem)
    assert str(error) == "so it is" and error.status == status and error.more == {"trial_status": "paused"}
    assert len(api.requests) == (NO_WAITING.attempts if status in (429, 503) else 1)


def test_wrong_fields_are_named(caller: Caller) -> None:
    api = FakeApi(problem(422, "name: no", errors=[{"field": "body.name", "message": "no"}]))
    with pytest.raises(InvalidRequest) as caught:
        caller.call(api, lambda client: client.create_trial(name="A B", spec={}))
    assert [(item.field, item.message) for item in caught.value.fields] == [("body.name", "no")]


def test_a_proxy_that_answers_with_a_page_is_understood(caller: Caller) -> None:
    api = FakeApi(httpx.Response(503, text="<html>Bad weather</html>"))
    with pytest.raises(Unavailable, match="503"):
        caller.call(api, lambda client: client.system())


@pytest.mark.parametrize(
    "answer", [httpx.Response(200, json={"id": 1}), httpx.Response(200, text="<html>"), httpx.Response(302)]
)
def test_an_answer_that_is_not_ours_is_told(caller: Caller, answer: httpx.Response) -> None:
    with pytest.raises(UnexpectedAnswer):
        caller.call(FakeApi(answer), lambda client: client.trial(an_id(1)))


def test_the_server_says_how_long_to_wait(caller: Caller, pauses: list[float]) -> None:
    asked = [httpx.Response(429, headers={"Retry-After": after}) for after in ("7", "90000")]
    api = FakeApi(*asked, LOST, LOST, httpx.Response(200, json=a_trial()))
    caller.call(api, lambda client: client.trial(an_id(1)), Retries(attempts=5, first_wait=1, longest_wait=20))
    assert pauses[:2] == [7, 20]
    assert 0 < pauses[2] < pauses[3] <= 25 and len(pauses) == 4


def test_pauses_grow_up_to_the_longest(caller: Caller, pauses: list[float]) -> None:
    with pytest.raises(Unreachable):
        caller.call(FakeApi(LOST), lambda client: client.system(), Retries(attempts=9, first_wait=0.2, longest_wait=2))
    assert len(pauses) == 8 and pauses[0] <= 0.25
    assert all(1.5 <= pause <= 2.5 for pause in pauses[4:])


def test_an_answer_that_breaks_off_is_asked_for_again(caller: Caller) -> None:
    whole = json.dumps(a_trial()).encode()
    broken = httpx.Response(200, stream=Stream(whole[:40], error=httpx.ReadError("connection reset")))
    api = FakeApi(broken, httpx.Response(201, json=a_trial()))
    caller.call(api, lambda client: client.create_trial(name="trial-1", spec={}))
    assert len({request.headers["Idempotency-Key"] for request in api.requests}) == 1 and len(api.requests) == 2


def test_lists_come_page_after_page_and_only_as_far_as_wanted(caller: Caller) -> None:
    pages = [page(a_trial(1), a_trial(2), next_cursor="a"), page(a_trial(3), next_cursor="b"), page(a_trial(4))]
    api = FakeApi(*pages)
    found = caller.take(api, lambda client: client.trials(project="games", status=["running", "paused"]), 100)
    assert [trial.name for trial in found] == ["trial-1", "trial-2", "trial-3", "trial-4"]
    assert [request.url.params.get("cursor") for request in api.requests] == [None, "a", "b"]
    assert api.requests[1].url.params.get_list("status") == ["running", "paused"]
    few = FakeApi(*pages)
    assert len(caller.take(few, lambda client: client.trials(), 2)) == 2
    assert len(few.requests) == 1


def test_an_edit_may_insist_on_a_revision(caller: Caller) -> None:
    api = FakeApi(problem(412, "the resource is at revision 4, not 3"))
    with pytest.raises(ChangedMeanwhile):
        caller.call(api, lambda client: client.change_player(an_id(2), retire=True, if_revision=3))
    assert api.requests[0].headers["If-Match"] == '"3"'


def test_a_checkpoint_is_checked_against_its_hash(caller: Caller) -> None:
    good = hashlib.sha256(b"weights").hexdigest()
    whole = FakeApi(httpx.Response(200, content=b"weights", headers={"ETag": f'"{good}"'}))
    assert caller.call(whole, lambda client: client.checkpoint(an_id(5))) == b"weights"
    damaged = FakeApi(httpx.Response(200, content=b"weight", headers={"ETag": f'"{good}"'}))
    with pytest.raises(UnexpectedAnswer, match="damaged"):
        caller.call(damaged, lambda client: client.checkpoint(an_id(5)))


def test_both_clients_have_the_same_calls_with_words_and_parameters() -> None:
    def calls(client: type) -> dict[str, str]:
        public = {name: value for name, value in vars(client).items() if not name.startswith("_") and callable(value)}
        assert all(inspect.getdoc(value) for value in public.values())
        return {name: str(inspect.signature(value)).partition(" ->")[0] for name, value in public.items()}

    assert calls(Client) == calls(AsyncClient)
    assert calls(Client)["player"] == "(self, /, player_id: 'str')"


def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="is not an address"):
        Client("lanista.test:80", "secret")


def test_a_client_does_not_show_its_token() -> None:
    with Client(URL, "secret") as client:
        assert "secret" not in repr(client) and "secret" not in str(vars(client))


STACK = (
    "sqlalchemy",
    "fastapi",
    "torch",
    "ray",
    "temporalio",
    "numpy",
    "scipy",
    "psycopg",
    "structlog",
    "orjson",
    "fsspec",
)


@pytest.mark.parametrize("code", ["import lanista; lanista.Client, lanista.AsyncClient", "import lanista.cli"])
def test_client_and_command_line_load_nothing_of_the_stack(code: str) -> None:
    code = f"{code}; import sys; print([name for name in {STACK} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_importing_lanista_is_light() -> None:
    code = "import sys, lanista; print([m for m in ('httpx', 'pydantic', 'rich') if m in sys.modules]); lanista.Client"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
