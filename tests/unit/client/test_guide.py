"""The guide to the client names every call."""

from __future__ import annotations

import re
from pathlib import Path

from lanista.client import Client

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "python-client.md"
PLUMBING = {"close", "send", "iterate", "run", "url"}


def test_every_call_is_in_the_guide() -> None:
    calls = {name for name in vars(Client) if not name.startswith("_")} - PLUMBING
    named = set(re.findall(r"`(\w+)[`(]", GUIDE.read_text(encoding="utf-8")))
    assert calls - named == set()
