"""Tracing by OpenTelemetry: off by default, and then nothing of OpenTelemetry is imported.

A trace is one request of the API, one generation, or one other activity. The ids of a generation's trace are made from
what it is (`ids.py`), so each process knows them without being told, and no workflow's history depends on tracing.

See docs/decisions/tracing.md.
"""

from __future__ import annotations
