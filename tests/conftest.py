"""For all tests: a slow machine is no reason to fail, one commit draws the same examples, tracebacks are plain.

Where they run in several processes, those on the whole stack share one of them, and the others stay with their file.
"""

from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests.wheel import build_wheel

settings.register_profile("lanista", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lanista")

# structlog's own default writes out every local variable, which takes seconds for an error inside the application
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)

TESTS = Path(__file__).parent
ON_THE_STACK = TESTS / "e2e"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        together = ON_THE_STACK if item.path.is_relative_to(ON_THE_STACK) else item.path
        if together.is_relative_to(TESTS):
            item.add_marker(pytest.mark.xdist_group(str(together.relative_to(TESTS))))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built once for all tests of a process."""
    return build_wheel(tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel"))
