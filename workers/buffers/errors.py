"""The error of data sets."""

from __future__ import annotations


class BadData(ValueError):
    """A data set that cannot be used; the message says where and why."""
