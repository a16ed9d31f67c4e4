"""Removes what looks like a secret from the words of a message: errors of users' code may hold anything."""

from __future__ import annotations

import re

HIDDEN = "(hidden)"
LONGEST = 500

_SECRETS = (
    re.compile(r"\b(?:lanista|whsec|xox[abprs]|ghp|gho|ghs|github_pat|glpat|sk|hf|AKIA)[_-][A-Za-z0-9_+/=-]{8,}"),
    re.compile(r"\bAKIA[A-Z0-9]{12,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+"),  # a JSON Web Token
    re.compile(r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)"),  # user:password@ of a URL
    re.compile(r"(?i)(?<=\bbearer )[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(
        r"(?i)(?<![a-z])(?:[a-z0-9_]*(?:password|passwd|secret|token|api_?key|access_?key|credential)s?)"
        r"[\"']?\s*[=:]\s*[\"']?(?P<value>[^\s\"',;)&]{4,})"
    ),
)


def redacted(text: str) -> str:
    """The first line, at most 500 characters, with secrets hidden. A traceback, which may follow, is left out."""
    line = text.partition("\n")[0].strip()
    for pattern in _SECRETS:
        line = pattern.sub(_hide, line)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _hide(found: re.Match[str]) -> str:
    if "value" not in found.re.groupindex:
        return HIDDEN
    return found[0].removesuffix(found["value"]) + HIDDEN
