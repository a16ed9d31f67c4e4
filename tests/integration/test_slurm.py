"""The script for Slurm, run with stand-ins for Slurm, Ray and Lanista on the PATH: there is no Slurm here."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "deploy" / "slurm" / "lanista.sbatch"

STAND_INS = {
    # runs the command here, with the node's name in front of what it notes
    "srun": """
for word in "$@"; do case $word in --nodelist=*) NODE=${word#*=} ;; esac; done
while [ "${1#--}" != "$1" ]; do shift; done
export NODE; exec "$@" """,
    "scontrol": """
if [ "$1" = show ]; then echo "$3" | tr , '\\n'; else echo "scontrol $*" >> "$NOTES"; fi""",
    # `ray start --block` runs until it is told to end
    "ray": """
echo "$NODE ray $* $RAY_AUTH_MODE" >> "$NOTES"
if [ "$1" = start ]; then trap 'exit 0' TERM; while true; do sleep 0.1; done; fi""",
    "lanista": """
echo "lanista $* $RAY_ADDRESS $LANISTA_HOME" >> "$NOTES"
case $1 in
    up) test -z "$FAILS" || exit 7; while [ ! -e "$STOP" ]; do sleep 0.1; done ;;
    down) touch "$STOP" ;;
esac""",
}

FIXED_PORTS = {
    "--node-manager-port=6380",
    "--object-manager-port=6381",
    "--runtime-env-agent-port=6382",
    "--dashboard-agent-grpc-port=6383",
    "--dashboard-agent-listen-port=6384",
    "--metrics-export-port=6385",
    "--min-worker-port=10002",
    "--max-worker-port=10999",
}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, body in STAND_INS.items():
        (tools / name).write_text(f"#!/bin/bash\n{body.strip()}\n")
        (tools / name).chmod(0o755)

    started: list[subprocess.Popen[bytes]] = []

    def run(nodes: str, **more: str) -> subprocess.Popen[bytes]:
        given = {
            "PATH": f"{tools}:/usr/bin:/bin",
            "NOTES": str(tmp_path / "notes"),
            "STOP": str(tmp_path / "stop"),
            "FAILS": "",
            "NODE": "batch",
            "LANISTA_HOME": str(tmp_path / "home"),
            "SLURM_JOB_ID": "42",
            "SLURM_JOB_NODELIST": nodes,
            "SLURM_CPUS_PER_TASK": "8",
        }
        started.append(subprocess.Popen(["/bin/bash", SCRIPT], env=given | more, start_new_session=True))
        return started[-1]

    yield run
    for process in started:
        # as Slurm ends all that a job has started
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def notes(tmp_path: Path) -> list[str]:
    path = tmp_path / "notes"
    return path.read_text().splitlines() if path.exists() else []


def wait_for(tmp_path: Path, *wanted: str) -> None:
    for _ in range(600):
        if all(any(each in line for line in notes(tmp_path)) for each in wanted):
            return
        time.sleep(0.1)
    pytest.fail(f"{wanted} are not all in {notes(tmp_path)}")


def test_parts_start_on_their_nodes_and_the_time_limit_queues_again(
    start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    job = start("n1,n2,n3")
    wait_for(tmp_path, "lanista up", "n2 ray", "n3 ray")
    job.send_signal(signal.SIGUSR1)
    assert job.wait(60) == 0
    found = notes(tmp_path)
    assert any(line.startswith("n1 ray start --head") and "--num-cpus=0" in line for line in found)
    starts = [line for line in found if " ray start " in line]
    assert len(starts) == 3 and all(set(line.split()) >= FIXED_PORTS for line in starts), "the same on every node"
    for node in ("n2", "n3"):
        (line,) = (line for line in found if line.startswith(f"{node} ray start"))
        assert "--address=n1:6379" in line
        assert "--num-cpus=8" in line
        assert line.endswith(" token")
    assert f"lanista up n1:6379 {tmp_path / 'home'}" in found
    assert found.index("scontrol requeue 42") > found.index(f"lanista down n1:6379 {tmp_path / 'home'}")
    token = tmp_path / "home" / "slurm-ray.token"
    assert oct(os.stat(token).st_mode & 0o777) == "0o600"


def test_jobs_that_share_a_node_have_ports_of_their_own(
    start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    job = start("n1,n2", LANISTA_SLURM_RAY_PORT="7000", LANISTA_SLURM_RAY_WORKER_PORT="12000")
    wait_for(tmp_path, "lanista up", "n2 ray")
    job.send_signal(signal.SIGTERM)
    assert job.wait(60) == 0
    for line in (line for line in notes(tmp_path) if " ray start " in line):
        ports = {int(number) for number in re.findall(r"-port=(\d+)", line)}
        assert ports - {7000} == {*range(7001, 7007), 12000, 12997}


def test_a_cancelled_job_stops_and_stays_stopped(start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path) -> None:
    job = start("n1")
    wait_for(tmp_path, "lanista up")
    job.send_signal(signal.SIGTERM)
    assert job.wait(60) == 0
    found = notes(tmp_path)
    assert any("lanista down" in line for line in found)
    assert not any("requeue" in line for line in found)
    assert any("--head" in line and "--num-cpus=8" in line for line in found), "one node alone trains too"


def test_a_stack_that_fails_ends_the_job_with_its_exit_code(
    start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    job = start("n1,n2", FAILS="yes")
    assert job.wait(60) == 7
    assert not any("requeue" in line for line in notes(tmp_path))


def test_flags_of_ray_exist() -> None:
    from ray.scripts.scripts import healthcheck, start

    text = SCRIPT.read_text().replace("\\\n", " ")
    for name, command in (("ray start", start), ("ray health-check", healthcheck)):
        known = {option for parameter in command.params for option in parameter.opts}
        for line in re.findall(rf"{name} ([^>;&]*)", text):
            assert {word.split("=")[0] for word in line.split() if word.startswith("--")} <= known
    assert {flag.split("=")[0] for flag in FIXED_PORTS} <= {option for each in start.params for option in each.opts}


@pytest.mark.parametrize("script", ["deploy/slurm/lanista.sbatch", "deploy/kubernetes/make-secrets.sh"])
def test_shellcheck_finds_nothing(script: str) -> None:
    beside = Path(sys.executable).with_name("shellcheck")
    tool = str(beside) if beside.exists() else shutil.which("shellcheck")
    if tool is None:
        pytest.skip("shellcheck is not installed; it comes with the extra `test`")
    done = subprocess.run([tool, ROOT / script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
