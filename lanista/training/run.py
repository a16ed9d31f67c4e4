"""`lanista.train`: one trial in this process, generation by generation."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanista.training.curves import curves_text, plot_curves
from lanista.training.evaluation import EvaluationResult, Evaluator
from lanista.training.first_weights import first_weights
from lanista.training.generation import Generation, GenerationProgress
from lanista.training.memory_league import LeaguePlayer, MemoryLeague, PlannedTask
from lanista.training.output import RunFolder
from lanista.training.runner import runner
from lanista.training.source import Source, TrialSource, read_source
from league.types import Role
from league.win_rates import win_rates_by_name
from orchestrator.contracts.generations import GenerationOutcome
from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.crew import OnProgress
from workers.crews.errors import GenerationStopped
from workers.crews.task import Progress

if TYPE_CHECKING:
    import pandas

OnGenerationProgress = Callable[[GenerationProgress], None]

CURVE_GAMES = 64
"""Games of each point of the learning curve."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a run ends: at the first of these, or of the trial file's budget."""

    minutes: float | None = None
    generations: int | None = None
    """Of all players together."""


class Run:
    """A trial in this process. Iterating over it trains, one generation at a time; breaking off loses nothing."""

    def __init__(
        self,
        source: Source,
        limits: Limits,
        *,
        games: int = CURVE_GAMES,
        folder: str | Path | None = None,
        ray: bool = False,
        on_progress: OnGenerationProgress = lambda progress: None,
    ) -> None:
        self.name, self.spec = source.name, source.spec
        self.generations: list[Generation] = []
        """Those trained so far; number 0 of each player is the untrained one."""
        self.evaluation: list[EvaluationResult] = []
        """The newest version of each player against the field; played at the end of the run."""
        self.end = ""
        """Why the run ended; empty before."""
        self._source, self._limits, self._games = source, limits, games
        self.on_progress = on_progress
        scratch = tempfile.mkdtemp(prefix="lanista-")
        weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        self._store = ArtifactStore(scratch)
        self._folder = None if folder is None else RunFolder(Path(folder), source.spec, source.name)
        self._train = runner(self._store, source.folders, ray=ray)
        self._started = time.monotonic()
        self.league = MemoryLeague(self.spec, first_weights(source, self._store))
        self.evaluator = Evaluator(self.league, self._store)
        self._iterator = self._generations()

    def __iter__(self) -> Iterator[Generation]:
        return self._iterator

    def finish(self) -> Run:
        """Train to the end."""
        for _ in self:
            pass
        return self

    @property
    def players(self) -> list[str]:
        """The players that learn."""
        return [player.name for player in self.league.learners]

    @property
    def folder(self) -> Path | None:
        """Where checkpoints and metrics are written."""
        return None if self._folder is None else self._folder.path

    @property
    def curve_name(self) -> str:
        """What the learning curve shows."""
        if not self.evaluator.has_opponents:
            return "mean return"
        return "win rate against random" if self._games else "mean return in training"

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self._started

    def evaluate(self) -> list[EvaluationResult]:
        """Play the newest version of each learning player against the field of the trial file."""
        self.evaluation = [
            result for player in self.league.learners for result in self.evaluator.field(player, counted=False)
        ]
        if self._folder is not None:
            self._folder.write_evaluation(self.evaluation)
        return self.evaluation

    def save(self, folder: str | Path) -> Path:
        """Write checkpoints, metrics and the evaluation to a folder; `lanista model import` takes the checkpoints."""
        written = RunFolder(Path(folder), self.spec, self.name)
        for player in self.league.learners:
            assert player.newest.checkpoint is not None
            written.write_checkpoint(player.name, self._store.read(player.newest.checkpoint))
        written.write_metrics(self.generations)
        written.write_evaluation(self.evaluation)
        return written.path

    def checkpoint(self, player: str | None = None) -> bytes:
        """The newest checkpoint of a player, by default of the first one that learns."""
        found = self.league.players[player or self.players[0]].newest.checkpoint
        if found is None:
            raise ValueError(f"{player} is a bot and has no checkpoint; these have one: {', '.join(self.players)}")
        return self._store.get(found)

    def to_frame(self) -> pandas.DataFrame:
        """One row for each generation, as a pandas frame."""
        from api.schemas.frames import load_pandas

        frame: pandas.DataFrame = load_pandas().DataFrame([each.as_row() for each in self.generations])
        return frame

    def curves(self) -> str:
        """The learning curve of each player as text."""
        return curves_text(self.generations)

    def plot(self, metric: str = "score") -> Any:
        """The curves of a column of `to_frame`, as axes of matplotlib; as text where matplotlib is not installed."""
        return plot_curves(self.generations, metric)

    def _generations(self) -> Iterator[Generation]:
        yield from self._untrained()
        while not self.end:
            for player in self.league.learners:
                trained = self._generation(player)
                if trained is not None:
                    yield trained
                self.end = self._why_end(player)
                if self.end:
                    break
        self.evaluate()

    def _untrained(self) -> Iterator[Generation]:
        """The first point of each curve."""
        for player in self.league.learners:
            assert player.version.checkpoint is not None
            if self._games and self.evaluator.has_opponents:
                yield self._keep(
                    Generation(
                        player=player.name,
                        number=0,
                        steps=0,
                        player_steps=0,
                        trial_steps=0,
                        seconds=self.seconds,
                        checkpoint=player.version.checkpoint,
                        metrics={},
                        win_rates={},
                        evaluation=self.evaluator.against_random(player, self._games),
                    )
                )

    def _generation(self, player: LeaguePlayer) -> Generation | None:
        """Train the player's next generation and apply the league's rules; None if time ran out meanwhile."""
        planned = self.league.plan(player)
        try:
            outcome = self._train(planned.task, self._report(player), self._time_is_up)
        except GenerationStopped:
            return None
        self.league.record(player, planned, outcome)
        evaluated = None
        if self._games and self.evaluator.has_opponents:
            evaluated = self.evaluator.against_random(player, self._games)
        hyperparameters = dict(player.hyperparameters)  # those it trained with; a copy changes them
        judged = self.league.judge(player)
        trained = Generation(
            player=player.name,
            number=player.generation,
            steps=outcome.steps,
            player_steps=player.steps,
            trial_steps=self.league.steps,
            seconds=self.seconds,
            checkpoint=outcome.checkpoint,
            metrics=outcome.metrics,
            win_rates=_win_rates(planned, outcome),
            evaluation=evaluated,
            snapshot=judged.snapshot,
            reset=judged.reset,
            copied=judged.copied,
            hyperparameters=hyperparameters,
            reasons=judged.reasons,
        )
        return self._keep(trained)

    def _keep(self, generation: Generation) -> Generation:
        self.generations.append(generation)
        if self._folder is not None:
            self._folder.write_checkpoint(generation.player, self._store.read(generation.checkpoint))
            self._folder.write_metrics(self.generations)
        return generation

    def _report(self, player: LeaguePlayer) -> OnProgress:
        def on_progress(now: Progress) -> None:
            self.on_progress(
                GenerationProgress(
                    player=player.name,
                    generation=player.generation + 1,
                    steps=now.steps,
                    target=now.target,
                    steps_per_second=now.steps_per_second,
                    metrics=now.metrics,
                )
            )

        return on_progress

    def _time_is_up(self) -> bool:
        """Whether a generation under way is broken off: the first of all is not."""
        return self.league.steps > 0 and self._seconds_left() <= 0

    def _seconds_left(self) -> float:
        minutes, budget = self._limits.minutes, self.spec.budget.wall_clock
        limits = [float("inf") if minutes is None else 60 * minutes]
        limits += [] if budget is None else [budget.total_seconds()]
        return min(limits) - self.seconds

    def _why_end(self, player: LeaguePlayer) -> str:
        """Why the run ends after this player's generation; empty if it goes on."""
        steps = self.spec.budget.steps
        trained = sum(each.number > 0 for each in self.generations)
        if steps is not None and self.league.steps >= steps:
            return f"the budget of {steps:,} steps is used up"
        if self._limits.generations is not None and trained >= self._limits.generations:
            return f"{trained} generations are trained"
        if self._seconds_left() <= 0:
            return "the time is up"
        return self._measure(player)

    def _measure(self, player: LeaguePlayer) -> str:
        """The rating games of a main when they are due; says so if it has reached the target of the budget."""
        every = self.spec.evaluation.every_generations
        if player.role is not Role.MAIN or player.generation % every:
            return ""
        self.evaluator.field(player, counted=True)
        self.evaluator.play_meta_game()
        target, until = self.league.target, self.spec.budget.until
        if target is None or until is None:
            return ""
        rate = self.evaluator.against_target(player, target).win_rate or 0.0
        return f"{player.name} has a win rate of {rate:.3f} against {target.name}" if rate >= until.win_rate else ""


