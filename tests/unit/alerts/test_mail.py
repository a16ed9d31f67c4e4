"""E-mail alerts against a real mail server: what arrives, and what is said when it takes nothing."""

from __future__ import annotations

import base64
import io
import socketserver
import ssl
import threading
from collections.abc import Iterator
from email import message_from_bytes, policy
from pathlib import Path

import pytest

from api.alerts import mail
from api.alerts.errors import NotDelivered
from api.alerts.mail import send_mail
from api.settings import StoreSettings
from tests.unit.alerts.test_messages import message
from tests.unit.gateway.test_access import certificate


class MailServer(socketserver.ThreadingTCPServer):
    """As much of SMTP (RFC 5321, 3207, 4954) as a client needs: STARTTLS, AUTH PLAIN, one message a connection."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Dialog)
        self.tls = tls
        self.port = int(self.server_address[1])
        self.refused: set[str] = set()
        self.busy = False
        self.mails: list[tuple[list[str], bytes]] = []
        self.users: list[str] = []


class Dialog(socketserver.StreamRequestHandler):
    """One connection."""

    server: MailServer

    def handle(self) -> None:
        self.recipients: list[str] = []
        self.encrypted = False
        self.answer("220 ready")
        while line := self.rfile.readline():
            word, _, rest = line.decode().strip().partition(" ")
            if word.upper() == "QUIT":
                self.answer("221 bye")
                return
            getattr(self, f"on_{word.lower()}", self.on_other)(rest)

    def finish(self) -> None:
        super().finish()
        self.connection.close()

    def answer(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())

    def on_other(self, rest: str) -> None:
        self.answer("250 ok")

    def on_ehlo(self, rest: str) -> None:
        offered = "AUTH PLAIN" if self.encrypted else "STARTTLS" if self.server.tls else "8BITMIME"
        self.answer(f"250-localhost\r\n250 {offered}")

    def on_starttls(self, rest: str) -> None:
        assert self.server.tls is not None
        self.answer("220 go on")
        try:
            self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        except ssl.SSLError:  # the client does not trust the certificate
            self.rfile = io.BytesIO()
            return
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", buffering=0)
        self.encrypted = True

    def on_auth(self, rest: str) -> None:
        self.server.users.append(base64.b64decode(rest.split()[1]).decode().split("\0")[1])
        self.answer("235 welcome")

    def on_rcpt(self, rest: str) -> None:
        address = rest.partition("<")[2].partition(">")[0]
        if address in self.server.refused:
            self.answer("550 nobody of that name")
            return
        self.recipients.append(address)
        self.answer("250 ok")

    def on_data(self, rest: str) -> None:
        if self.server.busy:
            self.answer("451 try again later")
            return
        self.answer("354 go on")
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line)
        self.server.mails.append((self.recipients, b"".join(lines)))
        self.answer("250 taken")


def served(server: MailServer) -> Iterator[MailServer]:
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def plain() -> Iterator[MailServer]:
    yield from served(MailServer())


@pytest.fixture
def encrypted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    """With a certificate that this machine trusts for as long as the test runs."""
    certificate_file, key_file = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate_file, key_file)
    yield from served(MailServer(context))


def settings(server: MailServer, **more: object) -> StoreSettings:
    values = {
        "smtp_host": "127.0.0.1",
        "smtp_port": server.port,
        "smtp_tls": "none",
        "smtp_from": "lanista@example.com",
    }
    return StoreSettings(**{**values, **more})  # type: ignore[arg-type]


def test_a_mail_reaches_all_recipients(plain: MailServer) -> None:
    send_mail(settings(plain), message(), ["a@example.com", "b@example.com"])
    [(recipients, data)] = plain.mails
    arrived = message_from_bytes(data, policy=policy.default)
    assert recipients == ["a@example.com", "b@example.com"]
    assert arrived["From"] == "lanista@example.com" and arrived["Message-ID"] == "<m@example.com>"
    assert "New champion" in arrived["Subject"] and "main-2" in arrived.get_content()


def test_a_mail_goes_encrypted_and_signed_in(encrypted: MailServer) -> None:
    more = {"smtp_tls": "starttls", "smtp_user": "league", "smtp_password": "word"}
    send_mail(settings(encrypted, **more), message(), ["a@example.com"])
    assert encrypted.users == ["league"] and len(encrypted.mails) == 1


def test_a_certificate_that_is_not_trusted_gets_no_mail(encrypted: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(NotDelivered, match=r"127\.0\.0\.1 did not take the message"):
        send_mail(settings(encrypted, smtp_tls="starttls"), message(), ["a@example.com"])
    assert not encrypted.mails


def test_what_the_server_refuses_is_not_delivered(plain: MailServer) -> None:
    plain.refused = {"b@example.com"}
    with pytest.raises(NotDelivered, match="refused all recipients"):
        send_mail(settings(plain), message(), ["b@example.com"])
    plain.busy = True
    with pytest.raises(NotDelivered, match="answered 451"):
        send_mail(settings(plain), message(), ["a@example.com"])


def test_a_mail_that_some_are_refused_is_delivered_with_a_note(plain: MailServer) -> None:
    plain.refused = {"b@example.com"}
    note = send_mail(settings(plain), message(), ["a@example.com", "b@example.com"])
    assert note == "the mail server refused 1 of 2 recipients"
    assert [recipients for recipients, _ in plain.mails] == [["a@example.com"]]


def test_a_mail_ends_in_time(plain: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "TOTAL_SECONDS", 0.0)
    with pytest.raises(NotDelivered, match="it took too long"):
        send_mail(settings(plain), message(), ["a@example.com"])
    assert not plain.mails


def test_a_server_that_is_away_is_named() -> None:
    with MailServer() as closed:
        pass
    with pytest.raises(NotDelivered, match=r"127\.0\.0\.1 did not take the message: Connection refused"):
        send_mail(settings(closed), message(), ["a@example.com"])
