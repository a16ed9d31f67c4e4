"""RLlib's league-based self-play on connect four under the same deaths, restored by its own documented way.

    python -m benchmarks.peer_kills [--times 3] [--json]

The driver, a process that plays (env runner) and Ray's head are killed by SIGKILL. Where the league does not go on by
itself within a minute and a half, it is restored as RLlib's guide says: Ray is started again if it is gone, and the
driver by `Algorithm.from_checkpoint` on the checkpoint of the last iteration. Each kill is a row of
benchmarks/results/peer_kills.json; rows that are there are not made again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil

from benchmarks.faults.striking import say, wait_until
from benchmarks.peers.rllib.client import BUILD, ROOT
from benchmarks.peers.rllib.venv import ensure_python, requirements
from benchmarks.results_file import read_results, write_results
from lanista.stack.ports import unused_port

FILE = ROOT / "benchmarks" / "results" / "peer_kills.json"
KINDS = ("driver", "env runner", "ray head")
INITIAL_MEMBERS = 6
"""Networks of the example's start; all are in the league once main beats the random player."""
GROWN = 2
"""Members that the league must have won before it is hit: there must be something to lose."""
START_PATIENCE, GROW_PATIENCE, ALONE_SECONDS = 600.0, 1800.0, 90.0
Row = dict[str, Any]


