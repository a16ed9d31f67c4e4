"""Sends messages by e-mail, by the SMTP server of the settings."""

from __future__ import annotations

import contextlib
import errno
import smtplib
import ssl
import time
from collections.abc import Sequence
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any

import structlog

from api.alerts.errors import NotDelivered
from api.alerts.messages import plain_text, title_of
from api.schemas.alerts import AlertMessage
from api.settings import StoreSettings

log = structlog.get_logger()

SECONDS = 20.0
"""For the connection and for each command."""
TOTAL_SECONDS = 60.0
"""For all commands together, however many recipients there are."""


def send_mail(settings: StoreSettings, message: AlertMessage, to: Sequence[str]) -> str | None:
    """Send the message; NotDelivered unless the server takes it for one recipient at least, a note if not for all."""
    if not settings.smtp_host:
        raise NotDelivered("there is no mail server: set LANISTA_SMTP_HOST for the store worker")
    try:
        refused = _send(settings, mail_of(message, settings.smtp_from, to))
    except smtplib.SMTPResponseException as error:
        raise NotDelivered(f"the mail server answered {error.smtp_code}") from None
    except smtplib.SMTPRecipientsRefused:
        raise NotDelivered("the mail server refused all recipients") from None
    except (OSError, smtplib.SMTPException) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise NotDelivered(f"the mail server {settings.smtp_host} did not take the message: {reason}") from None
    if not refused:
        return None
    # another attempt would reach those again that have it
    note = f"the mail server refused {len(refused)} of {len(to)} recipients"
    codes = sorted({code for code, _ in refused.values()})
    log.warning("a mail reached some only", message=message.id, problem=note, codes=codes)
    return note


def mail_of(message: AlertMessage, sender: str, to: Sequence[str]) -> EmailMessage:
    """The e-mail. Its Message-ID is the message's id: the same in every attempt."""
    mail = EmailMessage()
    mail["Subject"] = " ".join(f"[Lanista] {title_of(message)}".split())
    mail["From"] = sender
    mail["To"] = ", ".join(to)
    mail["Date"] = format_datetime(message.at)
    mail["Message-ID"] = f"<{message.id}@{sender.rpartition('@')[2].rstrip('>') or 'lanista'}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(plain_text(message))
    return mail


class _InTime(smtplib.SMTP):
    """Starts no command after TOTAL_SECONDS, and waits for none beyond them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._end = time.monotonic() + TOTAL_SECONDS

    def putcmd(self, cmd: str, args: str = "") -> None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError(errno.ETIMEDOUT, "it took too long")
        if self.sock is not None:
            self.sock.settimeout(min(left, SECONDS))
        super().putcmd(cmd, args)


class _InTimeByTls(_InTime, smtplib.SMTP_SSL):
    pass


def _send(settings: StoreSettings, mail: EmailMessage) -> dict[str, tuple[int, bytes]]:
    """Whom the server refused."""
    with contextlib.closing(_connect(settings)) as server:
        if settings.smtp_user and settings.smtp_password is not None:
            server.login(settings.smtp_user, settings.smtp_password.get_secret_value())
        refused = server.send_message(mail)
        with contextlib.suppress(OSError, smtplib.SMTPException):  # the server has it, whatever comes now
            server.quit()
        return refused


def _connect(settings: StoreSettings) -> smtplib.SMTP:
    host, port = settings.smtp_host, settings.smtp_port
    if settings.smtp_tls == "tls":
        return _InTimeByTls(host, port, timeout=SECONDS, context=ssl.create_default_context())
    server = _InTime(host, port, timeout=SECONDS)
    if settings.smtp_tls == "starttls":
        try:
            server.starttls(context=ssl.create_default_context())
        except BaseException:
            server.close()
            raise
    return server
