"""Ports: free or not, kept across restarts, never given twice."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanista.stack.errors import PortInUse, StackError
from lanista.stack.home import Home
from lanista.stack.ports import answers, choose_ports, is_free, require_free, unused_port


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", unused_port()))
        server.listen()
        yield server.getsockname()[1]


def test_a_port_with_a_server_is_not_free_and_answers(taken: int) -> None:
    assert not is_free(taken)
    assert answers(taken)
    free = unused_port()
    assert is_free(free) and not answers(free)


def test_a_taken_port_is_refused_by_name_with_the_flag(taken: int) -> None:
    with pytest.raises(PortInUse, match=rf"Port {taken} is in use .* --port"):
        require_free(taken, host="127.0.0.1", flag="--port")


@pytest.mark.parametrize("host", ["198.51.100.7", "no-such-host.invalid"])
def test_an_address_of_another_machine_is_not_called_a_port_in_use(host: str) -> None:
    with pytest.raises(StackError, match=r"not an address of this machine.*LANISTA_HOST") as refused:
        require_free(unused_port(), host=host, flag="--port")
    assert not isinstance(refused.value, PortInUse)


def test_ports_stay_the_same_from_one_start_to_the_next(home: Home) -> None:
    first = choose_ports(home, ("postgres", "ray"), {})
    assert choose_ports(home, ("postgres", "ray"), {}) == first
    assert len(set(first.values())) == 2


def test_a_remembered_port_that_another_program_took_is_replaced(home: Home, taken: int) -> None:
    home.ports_file.write_text(f'{{"postgres": {taken}}}')
    assert choose_ports(home, ("postgres",), {})["postgres"] != taken


@pytest.mark.parametrize("damaged", ["", "{", "[1]", '{"postgres": "x"}'])
def test_a_damaged_memory_of_ports_means_new_ports(home: Home, damaged: str) -> None:
    home.ports_file.write_text(damaged)
    assert is_free(choose_ports(home, ("postgres",), {})["postgres"])


def test_a_fixed_port_is_used_and_a_taken_one_names_its_setting(home: Home, taken: int) -> None:
    wanted = unused_port({taken})
    assert choose_ports(home, ("postgres",), {"postgres": wanted}) == {"postgres": wanted}
    with pytest.raises(PortInUse, match="LANISTA_POSTGRES_PORT"):
        choose_ports(home, ("postgres",), {"postgres": taken})


def test_two_parts_never_get_one_port(home: Home) -> None:
    port = unused_port()
    with pytest.raises(PortInUse, match=f"LANISTA_.*_PORT={port}"):
        choose_ports(home, ("postgres", "ray"), {"postgres": port, "ray": port})
    with pytest.raises(PortInUse, match="LANISTA_RAY_PORT"):
        choose_ports(home, ("ray",), {"ray": port}, taken=frozenset({port}))
    home.ports_file.write_text(f'{{"ray": {port}}}')
    assert choose_ports(home, ("ray",), {}, taken=frozenset({port}))["ray"] != port
