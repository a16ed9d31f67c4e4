"""TLS to Temporal: the server's CA, the client certificate, and what to do when one of them is wrong."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from temporalio.client import TLSConfig

from orchestrator.settings import SettingsError, TemporalSettings

CA, CERT, KEY = "LANISTA_TEMPORAL_TLS_CA", "LANISTA_TEMPORAL_TLS_CERT", "LANISTA_TEMPORAL_TLS_KEY"
SERVER_NAME = "LANISTA_TEMPORAL_TLS_SERVER_NAME"

_NAMES = re.compile(r"presented: (\[.*?\])")


def tls_of(settings: TemporalSettings) -> TLSConfig | bool:
    """What the SDK is given: False without TLS. Raises SettingsError where a file is wrong or a certificate expired."""
    if not settings.speaks_tls:
        return False
    roots = None if settings.temporal_tls_ca is None else _read(settings.temporal_tls_ca, CA)
    if roots is not None:
        assert settings.temporal_tls_ca is not None
        _check_dates(_certificates(roots, settings.temporal_tls_ca, CA), settings.temporal_tls_ca, CA)
    cert = key = None
    if settings.temporal_tls_cert and settings.temporal_tls_key:
        cert, key = _read(settings.temporal_tls_cert, CERT), _read(settings.temporal_tls_key, KEY)
        _check_client(settings.temporal_tls_cert, cert, settings.temporal_tls_key, key)
    return TLSConfig(
        server_root_ca_cert=roots,
        domain=settings.temporal_tls_server_name or None,
        client_cert=cert,
        client_private_key=key,
    )


def _read(path: Path, setting: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{setting}={str(path)!r}: cannot be read: {error.strerror}") from None


def _certificates(pem: bytes, path: Path, setting: str) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError:
        raise SettingsError(
            f"{setting}={str(path)!r}: holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)"
        ) from None


def _check_dates(certificates: list[x509.Certificate], path: Path, setting: str) -> None:
    """Raise SettingsError if none of these is valid now; a bundle of CAs may hold some that have expired."""
    now = datetime.now(UTC)
    if any(each.not_valid_before_utc <= now <= each.not_valid_after_utc for each in certificates):
        return
    first = certificates[0]
    if first.not_valid_after_utc < now:
        raise SettingsError(
            f"{setting}={str(path)!r}: the certificate expired on {first.not_valid_after_utc:%Y-%m-%d %H:%M} UTC. "
            "Put a new one in its place and start again"
        )
    raise SettingsError(
        f"{setting}={str(path)!r}: the certificate is valid only from {first.not_valid_before_utc:%Y-%m-%d %H:%M} UTC "
        "on. Is this machine's clock right?"
    )


def _check_client(cert_path: Path, cert: bytes, key_path: Path, key: bytes) -> None:
    own = _certificates(cert, cert_path, CERT)[0]  # the ones after it are those of the CAs between
    _check_dates([own], cert_path, CERT)
    try:
        private = load_pem_private_key(key, password=None)
    except TypeError:
        raise SettingsError(f"{KEY}={str(key_path)!r}: has a passphrase; give a key without one (mode 0600)") from None
    except ValueError:
        raise SettingsError(f"{KEY}={str(key_path)!r}: holds no private key in PEM form") from None
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if private.public_key().public_bytes(*form) != own.public_key().public_bytes(*form):
        raise SettingsError(f"{KEY}={str(key_path)!r}: does not belong to the certificate in {str(cert_path)!r}")


def explain_failure(settings: TemporalSettings, problem: str) -> str:
    """What to do about a connection that failed, by the SDK's text; empty where the text says enough."""
    if "UnknownIssuer" in problem:
        given = (
            f"the CA in {str(settings.temporal_tls_ca)!r} did not sign"
            if settings.temporal_tls_ca
            else ("no CA of this machine signed")
        )
        return f"{given} the server's certificate: set {CA} to a PEM file with the CA that did"
    if "InvalidCertificate(Expired" in problem:
        return "the server's certificate has expired: renew it at the server (and compare the clocks)"
    if "InvalidCertificate(NotValidYet" in problem:
        return "the server's certificate is not valid yet: compare the clocks of both machines"
    if "NotValidForName" in problem:
        names = _NAMES.search(problem)
        shown = names.group(1).replace('\\"', "'") if names else "other names"
        return f"the server's certificate is for {shown}: connect by such a name, or set {SERVER_NAME} to it"
    if "UnsupportedCertVersion" in problem or "InvalidCertificate" in problem:
        return "the server's certificate cannot be used"
    return _explain_breaking_off(settings, problem)


def _explain_breaking_off(settings: TemporalSettings, problem: str) -> str:
    """A server that does not like the client's certificate, or wants TLS, often only hangs up."""
    if "InvalidContentType" in problem:
        return "the server does not speak TLS: unset LANISTA_TEMPORAL_TLS, or connect to its TLS port"
    if "hyper::Error(" not in problem and "AlertReceived" not in problem:  # it ended before anything was connected
        return ""
    if not settings.speaks_tls:
        return "the server hung up: if it speaks TLS, set LANISTA_TEMPORAL_TLS=true"
    if settings.temporal_tls_cert is None:
        return f"the server hung up: if it asks for a client certificate (mutual TLS), set {CERT} and {KEY}"
    return (
        f"the server hung up: it may not accept the client certificate in {str(settings.temporal_tls_cert)!r}. Is it "
        "signed by a CA that the server trusts, and for this namespace?"
    )
