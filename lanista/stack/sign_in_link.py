"""A link that signs a browser in: a one-time code in the URL fragment, which no server or log receives."""

from __future__ import annotations

from functools import partial

import httpx

from lanista.client.own_process import only_to
from lanista.stack.api_process import api_process
from lanista.stack.errors import StackError
from lanista.stack.home import Home

TIMEOUT = 10.0


def sign_in_link(page: str, home: Home) -> str:
    """The page's address with a new code; if there is none, the plain address with the reason."""
    try:
        token = home.own_token()
    except StackError as error:
        return f"{page} (no sign-in link: {error})"
    ours = partial(api_process, home, page, token_owner=token.owner)
    try:
        with httpx.Client(timeout=TIMEOUT, **only_to(ours)) as client:
            answer = client.post(f"{page}/api/v1/session/codes", headers={"Authorization": f"Bearer {token.text}"})
        body = answer.json()
    except (httpx.HTTPError, ValueError) as error:  # a proxy in front of the API may answer without JSON
        return f"{page} (no sign-in link: the API does not answer: {type(error).__name__})"
    if answer.status_code != httpx.codes.CREATED:
        return f"{page} (no sign-in link: {body.get('detail', answer.status_code)})"
    return f"{page}/signin#code={body['code']}"
