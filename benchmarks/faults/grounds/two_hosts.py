"""A second train worker with a Ray of its own on another host: a network namespace behind a cable that can be cut."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from benchmarks.faults.grounds.ground import Ground, Skipped
from benchmarks.faults.grounds.tcp_proxy import TcpProxy
from lanista.stack.home import Home
from lanista.stack.ports import unused_port
from lanista.stack.processes.child_environment import base_environment
from lanista.stack.reach import reach

RAY_PORT = 6379
"""In the namespace, where nothing else listens."""


class TwoHosts(Ground):
    """The stack on this host; on the other one a train worker, which reaches Temporal through the cable only."""

    def open(self) -> None:
        if os.getuid() != 0:
            raise Skipped("only root can make a network namespace")
        if shutil.which("ip") is None:
            raise Skipped("iproute2 is not installed: apt-get install iproute2")
        super().open()
        key = hashlib.sha256(str(self.folder).encode()).hexdigest()
        self._name, self._near, self._far = f"lan{key[:6]}", f"ln{key[:6]}", f"lf{key[:6]}"
        third = int(key[:2], 16)
        self._address, other = f"10.211.{third}.1", f"10.211.{third}.2"
        self._remove_namespace()
        self._ip("netns", "add", self._name)
        self._ip("link", "add", self._near, "type", "veth", "peer", "name", self._far, "netns", self._name)
        self._ip("address", "add", f"{self._address}/24", "dev", self._near)
        self._ip("link", "set", self._near, "up")
        self._ip("-n", self._name, "address", "add", f"{other}/24", "dev", self._far)
        for device in (self._far, "lo"):
            self._ip("-n", self._name, "link", "set", device, "up")
        temporal = int(reach(self.stack.home)["LANISTA_TEMPORAL_ADDRESS"].rpartition(":")[2])
        self._proxy = TcpProxy(port := unused_port(), temporal, host=self._address)
        self._scratch = Path(f"/tmp/{self._name}")  # noqa: S108 Ray's sockets need a short path
        self._scratch.mkdir(mode=0o700, exist_ok=True)
        self._processes = [self._start_ray(), self._start_worker(port)]

    def cut(self) -> None:
        """Unplug the cable: packets are lost, and no connection is told."""
        self._ip("link", "set", self._near, "down")

    def mend(self) -> None:
        self._ip("link", "set", self._near, "up")

    def close(self) -> None:
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._remove_namespace()
        self._proxy.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
        super().close()

    def _start_ray(self) -> subprocess.Popen[bytes]:
        ray = [str(Path(sys.executable).parent / "ray"), "start", "--head", "--block", "--disable-usage-stats"]
        ray += ["--port", str(RAY_PORT), "--node-ip-address", "127.0.0.1", "--num-cpus", "1"]
        ray += ["--object-store-memory", str(128 * 1024 * 1024), "--temp-dir", str(self._scratch)]
        ray += ["--include-dashboard", "false", "--include-log-monitor", "false"]
        return self._run("ray", ray)

    def _start_worker(self, port: int) -> subprocess.Popen[bytes]:
        home: Home = self.stack.home
        return self._run(
            "train-worker",
            [sys.executable, "-m", "lanista", "worker", "train"],
            LANISTA_TEMPORAL_ADDRESS=f"{self._address}:{port}",
            LANISTA_TEMPORAL_TRAIN_KEY=home.secret("temporal-train.key"),
            LANISTA_ARTIFACTS=str(home.artifacts),
            LANISTA_TENSORBOARD_DIR=str(home.tensorboard),
            RAY_ADDRESS=f"127.0.0.1:{RAY_PORT}",
        )

    def _run(self, name: str, command: list[str], **variables: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"other-host-{name}.log").open("ab") as log:
            return subprocess.Popen(
                ["ip", "netns", "exec", self._name, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**base_environment(os.environ), "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", **variables},
            )

    def _remove_namespace(self) -> None:
        known = subprocess.run(["ip", "netns", "pids", self._name], capture_output=True, text=True)
        for pid in known.stdout.split():  # of an earlier run that was killed
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        subprocess.run(["ip", "netns", "delete", self._name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "delete", self._near], check=False, capture_output=True)

    @staticmethod
    def _ip(*arguments: str) -> None:
        subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)
