"""TPE on a study that is rebuilt from rows: the same rows ask for the same point, and values move the points."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from api.store.sweeps.rows import members_of, spec_of_sweep
from api.store.sweeps.sampling import next_point
from api.store.sweeps.tpe import Told, ask, fanova
from league.sweeps import Choice, Integer, Space, Uniform
from orchestrator.spec.sweeps import optuna_extra
from orchestrator.spec.sweeps.optuna_extra import INSTALL
from tests.integration.league_store.driver import STEPS, Store
from tests.integration.league_store.sweeping import Swept
from tests.integration.league_store.test_populations import findings

BY_TPE: dict[str, Any] = {"method": "tpe", "rungs": {}, "budget": {"steps": STEPS}, "parallel": 1, "seed": 5}
SPACE: Space = {
    "rate": Uniform(low=1e-5, high=1e-1, log=True),
    "epochs": Integer(low=1, high=8),
    "model": Choice(values=({"id": "mlp", "hidden": [8]}, {"id": "mlp", "hidden": [16]})),
}

needs_optuna = pytest.mark.skipif(find_spec("optuna") is None, reason=f"optuna is not installed: {INSTALL}")


def told(count: int) -> list[Told]:
    """Trials of which those with small rates are better."""
    made: list[Told] = []
    for number in range(count):
        point = ask(SPACE, made, seed=1, number=number)
        made.append(Told(point=point, value=-point["rate"], steps=STEPS, ended=True))
    return made


@needs_optuna
def test_the_same_rows_ask_for_the_same_point() -> None:
    rows = told(14)
    asked = [ask(SPACE, rows, seed=1, number=14) for _ in range(3)]
    assert asked[0] == asked[1] == asked[2]
    assert asked[0] != ask(SPACE, rows, seed=2, number=14)
    assert asked[0]["model"] in ({"id": "mlp", "hidden": [8]}, {"id": "mlp", "hidden": [16]})
    running = [*rows, Told(point=asked[0], value=None, steps=0, ended=False)]
    failed = [*running, Told(point=rows[0].point, value=None, steps=0, ended=True)]
    assert ask(SPACE, failed, seed=1, number=16)["epochs"] in range(1, 9), "without a value a trial is no obstacle"


@needs_optuna
def test_values_draw_the_points_to_the_better_part() -> None:
    rates = [each.point["rate"] for each in told(40)]
    assert sorted(rates[10:])[15] < sorted(rates[:10])[5], "the median after the random start is smaller"


@needs_optuna
def test_a_plan_that_was_lost_asks_for_the_same_point_again(store: Store) -> None:
    sweep = Swept.found(store, trials=13, **BY_TPE)
    for number in range(12):
        sweep.advance()
        sweep.train(number, float(number))
        sweep.advance()
        sweep.end_trial(number)
    with store.sessions() as session:
        members = members_of(session, sweep.id)[:12]
        expected = next_point(spec_of_sweep(sweep.row), members, 12)
    sweep.advance()
    assert sweep.entries()[12].point == expected
    assert sweep.advance().start == [] and len(sweep.entries()) == 13
    assert findings(store) == []


@needs_optuna
@pytest.mark.skipif(find_spec("sklearn") is None, reason=f"scikit-learn is not installed: {INSTALL}")
def test_fanova_finds_the_field_that_matters() -> None:
    rows = told(30)
    found = fanova(SPACE, [each.point for each in rows], [each.value or 0.0 for each in rows])
    assert max(found, key=lambda path: found[path]) == "rate"


def test_without_optuna_a_plan_is_refused_with_the_install_command(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = Swept.found(store, **BY_TPE)
    monkeypatch.setattr(optuna_extra, "find_spec", lambda name: None)
    with pytest.raises(ApplicationError, match="pip install") as refused:
        sweep.advance()
    assert refused.value.non_retryable and sweep.entries() == []