def train(
    trial: TrialSource,
    *,
    steps: int | None = None,
    minutes: float | None = None,
    generations: int | None = None,
    changes: Mapping[str, Any] | None = None,
    games: int = CURVE_GAMES,
    folder: str | Path | None = None,
    ray: bool = False,
    on_progress: OnGenerationProgress = lambda progress: None,
) -> Run:
    """Train a trial in this process: `for generation in lanista.train("file.yaml", minutes=1): ...`

    `trial` is a trial file by its path, or its content as a mapping. It ends at the first of `steps`, `minutes`,
    `generations` and the file's own budget; `steps` replaces the file's. `changes` are laid over the file, as
    `{"generation": {"steps": 20_000}}`. `games` are played against random moves after each generation, for the learning
    curve. Checkpoints and metrics are also written to `folder`. With `ray`, generations run on a local Ray.
    """
    limits = Limits(minutes=minutes, generations=generations)
    return Run(
        read_source(trial, changes, steps=steps), limits, games=games, folder=folder, ray=ray, on_progress=on_progress
    )


def _win_rates(planned: PlannedTask, outcome: GenerationOutcome) -> dict[str, float]:
    names = {opponent.version: opponent.player_name for opponent in planned.task.opponents}
    return win_rates_by_name(outcome.tallies, names)
