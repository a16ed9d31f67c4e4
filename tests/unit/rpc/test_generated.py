"""The generated code is that of the .proto files, and every method is implemented."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.unit.rpc.serving import EchoTable, FakeRegistry, make_front
from workers.gateway.rpc.binding import RpcService, handlers_of
from workers.gateway.rpc.gamecore import GamecoreService
from workers.gateway.rpc.parameters import ParametersService
from workers.gateway.rpc.policies import Policies
from workers.gateway.rpc.policy import PolicyService
from workers.gateway.rpc.replay import ReplayService

ROOT = Path(__file__).parents[3]


def test_the_generated_code_is_current() -> None:
    """`python protos/generate.py` would change nothing."""
    found = importlib.util.spec_from_file_location("generate", ROOT / "protos" / "generate.py")
    assert found is not None and found.loader is not None
    generate = importlib.util.module_from_spec(found)
    found.loader.exec_module(generate)
    kept = {path.name: path.read_text("utf-8") for path in generate.TARGET.glob("*_pb2*")}
    assert generate.generate() == kept


def test_every_message_and_method_has_a_comment() -> None:
    for path in (ROOT / "protos").rglob("*.proto"):
        lines = path.read_text("utf-8").splitlines()
        for before, line in pairwise(lines):
            if re.match(r"\s*(rpc|service|enum) ", line):
                assert before.strip().startswith("//"), f"{path.name}: {line.strip()}"


def test_every_method_is_implemented() -> None:
    registry = FakeRegistry(versions=0)
    services: list[RpcService] = [
        GamecoreService(make_front(EchoTable())),
        PolicyService(Policies(registry)),
        ParametersService(registry),
        ReplayService(1, 1),
    ]
    methods = {f"{service.descriptor.name}.{name}" for service in services for name in handlers_of(service, print)}
    assert {"Gamecore.Play", "Policy.Act", "Parameters.Publish", "Replay.Sample"} <= methods


def test_a_method_that_is_missing_is_named() -> None:
    class Half(RpcService):
        descriptor = ReplayService.descriptor

    with pytest.raises(TypeError, match=r"Half lacks Open, which lanista\.v1\.Replay\.Open declares"):
        handlers_of(Half(), print)


def test_a_gateway_that_nobody_asks_for_policies_loads_no_torch() -> None:
    code = "import sys, workers.gateway.rpc.listening; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
