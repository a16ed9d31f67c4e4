"""Hosts made of Linux namespaces: each with its own network, processes, hostname, /tmp and /dev/shm.

They stand for machines: nothing is shared but the installation (read from the same disk) and, where asked for, one
folder that is mounted at `SHARED`, as a network file system would be. A host can be killed, and its cable pulled.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

SHARED = "/mnt"
"""Where hosts see the shared folder."""
_IP = shutil.which("ip") or "/usr/sbin/ip"
_TMP = "/tmp"  # noqa: S108 each host has its own
_INSTALLED = {Path(__file__).resolve().parents[2], Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}
"""The checkout, its environment and Python: also where they lie below /tmp, every host sees them."""
_TOOLS = ("ip", "unshare", "nsenter", "mount", "bash")
# bash, as the first process of a host, also reaps those whose parent has died
_FIRST_PROCESS = """
set -e
hostname "$1"
mount -t tmpfs -o size=4g tmpfs /dev/shm
if [ -n "$3" ]; then mount --bind "$3" {shared}; else mount -t tmpfs tmpfs {shared}; fi
own=$2
shift 3
for path in "$@"; do
  mkdir -p "$own/${{path#/tmp/}}"
  mount --bind "$path" "$own/${{path#/tmp/}}"
done
mount --rbind "$own" /tmp
echo ready > /tmp/.ready
trap 'exit 0' TERM
while :; do sleep 3600 & wait $!; done
"""


def why_no_hosts() -> str | None:
    """Why hosts cannot be made here; None where they can."""
    if os.name != "posix" or not Path("/proc/self/ns/net").exists():
        return "needs Linux namespaces"
    if os.geteuid() != 0:
        return "needs root, to make network namespaces"
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        return f"needs the programs {', '.join(missing)} (Debian: iproute2, util-linux)"
    command = [str(shutil.which("unshare")), "--net", "--pid", "--fork", "--mount", "--uts", "true"]
    probe = subprocess.run(command, capture_output=True, check=False)
    return None if probe.returncode == 0 else f"may make no namespaces: {probe.stderr.decode().strip()}"


class Host:
    """One host; its processes end with it."""

    def __init__(self, name: str, address: str, network: Network, folder: Path, *, shares: bool) -> None:
        """`shares`: whether it sees the shared folder."""
        self.name, self.address = name, address
        self._network = network
        self.folder = folder
        """Its /tmp."""
        self._shares = shares
        self._namespace = f"{network.name}-{name}"
        self._cable = f"v{secrets.token_hex(4)}"
        self._first: subprocess.Popen[bytes] | None = None
        self._pid = 0
        self._spawned: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Boot it; a host that was killed starts anew, with the files it had."""
        _ip("netns", "add", self._namespace)
        _ip("link", "add", self._cable, "type", "veth", "peer", "name", "eth0", "netns", self._namespace)
        _ip("link", "set", self._cable, "master", self._network.bridge, "up")
        inside = ["netns", "exec", self._namespace, "ip"]
        _ip(*inside, "address", "add", f"{self.address}/24", "dev", "eth0")
        _ip(*inside, "link", "set", "eth0", "up")
        _ip(*inside, "link", "set", "lo", "up")
        _ip(*inside, "route", "add", "default", "via", self._network.gateway)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o1777)
        (self.folder / ".ready").unlink(missing_ok=True)
        shared = str(self._network.shared) if self._shares else ""
        script = _FIRST_PROCESS.format(shared=SHARED)
        kinds = ["--pid", "--fork", "--kill-child", "--mount-proc", "--uts", "--ipc", "--mount"]
        below_tmp = [str(path) for path in sorted(_INSTALLED) if path.is_relative_to(_TMP)]
        first = ["bash", "-c", script, "host", self.name, str(self.folder), shared, *below_tmp]
        self._first = subprocess.Popen(
            [_IP, "netns", "exec", self._namespace, "unshare", *kinds, *first],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while not (self.folder / ".ready").exists():
            if self._first.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"host {self.name} did not start")
            time.sleep(0.02)
        children = Path(f"/proc/{self._first.pid}/task/{self._first.pid}/children").read_text().split()
        self._pid = int(children[0])

    @property
    def alive(self) -> bool:
        return self._first is not None and self._first.poll() is None

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The command line that runs these arguments on the host."""
        entered = ["--net", "--pid", "--uts", "--ipc", "--mount"]
        return ["nsenter", "--target", str(self._pid), *entered, "--wdns=/tmp", "--", *arguments]

    def spawn(self, *arguments: str, env: Mapping[str, str], log: str) -> subprocess.Popen[bytes]:
        """Start a process on the host; its output goes to the file `log` of the host's /tmp."""
        with (self.folder / log).open("ab") as output:
            process = subprocess.Popen(
                self.command(arguments),
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._spawned.append(process)
        return process

    def run(self, *arguments: str, env: Mapping[str, str], check: bool = True, seconds: float = 300) -> str:
        """Run a command on the host to its end; gives its output."""
        done = subprocess.run(
            self.command(arguments), env=dict(env), capture_output=True, text=True, timeout=seconds, check=False
        )
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} on {self.name}: {done.stdout}{done.stderr}")
        return done.stdout

    def processes(self) -> list[str]:
        """The command line of each of its processes; one that has set a title shows that."""
        return list(self._processes().values())

    def terminate(self, ending: str) -> None:
        """Ask its processes whose command line ends so to end."""
        for pid, command in self._processes().items():
            if command.rstrip().endswith(ending):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)

    def _processes(self) -> dict[int, str]:
        """Command lines by the process ids that this machine knows them by."""
        found = {}
        with suppress(OSError):
            own = os.readlink(f"/proc/{self._pid}/ns/pid")
            for folder in Path("/proc").glob("[0-9]*"):
                with suppress(OSError):  # it has ended meanwhile
                    if os.readlink(folder / "ns" / "pid") == own:
                        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                        found[int(folder.name)] = command
        return found

    def kill(self) -> None:
        """End all its processes at once, as a power cut does."""
        if self._first is not None:
            if self._pid:
                with suppress(ProcessLookupError):
                    os.kill(self._pid, signal.SIGKILL)  # the kernel ends every process of the namespace with it
            self._first.kill()
            self._first.wait()
            self._first = None
        for process in self._spawned:
            process.kill()
            process.wait()
        self._spawned.clear()
        subprocess.run([_IP, "netns", "delete", self._namespace], check=False, capture_output=True)
        subprocess.run([_IP, "link", "delete", self._cable], check=False, capture_output=True)

    def cut(self) -> None:
        """Pull the cable: packets vanish both ways, and nobody is told."""
        _ip("link", "set", self._cable, "nomaster")

    def mend(self) -> None:
        """Put the cable back."""
        _ip("link", "set", self._cable, "master", self._network.bridge)


