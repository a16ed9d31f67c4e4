"""Bounds of the uniform draws at which distributions are inverted."""

from __future__ import annotations

BELOW_ONE = 1.0 - 1e-6
"""Keeps a draw strictly below the last step of a float32 distribution."""
LEAST_DRAW = 2.0**-25
"""Keeps a draw above 0, where the inverse of a Gaussian is infinite."""
