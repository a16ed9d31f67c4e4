"""What depends on the caller's encodings says so, whichever form it has."""

from __future__ import annotations

import asyncio

import pytest
from fastapi import Request, Response

from api.web.responses.conditional import LEAST_BYTES, shrink


def answer(*, size: int = LEAST_BYTES, vary: str = "", **headers: str) -> Response:
    response = Response(b"1" * size, media_type="application/json", headers={"Vary": vary} if vary else {})
    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return asyncio.run(shrink(Request({"type": "http", "headers": given}), response))


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_both_forms_vary_and_keep_what_they_varied_by(encoding: str) -> None:
    plain = answer(accept_encoding=encoding)
    assert plain.headers["vary"] == "Accept-Encoding" and ("content-encoding" in plain.headers) == (encoding == "gzip")
    assert answer(accept_encoding=encoding, vary="Cookie").headers["vary"] == "Cookie, Accept-Encoding"


def test_what_the_caller_has_varies_too() -> None:
    known = answer(if_none_match=answer().headers["etag"], vary="Cookie")
    assert known.status_code == 304 and known.headers["vary"] == "Cookie, Accept-Encoding"


def test_a_small_answer_is_left_alone() -> None:
    assert "vary" not in answer(size=LEAST_BYTES - 1, accept_encoding="gzip").headers