class PeerLeague:
    """RLlib's league in a Ray of its own, and the lines that its driver has printed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._python = ensure_python(BUILD / "rllib-venv")
        self._port = unused_port()
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "LANISTA_"))}
        address = f"127.0.0.1:{self._port}"
        self._environment = clean | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", "PEER_RAY_ADDRESS": address}
        self._driver: subprocess.Popen[bytes] | None = None
        self._head: subprocess.Popen[bytes] | None = None

    def start_head(self) -> None:
        """`ray start --head`, in the foreground of a process of its own."""
        command = [str(self._python.with_name("ray")), "start", "--head", "--block", f"--port={self._port}"]
        command += ["--num-cpus=8", "--include-dashboard=false", f"--temp-dir={self.folder / 'ray'}"]
        with (self.folder / "head.log").open("ab") as log:
            self._head = subprocess.Popen(
                command, env=self._environment, stdout=log, stderr=log, start_new_session=True, cwd=ROOT
            )
        status = [str(self._python.with_name("ray")), "status", f"--address=127.0.0.1:{self._port}"]
        wait_until(
            lambda: subprocess.run(status, env=self._environment, capture_output=True).returncode == 0,
            START_PATIENCE,
            "Ray's head",
        )

    def start_driver(self, *, restore: bool) -> None:
        command = [str(self._python), "-m", "benchmarks.peers.rllib.league", str(self.folder)]
        with self._lines.open("ab") as out, (self.folder / "driver.log").open("ab") as log:
            self._driver = subprocess.Popen(
                [*command, *(["--restore"] if restore else [])],
                env=self._environment,
                stdout=out,
                stderr=log,
                start_new_session=True,
                cwd=ROOT,
            )

    @property
    def _lines(self) -> Path:
        return self.folder / "lines.jsonl"

    def lines(self) -> list[Row]:
        """What the drivers told so far; a line that is not whole yet is left out."""
        if not self._lines.exists():
            return []
        text = self._lines.read_text(encoding="utf-8")
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def driver_lives(self) -> bool:
        return self._driver is not None and self._driver.poll() is None

    def head_lives(self) -> bool:
        return self._head is not None and self._head.poll() is None

    def kill(self, kind: str) -> None:
        """SIGKILL the driver, one env runner, or the head's control process."""
        if kind == "driver":
            assert self._driver is not None
            os.killpg(self._driver.pid, signal.SIGKILL)
            self._driver.wait()
        elif kind == "env runner":
            self._find(lambda title: title.startswith("ray::") and "EnvRunner" in title).kill()
        else:
            self._find(lambda title: "gcs_server" in title.split(" ")[0]).kill()

    def stop(self) -> None:
        """End both; a driver that hangs is killed."""
        for process in (self._driver, self._head):
            if process is not None and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for left in self._own():
            left.kill()

    def _find(self, wanted: Callable[[str], bool]) -> psutil.Process:
        found = [process for process in self._own() if wanted(" ".join(process.cmdline()))]
        if not found:
            raise RuntimeError("no such process of the peer runs")
        return found[0]

    def _own(self) -> list[psutil.Process]:
        """Processes of this Ray and of this driver: they have its address in their environment."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("PEER_RAY_ADDRESS") == self._environment["PEER_RAY_ADDRESS"]:
                    found.append(process)
            except psutil.Error:
                continue
        return found


def make_row(kind: str) -> Row:
    """One league, one kill, and what it took to go on."""
    # the path of Ray's sockets must be short
    folder = Path(tempfile.mkdtemp(prefix="peer-"))
    league = PeerLeague(folder)
    try:
        league.start_head()
        league.start_driver(restore=False)
        wait_until(lambda: _grown(league), GROW_PATIENCE, "the peer's league to grow")
        return _strike(league, kind)
    except TimeoutError as error:
        log = folder / "driver.log"
        raise RuntimeError(f"{error}: {log.read_text(errors='replace')[-2000:]}") from error
    finally:
        league.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _grown(league: PeerLeague) -> bool:
    if not league.driver_lives():
        raise TimeoutError("the peer's driver ended")
    saved = [line for line in league.lines() if line.get("saved")]
    return bool(saved) and len(saved[-1]["league"]) >= INITIAL_MEMBERS + GROWN


def _strike(league: PeerLeague, kind: str) -> Row:
    load = os.getloadavg()[0]
    before = league.lines()
    last = before[-1]
    began = time.monotonic()
    league.kill(kind)
    # the iteration under way may end with what was sampled before: the next one is the first that the fault could hurt
    first = _goes_on(league, len(before) - 1, ALONE_SECONDS, last["iteration"] + (2 if last.get("saved") else 1))
    alone, needed, idle = first is not None, list[str](), time.monotonic() - began
    if first is None:
        first, needed = _restore(league)
    waited = time.monotonic() - began
    saved = [line for line in before if line.get("saved")][-1]
    say(f"{kind}: {'by itself' if alone else 'by hand'} after {waited:.1f} s")
    return {
        "kind": kind,
        "by_itself": alone,
        "seconds": round(waited, 1),
        "person": needed,
        "waited_for_itself_s": 0.0 if alone else round(idle, 1),
        "steps_before": last["steps"],
        "steps_saved": saved["steps"],
        "steps_after": first["steps"],
        "members_before": last["league"],
        "members_after": first["league"],
        "networks_after": first["networks"],
        "trained_before": last["trained"],
        "trained_after": first["trained"],
        "load": round(load, 1),
        "versions": requirements(),
    }


def _restore(league: PeerLeague) -> tuple[Row, list[str]]:
    """RLlib's documented way; returns the first iteration trained again, and what a person has to do."""
    needed = ["notice it"]
    if not league.head_lives() or not _head_answers(league):
        league.stop()
        league.start_head()
        needed.append("start Ray again")
    elif league.driver_lives():
        league.kill("driver")
        needed.append("end the driver, which hangs")
    # what the old driver still told is no sign of the new one
    seen = len(league.lines())
    league.start_driver(restore=True)
    needed.append("start a driver that restores the last checkpoint")
    first = _goes_on(league, seen, START_PATIENCE, least=0)
    if first is None:
        raise TimeoutError("the restored league did not go on")
    return first, needed


def _head_answers(league: PeerLeague) -> bool:
    try:
        league._find(lambda title: "gcs_server" in title.split(" ")[0])
    except RuntimeError:
        return False
    return True


def _goes_on(league: PeerLeague, since: int, seconds: float, least: int) -> Row | None:
    """The first iteration of at least this number that is trained within this time; None where the driver ends.

    A driver without env runners goes on to count iterations in which nothing is played: those do not count here.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        lives = league.driver_lives()
        for earlier, line in pairwise(league.lines()[since:]):
            if "saved" in line and line["iteration"] >= least and line["steps"] > earlier["steps"]:
                return line
        if not lives:
            return None
        time.sleep(1.0)
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3, help="kills of each kind")
    parser.add_argument("--json", action="store_true", help="print all rows on stdout")
    given = parser.parse_args()
    rows = read_results(FILE)
    for number in range(1, given.times + 1):
        for kind in KINDS:
            name = f"{kind}, {number}"
            if name not in rows:
                rows[name] = make_row(kind)
                write_results(FILE, rows)
    print(json.dumps(rows) if given.json else f"{len(rows)} rows in {FILE}")


if __name__ == "__main__":
    main()
