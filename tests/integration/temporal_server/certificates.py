"""Certificates of a small CA, written as PEM files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


@dataclass(frozen=True, kw_only=True)
class Issued:
    """A certificate, its key, and the files that hold them."""

    certificate: x509.Certificate
    private: ec.EllipticCurvePrivateKey
    cert: Path
    key: Path


def issue(folder: Path, name: str, by: Issued | None = None, *, valid_days: int = 1, host: str = "localhost") -> Issued:
    """A certificate for `host`, signed by a CA; without one it is a CA itself. Negative days: it has expired."""
    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=3))
        .not_valid_after(now + timedelta(days=valid_days))
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
    )
    if by is not None:
        own: list[x509.GeneralName] = [x509.DNSName(host)]
        if host == "localhost":
            own.append(x509.IPAddress(ip_address("127.0.0.1")))
        builder = builder.add_extension(x509.SubjectAlternativeName(own), critical=False)
    certificate = builder.sign(by.private if by else private, hashes.SHA256())
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    cert.write_bytes(certificate.public_bytes(Encoding.PEM))
    key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return Issued(certificate=certificate, private=private, cert=cert, key=key)
