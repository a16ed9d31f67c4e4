"""Sends messages by e-mail, by the SMTP server of the settings."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Sequence
from email.message import EmailMessage
from email.utils import format_datetime

from api.alerts.errors import NotDelivered
from api.alerts.messages import plain_text, title_of
from api.schemas.alerts import AlertMessage
from api.settings import StoreSettings

SECONDS = 20.0


def send_mail(settings: StoreSettings, message: AlertMessage, to: Sequence[str]) -> None:
    """Send the message to all recipients; NotDelivered unless the server takes it for each of them."""
    if not settings.smtp_host:
        raise NotDelivered("there is no mail server: set LANISTA_SMTP_HOST for the store worker")
    try:
        with _connect(settings) as server:
            if settings.smtp_user and settings.smtp_password is not None:
                server.login(settings.smtp_user, settings.smtp_password.get_secret_value())
            refused = server.send_message(mail_of(message, settings.smtp_from, to))
    except smtplib.SMTPResponseException as error:
        raise NotDelivered(f"the mail server answered {error.smtp_code}") from None
    except smtplib.SMTPRecipientsRefused:
        raise NotDelivered("the mail server refused all recipients") from None
    except (OSError, smtplib.SMTPException) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise NotDelivered(f"the mail server {settings.smtp_host} did not take the message: {reason}") from None
    if refused:
        raise NotDelivered(f"the mail server refused {len(refused)} of {len(to)} recipients")


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


def _connect(settings: StoreSettings) -> smtplib.SMTP:
    host, port = settings.smtp_host, settings.smtp_port
    if settings.smtp_tls == "tls":
        return smtplib.SMTP_SSL(host, port, timeout=SECONDS, context=ssl.create_default_context())
    server = smtplib.SMTP(host, port, timeout=SECONDS)
    if settings.smtp_tls == "starttls":
        try:
            server.starttls(context=ssl.create_default_context())
        except BaseException:
            server.close()
            raise
    return server
