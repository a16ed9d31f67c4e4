"""NashConv in the store: which policies are measured, and values that are recorded once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from temporalio.exceptions import ApplicationError

from api.store.tables import Metric
from orchestrator.contracts.nash_conv import NashConvRecorded, NashConvReport, NashConvRequest
from orchestrator.contracts.play import EvaluationKey
from tests.integration.league_store.driver import League, Store
from tests.integration.league_store.test_meta_game import found, respond


@pytest.fixture
def league(store: Store) -> League:
    """A pool that grows with every generation."""
    return found(store)


def key(league: League) -> EvaluationKey:
    main = league.player("main")
    return EvaluationKey(trial=league.trial, player=main.id, generation=main.generation)


def test_the_newest_version_and_the_pools_mixture_are_measured(store: Store, league: League) -> None:
    league.live("main")
    respond(league)
    respond(league)
    request: NashConvRequest = store("plan_nash_conv", key(league))
    alone, mixture = request.mixtures
    assert (alone.metric, alone.weights) == ("nash_conv", [1.0])
    assert alone.contenders[0].player == key(league).player
    assert mixture.metric == "nash_conv_mixture" and sum(mixture.weights) == pytest.approx(1)
    assert len(mixture.contenders) == len(mixture.weights) >= 1
    assert all(contender.checkpoint is not None for contender in mixture.contenders)
    assert store("plan_nash_conv", key(league)) == request


def test_values_are_recorded_once_as_metrics_of_the_generation(store: Store, league: League) -> None:
    recorded = league.live("main")
    at = key(league)
    report = NashConvReport(
        trial=at.trial, player=at.player, generation=at.generation, values={"nash_conv": 0.9, "nash_conv_mixture": 0.3}
    )
    answers = store.at_once("record_nash_conv", report, report)
    later: NashConvRecorded = store("record_nash_conv", replace(report, values={"nash_conv": 7.0}))
    assert answers == [later, later] and later.values == report.values, "the first delivery counts"
    (row,) = store.rows(Metric, Metric.player_id == at.player, Metric.name == "nash_conv")
    assert (row.value, row.generation, row.trial_id) == (0.9, at.generation, at.trial) and row.steps > 0
    assert recorded is not None
    with pytest.raises(ApplicationError, match=r"generation 99 of player .* is not recorded"):
        store("record_nash_conv", replace(report, generation=99))
