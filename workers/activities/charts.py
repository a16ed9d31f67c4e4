"""Writes the metrics of committed generations for TensorBoard."""

from __future__ import annotations

from temporalio import activity

from league.win_rates import win_rates_by_name
from orchestrator.contracts.generations import Chart, chart_generation
from workers.tensorboard import GenerationPoints, write_generation


class ChartActivities:
    """Writes one file for each committed generation; a second delivery leaves the file unchanged."""

    def __init__(self, root: str) -> None:
        self._root = root

    @activity.defn(name=chart_generation.name)
    def chart_generation(self, chart: Chart) -> None:
        points = GenerationPoints(
            trial=chart.trial_name,
            player=chart.player_name,
            generation=chart.generation,
            steps=chart.steps,
            committed_at=chart.committed_at,
            metrics=chart.metrics,
            win_rates=chart.win_rates or win_rates_by_name(chart.tallies, chart.opponent_names),
        )
        write_generation(self._root, points)
