"""The guide to gRPC is true: its code runs, and its steps to an RPC of one's own lead there."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.rpc.serving import EchoTable, FakeRegistry, boards, make_front, serving
from workers.gateway.rpc.binding import RpcService
from workers.gateway.rpc.gamecore import GamecoreService
from workers.gateway.rpc.parameters import ParametersService
from workers.gateway.rpc.policies import Policies
from workers.gateway.rpc.policy import PolicyService
from workers.gateway.rpc.replay import ReplayService
from workers.gateway.rpc.services import ServiceContext, own_services
from workers.gateway.rpc.statuses import _CODES

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs/guides/grpc.md").read_text("utf-8")
FIRST, STEPS = GUIDE.split("## Add an RPC of your own")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


async def test_the_code_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    scope: dict[str, Any] = {}
    for block in blocks(FIRST, "python"):
        own: dict[str, Any] = {}
        exec(block, own)
        scope |= {name: made for name, made in own.items() if callable(made)}
    assert capsys.readouterr().out == "['obs/board', 'obs/turn'] (2, 9)\n"
    registry = FakeRegistry()
    services: list[RpcService] = [
        GamecoreService(make_front(EchoTable())),
        PolicyService(Policies(registry)),
        ParametersService(registry),
        ReplayService(1_000_000, 1_000_000),
    ]
    async with serving(*services) as address:
        call = asyncio.to_thread
        assert await call(scope["play"], address, [b"1", b"2"]) == [b"tick:1", b"tick:2"]
        rows = boards(3)
        assert (await call(scope["decide"], address, rows["obs"], rows["legal"])).shape == (3,)
        assert await call(scope["publish_again"], address, "p/t") == "imported"
        assert np.isfinite(await call(scope["learn"], address))
    assert registry.published[0]["name"] == "half"


def test_the_guide_names_every_service_call_and_status() -> None:
    for service in (GamecoreService, PolicyService, ParametersService, ReplayService):
        (row,) = re.findall(rf"^\| `{service.descriptor.name}` \| (.*?) \|", GUIDE, re.M)
        assert re.findall(r"`(\w+)`", row) == sorted(
            (method.name for method in service.descriptor.methods), key=re.findall(r"`(\w+)`", row).index
        )
    listed = set(re.findall(r"^\| `([A-Z_]+)` \|", GUIDE, re.M))
    assert listed == {code.name for code in _CODES.values()} - {"DEADLINE_EXCEEDED", "UNIMPLEMENTED"} | {"INTERNAL"}


async def test_the_steps_lead_to_an_rpc_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for block in [*blocks(STEPS, "proto"), *blocks(STEPS, "python")]:
        name = re.match(r"(?://|#) (\S+)\n", block)
        assert name is not None
        (tmp_path / name[1]).write_text(block)
    generate, mend, serve = blocks(STEPS, "bash")
    commands = generate.replace("python", sys.executable, 1).replace("$PROTOS", str(ROOT / "protos")) + mend
    await asyncio.to_thread(subprocess.run, ["sh", "-ec", commands], cwd=tmp_path, check=True, timeout=60)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        context = ServiceContext(registry=FakeRegistry())
        async with serving(*own_services(re.findall(r"--service (\S+)", serve), context)) as address:
            ran = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "call_tactics.py", address],
                cwd=tmp_path,
                env={"PYTHONPATH": f"{tmp_path}:{ROOT}"},
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
        context.close()
    finally:
        for name in ("tactics_service", "tactics_pb2"):
            sys.modules.pop(name, None)
    assert (ran.returncode, ran.stdout) == (0, "(2,)\n"), ran.stderr