class Network:
    """A switch with hosts on it; this machine is at `gateway` and reaches all of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = f"l{secrets.token_hex(3)}"
        self.bridge = f"{self.name}b"
        self._subnet = _unused_subnet()
        self.gateway = f"{self._subnet}.254"
        self.shared = folder / "shared"
        """The folder that hosts see at `SHARED`."""
        self.hosts: dict[str, Host] = {}

    def open(self) -> None:
        """Make the switch."""
        self.shared.mkdir(parents=True)
        self.shared.chmod(0o777)
        _ip("link", "add", self.bridge, "type", "bridge")
        _ip("address", "add", f"{self.gateway}/24", "dev", self.bridge)
        _ip("link", "set", self.bridge, "up")

    def host(self, name: str, *, shares: bool = True) -> Host:
        """Add a host and boot it."""
        address = f"{self._subnet}.{len(self.hosts) + 1}"
        host = self.hosts[name] = Host(name, address, self, self.folder / name, shares=shares)
        host.start()
        return host

    def close(self) -> None:
        """End all hosts and remove the switch."""
        for host in self.hosts.values():
            host.kill()
        subprocess.run([_IP, "link", "delete", self.bridge], check=False, capture_output=True)


@contextmanager
def network(folder: Path | None = None) -> Iterator[Network]:
    """A network without hosts; everything is ended and removed afterwards, but a given folder stays."""
    made = folder or Path(tempfile.mkdtemp(prefix="lanista-hosts-"))
    made.mkdir(exist_ok=True)
    made.chmod(0o755)
    net = Network(made)
    try:
        net.open()
        yield net
    finally:
        net.close()
        if folder is None:
            shutil.rmtree(made, ignore_errors=True)


def _unused_subnet() -> str:
    """The first three numbers of a private network that this machine has no address in."""
    known = subprocess.run([_IP, "-o", "-4", "address"], capture_output=True, text=True, check=True).stdout
    while f" {(subnet := f'10.{secrets.randbelow(100) + 100}.{secrets.randbelow(250) + 1}')}." in known:
        pass
    return subnet


def _ip(*arguments: str) -> None:
    done = subprocess.run([_IP, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
