"""Which addresses alerts may call, whatever a name resolves to."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import pytest

from api.addresses import read_networks
from api.alerts.call_guard import check_address, check_url, find_receiver, shown_url
from api.alerts.errors import AddressRefused, NotDelivered

REFUSED = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "fec0::1",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "2002:7f00:1::",
    "2002:a00:1::",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
]
PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"]


@pytest.mark.parametrize("address", REFUSED)
def test_what_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(AddressRefused, match="LANISTA_ALERT_NETWORKS"):
        check_address(ipaddress.ip_address(address), "https", ())


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_may_be_called_by_https_only(address: str) -> None:
    check_address(ipaddress.ip_address(address), "https", ())
    with pytest.raises(AddressRefused, match="http://"):
        check_address(ipaddress.ip_address(address), "http", read_networks("10.0.0.0/8"))


@pytest.mark.parametrize("address", ["10.1.2.3", "::ffff:10.1.2.3"])
def test_a_setting_allows_a_network_also_within_ipv6_and_no_other(address: str) -> None:
    allowed = read_networks("10.0.0.0/8")
    check_address(ipaddress.ip_address(address), "http", allowed)
    with pytest.raises(AddressRefused):
        check_address(ipaddress.ip_address("192.168.1.1"), "https", allowed)


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/hook",
        "https://[::1]/hook",
        "https://[::ffff:127.0.0.1]:8443/",
        "https://user:secret@example.com/",
        "http://example.com/hook",
        "ftp://example.com/",
        "https:///path",
        "https://example.com:99999/",
    ],
)
def test_a_url_that_can_never_be_called_is_refused_at_once(url: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        check_url(url, ())
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "017700000001", "127.1", "localhost"])
def test_other_spellings_of_loopback_are_refused_when_they_are_looked_up(host: str) -> None:
    with pytest.raises((AddressRefused, NotDelivered)):
        find_receiver(f"https://{host}/", ())


def names(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Each look-up gets the next answer; returns the names that were looked up."""
    asked: list[str] = []
    left = list(answers)

    def look_up(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in left.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def test_a_name_with_one_private_address_among_public_ones_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, ["93.184.216.34", "10.0.0.1"])
    with pytest.raises(AddressRefused, match=r"10\.0\.0\.1"):
        find_receiver("https://two-faced.example/", ())


def test_a_name_is_looked_up_once_and_its_address_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = names(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    receiver = find_receiver("https://rebinding.example:8443/hook?x=1", ())
    assert asked == ["rebinding.example"]
    assert (receiver.address, receiver.port, receiver.path) == ("93.184.216.34", 8443, "/hook?x=1")
    assert receiver.host_header == "rebinding.example:8443"


def test_what_is_shown_of_a_url_holds_no_path() -> None:
    assert shown_url("https://hooks.slack.com/services/T0/B0/secret") == "https://hooks.slack.com/…"
    assert shown_url("http://127.0.0.1:9000/secret?key=1") == "http://127.0.0.1:9000/…"
