"""TensorBoard behind the API's sign-in: requests with a valid ticket in their address are passed on to it.

See docs/decisions/authentication.md.
"""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool

from api.web.auth.chart_tickets import read_ticket
from api.web.auth.tokens import Principal
from api.web.problems import ProblemError
from api.web.services import Services
from api.web.tensorboard_proxy import HEADERS, METHODS

PATH = "/tensorboard"


def install_tensorboard(app: FastAPI) -> None:
    """Serve TensorBoard below /tensorboard/<ticket>/."""
    app.add_api_route(f"{PATH}/{{ticket}}/{{path:path}}", _charts, methods=METHODS, include_in_schema=False)


async def _charts(request: Request, ticket: str, path: str) -> Response:
    services: Services = request.app.state.services
    if services.tensorboard is None:
        raise ProblemError(404, "this API serves no TensorBoard: LANISTA_TENSORBOARD_UPSTREAM is not set")
    if request.method == "OPTIONS":  # a CORS preflight needs no ticket: the answer has no data
        return Response(status_code=204, headers=HEADERS)
    found: Principal | None = await run_in_threadpool(read_ticket, services.signer, services.tokens, ticket)
    if found is None:
        raise ProblemError(401, f"this link is over; sign in at {PATH} for a new one")
    return await services.tensorboard.pass_on(request, path)
