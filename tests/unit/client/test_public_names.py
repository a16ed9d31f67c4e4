"""The stable names for users' code: all there, and none loaded before it is used."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
INTERNAL = frozenset({"api", "league", "orchestrator", "workers"})
FOR_CONTRIBUTORS = frozenset({"changing-workflows.md", "data-model.md"})
"""Guides to the code itself."""
HEAVY = ("torch", "ray", "sqlalchemy", "workers", "temporalio")


def test_the_client_loads_neither_torch_nor_ray_nor_sqlalchemy() -> None:
    code = f"import sys, lanista; lanista.Client; sys.exit(', '.join(m for m in {HEAVY} if m in sys.modules) or None)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "name",
    [
        "agents",
        "games",
        "models",
        "algorithms",
        "buffers",
        "checkpoints",
        "matches",
        "crews",
        "rpc",
        "recordings",
        "search",
    ],
)
def test_every_public_name_exists(name: str) -> None:
    module = importlib.import_module(f"lanista.{name}")
    assert all(hasattr(module, each) for each in module.__all__)
    assert module.__all__ == sorted(module.__all__, key=lambda each: (each.upper() != each, each[0].islower(), each))


def users_code() -> Iterator[tuple[str, str]]:
    """Every piece of Python that a user is shown: code blocks of guides and of the README, and the examples."""
    folders = ("docs/guides", "docs/start", "docs/moving")
    pages = [path for folder in folders for path in (ROOT / folder).glob("*.md")]
    guides = [path for path in pages if path.name not in FOR_CONTRIBUTORS]
    for guide in [ROOT / "README.md", *guides]:
        for number, block in enumerate(re.findall(r"```python\n(.*?)```", guide.read_text(), re.DOTALL), start=1):
            yield f"{guide.name} block {number}", block
    for example in (ROOT / "examples").rglob("*.py"):
        yield str(example.relative_to(ROOT)), example.read_text()


def imported(code: str) -> set[str]:
    """The top packages that the code imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


def test_users_are_shown_public_names_only() -> None:
    shown = dict(users_code())
    assert len(shown) > 10
    assert {name: imported(code) & INTERNAL for name, code in shown.items() if imported(code) & INTERNAL} == {}
