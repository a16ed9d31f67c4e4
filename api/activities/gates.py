"""Activities of promotion gates."""

from __future__ import annotations

from sqlalchemy import Engine
from temporalio import activity

from api.activities.error_mapping import map_errors
from api.store.core.engine import session_factory
from api.store.gates.results import GateState, gate_state, judge_gate_probe, record_gate_batch, stop_gate
from api.store.gates.unfinished import gates_opened_after, unfinished_gates
from api.store.players.contenders import contender
from api.store.tables import Gate, Player
from api.store.trials.spec import spec_of
from orchestrator.contracts import play as contracts
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.storage.played_games import unpack_games


class GateActivities:
    """The store's part of a gate."""

    def __init__(self, engine: Engine, artifacts: ArtifactStore, *, stall_seconds: float) -> None:
        self._sessions = session_factory(engine)
        self._artifacts = artifacts
        self._stall_seconds = stall_seconds

    @activity.defn(name=contracts.gate_brief.name)
    def gate_brief(self, request: contracts.GateRequest) -> contracts.GateBrief:
        """The state of the gate and the batch to play next."""
        with map_errors(), self._sessions.begin() as session:
            return self._brief(gate_state(session, request.gate))

    @activity.defn(name=contracts.record_gate_batch.name)
    def record_gate_batch(self, batch: contracts.GateBatch) -> contracts.GateBrief:
        """Record the batch and evaluate the test; on a pass the alias moves in the same transaction."""
        with map_errors():
            games = unpack_games(batch.outcome, self._artifacts)
            with self._sessions.begin() as session:
                return self._brief(record_gate_batch(session, batch.gate, batch.batch, games))

    @activity.defn(name=contracts.judge_gate_probe.name)
    def judge_gate_probe(self, request: contracts.GateRequest) -> contracts.GateBrief:
        """Decide the gate once its probes are over; on a pass the alias moves in the same transaction."""
        with map_errors(), self._sessions.begin() as session:
            return self._brief(judge_gate_probe(session, request.gate))

    @activity.defn(name=contracts.stop_gate.name)
    def stop_gate(self, stop: contracts.GateStop) -> contracts.GateBrief:
        """Stop the gate as invalid."""
        with map_errors(), self._sessions.begin() as session:
            return self._brief(stop_gate(session, stop.gate, stop.reason))

    @activity.defn(name=contracts.end_gates.name)
    def end_gates(self, end: contracts.GatesEnd) -> contracts.GatesEnded:
        """Stop the trial's gates as invalid; return the gates of other trials that were opened after them."""
        with map_errors():
            # repeat until none is left: a batch that arrives first may end a gate and open another one
            while gates := self._unfinished(end.trial):
                for gate in gates:
                    with self._sessions.begin() as session:
                        stop_gate(session, gate, end.reason)
            with self._sessions() as session:
                opened = gates_opened_after(session, end.trial)
                return contracts.GatesEnded(
                    gates=[contracts.OpenedGate(gate=gate.id, trial=gate.trial_id) for gate in opened]
                )

    def _unfinished(self, trial: str) -> list[str]:
        with self._sessions() as session:
            return unfinished_gates(session, trial)

    def _brief(self, state: GateState) -> contracts.GateBrief:
        gate, successor = state.gate, state.successor
        return contracts.GateBrief(
            gate=gate.id,
            trial=gate.trial_id,
            status=gate.status.value,
            next_batch=state.next_batch,
            request=self._request(state) if state.pairs else None,
            next_gate=None if successor is None else successor.id,
            next_trial=None if successor is None else successor.trial_id,
            probing=state.probing,
        )

    def _request(self, state: GateState) -> contracts.PlayRequest:
        gate = state.gate
        return contracts.PlayRequest(
            trial=gate.trial_id,
            occasion=f"gate {gate.id}, batch {state.next_batch}",
            game=spec_of(state.trial).game.component,
            contenders=[contender(player, version, _search_of(gate, player)) for player, version in state.contenders],
            pairs=state.pairs,
            seed=state.seed,
            opening_plies=gate.settings["opening_plies"],
            stall_seconds=self._stall_seconds,
        )


def _search_of(gate: Gate, player: Player) -> int | None:
    """Simulations a move of this side; a bot that holds the alias plays as it always does."""
    return None if player.bot is not None else gate.settings.get("search")
