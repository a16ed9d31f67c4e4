"""The stable names for users' code: all there, and none loaded before it is used."""

import importlib
import subprocess
import sys

import pytest

HEAVY = ("torch", "ray", "sqlalchemy", "workers", "temporalio")


def test_the_client_loads_neither_torch_nor_ray_nor_sqlalchemy() -> None:
    code = f"import sys, lanista; lanista.Client; sys.exit(', '.join(m for m in {HEAVY} if m in sys.modules) or None)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["games", "models", "algorithms", "buffers"])
def test_every_public_name_exists(name: str) -> None:
    module = importlib.import_module(f"lanista.{name}")
    assert all(hasattr(module, each) for each in module.__all__)
    assert module.__all__ == sorted(module.__all__, key=lambda each: (each.upper() != each, each[0].islower(), each))
