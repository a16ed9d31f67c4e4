"""Ray's node labels as a setting: `zone=a,disk=ssd`."""

from __future__ import annotations

LABELS = r"^(\s*[A-Za-z0-9][\w./-]*=[A-Za-z0-9][\w.-]*\s*(,|$))*$"
"""key=value, several separated by commas, or nothing."""
NODE_ID = "ray.io/node-id"
"""The label that Ray gives every node."""


def parse_labels(text: str) -> dict[str, str]:
    """The labels by key."""
    pairs = (part.strip().partition("=") for part in text.split(",") if part.strip())
    return {key: value for key, _, value in pairs}
