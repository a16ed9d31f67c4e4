"""A link that signs this user's browser in: a one-time code behind the #, which no server or log gets to see."""

from __future__ import annotations

import httpx

from lanista.stack.home import Home

PATIENCE = 10.0


def sign_in_link(page: str, home: Home) -> str:
    """An address of the page with a fresh code; the plain address, and why, where none can be had."""
    token = home.admin_token.read_text().strip()
    try:
        answer = httpx.post(
            f"{page}/api/v1/session/codes", headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE
        )
        said = answer.json()
    except (httpx.HTTPError, ValueError) as error:  # a proxy before the API says what is wrong without JSON
        return f"{page} (no sign-in link: the API does not answer: {type(error).__name__})"
    if answer.status_code != httpx.codes.CREATED:
        return f"{page} (no sign-in link: {said.get('detail', answer.status_code)})"
    return f"{page}/signin#code={said['code']}"
