"""Bytes of HTTP replies."""

from __future__ import annotations

from http import HTTPStatus

from workers.gateway.contract import Refused

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
OCTETS = b"application/octet-stream"
TEXT = b"text/plain; charset=utf-8"
JSON = b"application/json"


def _ok_head(size: int) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-length: %d\r\n\r\n" % size


_OK_HEADS = tuple(_ok_head(size) for size in range(2048))


def ok_reply(body: bytes) -> bytes:
    """An agent's answer."""
    size = len(body)
    return (_OK_HEADS[size] if size < 2048 else _ok_head(size)) + body


def any_reply(status: int, kind: bytes, body: bytes, extra: bytes = b"", *, keep_alive: bool = True) -> bytes:
    """A reply with its status in words. `extra` are whole header lines."""
    if not keep_alive:
        extra += b"connection: close\r\n"
    if status == HTTPStatus.NO_CONTENT:
        return b"HTTP/1.1 204 No Content\r\n%b\r\n" % extra
    return b"HTTP/1.1 %d %b\r\ncontent-type: %b\r\ncontent-length: %d\r\n%b\r\n%b" % (
        status,
        _phrase(status),
        kind,
        len(body),
        extra,
        body,
    )


def refusal_reply(refusal: Refused, *, keep_alive: bool) -> bytes:
    """A refusal, in words."""
    extra = b""
    if refusal.retry_after is not None:
        extra += b"retry-after: %d\r\n" % max(1, round(refusal.retry_after))
    if refusal.status == 401:
        extra += b"www-authenticate: Bearer\r\n"
    return any_reply(refusal.status, TEXT, refusal.text.encode() + b"\n", extra, keep_alive=keep_alive)


def _phrase(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b"Refused"
