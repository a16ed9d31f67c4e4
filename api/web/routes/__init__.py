"""HTTP routes, one file per subject. They translate between HTTP and the store, and do nothing else."""

from api.web.routes import (
    aliases,
    catalog,
    code,
    decisions,
    events,
    gates,
    health,
    lifecycle,
    matches,
    metrics,
    overview,
    payoff,
    play,
    players,
    projects,
    ratings,
    recorded_games,
    replays,
    schedules,
    session,
    system,
    tokens,
    tournaments,
    trials,
    versions,
)
from api.web.routes import audit_log as audit

ROUTERS = tuple(
    module.router
    for module in (
        health,
        session,
        trials,
        overview,
        code,
        lifecycle,
        players,
        versions,
        payoff,
        ratings,
        decisions,
        metrics,
        matches,
        replays,
        recorded_games,
        play,
        gates,
        tournaments,
        schedules,
        aliases,
        events,
        projects,
        catalog,
        system,
        tokens,
        audit,
    )
)
"""All routers, in the order of the OpenAPI document."""
