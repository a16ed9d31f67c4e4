"""Whether optuna is installed, which TPE needs."""

from __future__ import annotations

from importlib.util import find_spec

INSTALL = 'pip install "lanista[sweep]"'


def optuna_problem() -> str | None:
    """What to do where optuna is missing; None where it is installed."""
    if find_spec("optuna") is not None:
        return None
    return f"tpe needs optuna, which is not installed beside the API and the store worker: {INSTALL}"


def can_fanova() -> bool:
    """Whether optuna can compute importances by fANOVA, which needs scikit-learn besides."""
    return find_spec("optuna") is not None and find_spec("sklearn") is not None
