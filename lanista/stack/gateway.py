"""The gateway of the local stack: its ports, and the environment of the process that games call."""

from __future__ import annotations

import os
from collections.abc import Mapping

from lanista.stack.home import Home
from lanista.stack.processes.child_environment import as_environment
from workers.gateway.league.settings import LeagueGatewaySettings

KEY_FILE = "gateway.key"
_PORTS = {
    "gateway": "gateway_port",
    "gateway_tcp": "gateway_tcp_port",
    "gateway_grpc": "gateway_grpc_port",
    "gateway_control": "gateway_control_port",
}
"""The stack's name of each port, and the setting."""


class StackGateway:
    """One gateway on this machine, with one process or several."""

    def __init__(self, home: Home) -> None:
        self.settings = LeagueGatewaySettings.load()
        self._home = home
        self.names = tuple(name for name, setting in _PORTS.items() if getattr(self.settings, setting))

    @property
    def fixed(self) -> dict[str, int]:
        """Ports that the user has set."""
        given = self.settings.model_fields_set
        return {name: getattr(self.settings, _PORTS[name]) for name in self.names if _PORTS[name] in given}

    @property
    def preferred(self) -> dict[str, int]:
        """The port that is taken where it is free: games look for it. A second stack of the machine gets another."""
        return {"gateway": self.settings.gateway_port} if "gateway" in self.names else {}

    @property
    def key(self) -> str:
        """The key that crews show: the user's, else one kept in the data folder."""
        chosen = self.settings.gateway_control_key
        return chosen.get_secret_value() if chosen else self._home.secret(KEY_FILE)

    def control_addresses(self, ports: Mapping[str, int]) -> str:
        """Where the train worker finds the processes, as the setting LANISTA_GATEWAYS has it."""
        first, host = ports["gateway_control"], self.settings.gateway_control_host
        return ",".join(f"{host}:{first + number}" for number in range(self.settings.gateway_processes))

    def environment(self, ports: Mapping[str, int], artifacts: str) -> dict[str, str]:
        """The settings of the process, by value: it need not read lanista.toml."""
        return {
            **as_environment(self.settings),
            **{f"LANISTA_{_PORTS[name].upper()}": str(ports[name]) for name in self.names},
            "LANISTA_GATEWAY_CONTROL_KEY": self.key,
            "LANISTA_ARTIFACTS": artifacts,
            "PYTHONUNBUFFERED": "1",
            "LANISTA_CONFIG": os.devnull,
        }
