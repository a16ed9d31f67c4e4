"""ETags of editable resources: their revision. With If-Match, an edit based on an older revision is refused."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header

from api.web.problems import ProblemError

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        pattern=r'^(\*|"[0-9]{1,18}")$',
        description="the ETag that was read; the change is refused with 412 if the resource has changed since",
        examples=['"3"'],
    ),
]


def etag(revision: int) -> dict[str, str]:
    return {"ETag": f'"{revision}"'}


def revision_of(if_match: str | None) -> int | None:
    """The revision in If-Match; None for any."""
    return None if if_match in (None, "*") else int(if_match.strip('"'))


def require_match(if_match: str | None, revision: int) -> None:
    """Refuse with 412 unless If-Match has the present revision."""
    wanted = revision_of(if_match)
    if wanted is not None and wanted != revision:
        raise ProblemError(
            412, f"the resource is at revision {revision}, not {wanted}; read it again", headers=etag(revision)
        )
