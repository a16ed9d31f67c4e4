"""The activities that workflows call, in memory: no Postgres, no Ray, but a real Temporal server in between."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from league.training_priority import Urgency
from league.types import CheckpointRef, Role, Tally, VersionId
from orchestrator.catalog import Component
from orchestrator.contracts import PartReport, PartRequest, generations, play, tournaments, trials
from orchestrator.contracts.errors import Failure

GAME = Component(id="tic_tac_toe")
WON = Tally(learner=VersionId("v"), opponent=VersionId("v-1"), seat=0, wins=1)
REF = CheckpointRef(uri="memory://checkpoint", sha256="0" * 64, size=1)
OPPONENT = generations.PlannedOpponent(player="p-1", version="v-1", probability=1.0, bot="random", player_name="random")


@dataclass
class FakeLeague:
    """Records what workflows asked for; tests set what goes wrong."""

    trial: str = "t"
    learners: list[trials.Learner] = field(
        default_factory=lambda: [trials.Learner(player="p-main", name="main", role=Role.MAIN)]
    )
    budget_steps: int | None = None
    first_steps: int = 0
    """What a fork's origin trained."""
    wall_clock_seconds: float | None = None
    target: trials.Target | None = None
    start_paused: bool = False
    planning_waits: bool = False
    """Whether a plan rests on games that are still being played."""
    planning_seconds: float = 0.0
    urgency: int = Urgency.IN_STEP
    """Of every plan."""
    priorities: list[int | None] = field(default_factory=list)
    """Those that attempts at training came with."""
    generation_seconds: float = 0.02
    play_seconds: float | None = None
    """For a batch of games; as long as a generation unless it is set."""
    statuses: list[tuple[str, str]] = field(default_factory=list)
    charts: list[generations.Chart] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    trained: list[int] = field(default_factory=list)
    """The generation of each training that began."""
    recorded: list[tuple[str, int]] = field(default_factory=list)
    tries: list[int] = field(default_factory=list)
    """Attempts that each recorded generation took."""
    events: list[trials.TrialEvent] = field(default_factory=list)
    rollbacks: list[generations.Rollback] = field(default_factory=list)
    training_failures: list[Failure] = field(default_factory=list)
    """Raised by the next attempts at training, first to last."""
    weights_failures: list[Failure] = field(default_factory=list)
    weights_seconds: float = 0.0
    entry_failures: list[Failure] = field(default_factory=list)
    record_failures: list[Failure] = field(default_factory=list)
    garbage_failures: list[Failure] = field(default_factory=list)
    garbage_seconds: float = 0.0
    change_failures: list[Failure] = field(default_factory=list)
    over: bool = False
    """Whether the store put an end to the trial before its workflow began."""
    play_failures: list[Failure] = field(default_factory=list)
    field_failures: list[Failure] = field(default_factory=list)
    gates: dict[str, int] = field(default_factory=dict)
    """Batches that each gate still plays."""
    probed_gates: dict[str, int] = field(default_factory=dict)
    """How often each gate that has played its batches is told to wait for its probes."""
    gate_of_generation: dict[int, str] = field(default_factory=dict)
    stopped_gates: list[play.GateStop] = field(default_factory=list)
    gate_ends: list[play.GatesEnd] = field(default_factory=list)
    opened_gates: list[play.OpenedGate] = field(default_factory=list)
    """Those of other trials that take the places of this one's when it ends."""
    before_batch: Callable[[play.GateBatch], Awaitable[None]] | None = None
    """Called before a gate's batch is recorded."""
    gauntlets: list[str] = field(default_factory=list)
    """Evaluations that are under way when the trial ends."""
    evaluation_ends: list[tournaments.EvaluationsEnd] = field(default_factory=list)
    sweep: str = ""
    """The sweep that the trial belongs to."""
    rungs: list[int] = field(default_factory=list)
    steps: int = 0
    training_now: int = 0

    def activities(self) -> list[Callable[..., Any]]:
        found = (getattr(self, name) for name in dir(self))
        return [method for method in found if hasattr(method, "__temporal_activity_definition")]

    @activity.defn
    async def check_store(self, request: PartRequest) -> PartReport:
        return PartReport(part="store", detail="fake", milliseconds=0)

    @activity.defn
    async def check_train(self, request: PartRequest) -> PartReport:
        return PartReport(part="train", detail="fake", milliseconds=0)

    @activity.defn
    async def check_play(self, request: PartRequest) -> PartReport:
        return PartReport(part="play", detail="fake", milliseconds=0)

    @activity.defn
    async def check_interactive(self, request: PartRequest) -> PartReport:
        return PartReport(part="interactive", detail="fake", milliseconds=0)

    @activity.defn
    async def begin_trial(self, request: trials.TrialRequest) -> trials.TrialBrief:
        self.calls["begin_trial"] += 1
        return trials.TrialBrief(
            trial=request.trial,
            name="fake",
            game=GAME,
            model=Component(id="mlp"),
            seed=1,
            learners=self.learners,
            initial=None,
            initial_source=None,
            start_paused=self.start_paused,
            steps=self.first_steps,
            budget_steps=self.budget_steps,
            wall_clock_seconds=self.wall_clock_seconds,
            target=self.target,
            evaluate_every=1,
            over=self.over,
            sweep=self.sweep,
            rungs=self.rungs,
        )

    @activity.defn
    async def make_initial_weights(self, request: trials.InitialWeightsRequest) -> CheckpointRef:
        self.calls["make_initial_weights"] += 1
        _fail(self.weights_failures)
        await asyncio.sleep(self.weights_seconds)
        return REF

    @activity.defn
    async def enter_players(self, request: trials.EnterPlayers) -> None:
        self.calls["enter_players"] += 1
        _fail(self.entry_failures, final=True)

    @activity.defn
    async def change_status(self, change: trials.StatusChange) -> None:
        self.statuses.append((change.status, change.reason))

    @activity.defn
    async def add_player(self, new: trials.AddPlayer) -> trials.Learner:
        return trials.Learner(player=f"p-{new.name}", name=new.name, role=new.role)

    @activity.defn
    async def change_player(self, change: trials.ChangePlayer) -> trials.Learner:
        _fail(self.change_failures, final=True)
        self.calls["retire" if change.retire else "retune"] += 1
        return next(learner for learner in self.learners if learner.player == change.player)

    @activity.defn
    async def note_event(self, event: trials.TrialEvent) -> None:
        self.events.append(event)

    @activity.defn
    async def collect_garbage(self, request: trials.TrialRequest) -> trials.GarbageReport:
        self.calls["collect_garbage"] += 1
        _fail(self.garbage_failures, final=True)
        await asyncio.sleep(self.garbage_seconds)
        return trials.GarbageReport(files=0, bytes=0)

    @activity.defn
    async def end_evaluations(self, end: tournaments.EvaluationsEnd) -> tournaments.EvaluationsLeft:
        self.evaluation_ends.append(end)
        return tournaments.EvaluationsLeft(tournaments=self.gauntlets if end.now else [])

    @activity.defn
    async def plan_generation(self, key: generations.GenerationKey) -> generations.GenerationPlan:
        self.calls["plan_generation"] += 1
        if self.planning_waits:
            raise ApplicationError("not yet", next_retry_delay=timedelta(seconds=0.1))
        await asyncio.sleep(self.planning_seconds)
        name = next((each.name for each in self.learners if each.player == key.player), key.player)
        return generations.GenerationPlan(
            trial=key.trial,
            player=key.player,
            player_name=name,
            generation=key.generation,
            attempt=key.attempt,
            decision=1,
            version="v",
            checkpoint=REF,
            opponents=(OPPONENT,),
            game=GAME,
            model=Component(id="mlp"),
            algorithm=Component(id="ppo"),
            seed=1,
            steps=10,
            tables=1,
            rollout_actors=1,
            trainers=1,
            topology=generations.Topology.AUTO,
            threads=1,
            opening_share=0.5,
            opening_plies=None,
            stall_seconds=60,
            urgency=self.urgency,
        )

    @activity.defn
    async def train_generation(self, plan: generations.GenerationPlan) -> generations.GenerationOutcome:
        self.calls["train_generation"] += 1
        self.trained.append(plan.generation)
        self.priorities.append(activity.info().priority.priority_key)
        _fail(self.training_failures)
        self.training_now += 1
        try:
            began = time.monotonic()
            while time.monotonic() < began + self.generation_seconds:  # which a test may cut short meanwhile
                activity.heartbeat({"steps": 1})
                await asyncio.sleep(0.02)
        finally:
            self.training_now -= 1
        now = time.time()
        return generations.GenerationOutcome(
            checkpoint=REF, steps=10, tallies=[WON], metrics={"loss": 1.0}, started_at=now, finished_at=now
        )

    @activity.defn
    async def record_generation(self, report: generations.GenerationReport) -> generations.Recorded:
        _fail(self.record_failures, final=True)
        self.recorded.append((report.player, report.generation))
        self.tries.append(report.tries)
        self.steps += report.outcome.steps
        return generations.Recorded(
            commit=len(self.recorded),
            version="v",
            checkpoint=REF,
            player_steps=self.steps,
            trial_steps=self.steps,
            committed_at=0.0,
        )

    @activity.defn
    async def judge_generation(self, key: generations.GenerationKey) -> generations.Judgement:
        return generations.Judgement(gate=self.gate_of_generation.get(key.generation))

    @activity.defn
    async def roll_back(self, rollback: generations.Rollback) -> None:
        self.rollbacks.append(rollback)

    @activity.defn
    async def chart_generation(self, chart: generations.Chart) -> None:
        self.calls["chart_generation"] += 1
        self.charts.append(chart)

    @activity.defn
    async def play_games(self, request: play.PlayRequest) -> play.PlayOutcome:
        self.calls["play_games"] += 1
        _fail(self.play_failures)
        began = time.monotonic()
        while time.monotonic() < began + (self.generation_seconds if self.play_seconds is None else self.play_seconds):
            activity.heartbeat()
            await asyncio.sleep(0.02)
        return play.PlayOutcome(games=[])

    @activity.defn
    async def gate_brief(self, request: play.GateRequest) -> play.GateBrief:
        return self._brief(request.gate)

    @activity.defn
    async def record_gate_batch(self, batch: play.GateBatch) -> play.GateBrief:
        if self.before_batch is not None:
            await self.before_batch(batch)
        self.gates[batch.gate] -= 1
        return self._brief(batch.gate)

    @activity.defn
    async def judge_gate_probe(self, request: play.GateRequest) -> play.GateBrief:
        self.calls["judge_gate_probe"] += 1
        self.probed_gates[request.gate] -= 1
        return self._brief(request.gate)

    @activity.defn
    async def stop_gate(self, stop: play.GateStop) -> play.GateBrief:
        self.stopped_gates.append(stop)
        self.gates[stop.gate] = self.probed_gates[stop.gate] = 0
        return self._brief(stop.gate, "invalid")

    @activity.defn
    async def end_gates(self, end: play.GatesEnd) -> play.GatesEnded:
        self.gate_ends.append(end)
        return play.GatesEnded(gates=self.opened_gates)

    def _brief(self, gate: str, over: str = "passed") -> play.GateBrief:
        left = self.gates[gate]
        request = play.PlayRequest(trial="t", occasion=gate, game=GAME, contenders=[], pairs=1, seed=left)
        probing = not left and self.probed_gates.get(gate, 0) > 0
        following = f"{gate}-next" if f"{gate}-next" in self.gates and not left and not probing else None
        return play.GateBrief(
            gate=gate,
            trial=self.trial,
            status="running" if left or probing else over,
            next_batch=left,
            request=request if left else None,
            next_gate=following,
            next_trial=self.trial if following else None,
            probing=probing,
        )

    @activity.defn
    async def open_trial_evaluation(self, due: tournaments.TrialEvaluation) -> tournaments.Opened:
        self.calls["open_trial_evaluation"] += 1
        _fail(self.field_failures, final=True)
        return tournaments.Opened(tournament=None, reason="nobody to meet")

    @activity.defn
    async def plan_evaluation(self, key: play.EvaluationKey) -> play.PlayRequest:
        return play.PlayRequest(trial=key.trial, occasion="target", game=GAME, contenders=[], pairs=1, seed=1)

    @activity.defn
    async def record_evaluation(self, report: play.EvaluationReport) -> play.TargetState:
        reached = report.generation >= 3
        return play.TargetState(win_rate=0.95, low=0.9, high=1.0, games=2, reached=reached)


def _fail(planted: list[Failure], *, final: bool = False) -> None:
    """Raise the next of the planted failures, if one is left."""
    if planted:
        failure = planted.pop(0)
        raise ApplicationError(f"planted {failure}", type=failure, non_retryable=final)
