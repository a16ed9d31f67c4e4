"""For all tests: a slow machine is no reason to fail, one commit draws the same examples, tracebacks are plain."""

import structlog
from hypothesis import HealthCheck, settings

settings.register_profile("lanista", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lanista")

# structlog's own default writes out every local variable, which takes seconds for an error inside the application
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)
