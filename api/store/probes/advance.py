"""What a probe does next, in one transaction: create the responders' trials, then their games, then the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import ProbeStatus, TournamentStatus, TrialStatus
from api.schemas.events import ProbeFinished
from api.store.core.clock import now
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.players.versions import present_version
from api.store.probes.create import target_name
from api.store.probes.responders import RESPONDER, responder_name, responder_trial
from api.store.probes.results import measured
from api.store.probes.started import mark_probe_started
from api.store.tables import Player, Probe, ProbeTrial, Project, Tournament, Trial
from api.store.tournaments.lifecycle import create_tournament
from api.store.trials.create import add_trial
from api.store.trials.spec import spec_of
from league.probes import best_responder
from orchestrator.spec.probe import NewProbeSpec
from orchestrator.spec.tournament import TournamentSpec


@dataclass(frozen=True, kw_only=True)
class Advance:
    """What the probe's workflow has to do."""

    probe: Probe
    start: tuple[Trial, ...] = ()
    stop: tuple[Trial, ...] = ()
    """Trials to be stopped now."""
    tournament: Tournament | None = None
    cancel: Tournament | None = None

    @property
    def over(self) -> bool:
        return self.probe.status.is_final


def lock_probe(session: Session, probe_id: str) -> Probe:
    """The probe under a FOR NO KEY UPDATE lock. Lock order: a probe before its trials."""
    probe = session.scalars(
        select(Probe)
        .where(Probe.id == probe_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).one_or_none()
    if probe is None:
        raise NotFound(f"there is no probe {probe_id}")
    return probe


def advance_probe(session: Session, probe_id: str, *, stop_reason: str = "", failure: str = "") -> Advance:
    """Take the probe one step further. A second delivery finds what the first one did."""
    probe = lock_probe(session, probe_id)
    if probe.status.is_final:
        return Advance(probe=probe)
    mark_probe_started(session, probe_id)
    if probe.status is ProbeStatus.PENDING:
        probe.status, probe.started_at = ProbeStatus.RUNNING, now(session)
    trials = trials_of(session, probe_id)
    if failure:
        _end(session, probe, ProbeStatus.FAILED, failure)
        return Advance(probe=probe, stop=_live(trials), cancel=_games_under_way(session, probe))
    if stop_reason or probe.status is ProbeStatus.STOPPING:
        return _stop(session, probe, trials, stop_reason)
    if not trials:
        return Advance(probe=probe, start=tuple(_add_trials(session, probe)))
    ended = [trial for trial in trials if trial.status.is_final]
    failed = next((trial for trial in ended if trial.status is not TrialStatus.COMPLETED), None)
    if failed is not None:
        reason = (
            f"the trial {failed.name} of a responder is {failed.status}: {failed.status_reason or 'no reason given'}"
        )
        _end(session, probe, ProbeStatus.FAILED, reason)
        return Advance(probe=probe, stop=_live(trials))
    if _live(trials):
        return Advance(probe=probe, start=tuple(trial for trial in trials if trial.workflow_started_at is None))
    return _play(session, probe, trials)


def trials_of(session: Session, probe_id: str) -> list[Trial]:
    """The responders' trials, by number."""
    return list(
        session.scalars(
            select(Trial)
            .join(ProbeTrial, ProbeTrial.trial_id == Trial.id)
            .where(ProbeTrial.probe_id == probe_id)
            .order_by(ProbeTrial.number)
            .execution_options(populate_existing=True)
        )
    )


def stop_probe(session: Session, probe_id: str, reason: str) -> Probe:
    """Ask a probe to end early; its workflow stops the trials. One that is over stays as it is."""
    probe = lock_probe(session, probe_id)
    if not probe.status.is_final and probe.status is not ProbeStatus.STOPPING:
        probe.status, probe.status_reason = ProbeStatus.STOPPING, reason
        probe.started_at = probe.started_at or now(session)
        session.flush()
    return probe


def responder_of(session: Session, trial: Trial) -> str:
    """The version that a responder ended with."""
    player = session.scalars(select(Player).where(Player.trial_id == trial.id, Player.name == RESPONDER)).one()
    version = present_version(session, player.id)
    if version is None:
        raise Conflict(f"the responder of {trial.name} has no version")
    return version.id


def _live(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    return tuple(trial for trial in trials if not trial.status.is_final)


def _games_under_way(session: Session, probe: Probe) -> Tournament | None:
    games = _tournament(session, probe)
    return games if games is not None and not _is_over(games) else None


def _stop(session: Session, probe: Probe, trials: Sequence[Trial], reason: str) -> Advance:
    probe.status, probe.status_reason = ProbeStatus.STOPPING, probe.status_reason or reason
    cancel = _games_under_way(session, probe)
    if not _live(trials) and cancel is None:
        _end(session, probe, ProbeStatus.STOPPED, probe.status_reason)
    return Advance(probe=probe, stop=_live(trials), cancel=cancel)


def _add_trials(session: Session, probe: Probe) -> list[Trial]:
    project = session.get_one(Project, probe.project_id).name
    made, events = [], []
    for number in range(NewProbeSpec.model_validate(probe.spec).responders):
        file, name = responder_trial(session, probe, number), responder_name(probe.id, number)
        trial, created = add_trial(session, project=project, name=name, spec=file)
        session.add(ProbeTrial(probe_id=probe.id, number=number, trial_id=trial.id))
        made.append(trial)
        events += created
    session.flush()
    append_events(session, events)
    return made


def _play(session: Session, probe: Probe, trials: Sequence[Trial]) -> Advance:
    games = _tournament(session, probe)
    if games is None:
        return Advance(probe=probe, tournament=_open_games(session, probe, trials))
    if not _is_over(games):
        return Advance(probe=probe, tournament=games if games.workflow_started_at is None else None)
    if games.status is not TournamentStatus.COMPLETED:
        _end(
            session,
            probe,
            ProbeStatus.FAILED,
            f"its games are {games.status}: {games.status_reason or ''}".rstrip(": "),
        )
        return Advance(probe=probe)
    responders = [(trial.name, trial.steps, responder_of(session, trial)) for trial in trials]
    found = measured(session, probe, responders)
    best = best_responder([each.exploited for each in found])
    reached = found[best].exploited
    words = f"a responder wins {reached.win_rate:.3f} ({reached.low:.3f} to {reached.high:.3f})"
    with session.no_autoflush:  # a result and its status are one change
        probe.results = {"responders": [each.to_json() for each in found], "best": best}
        probe.win_rate, probe.low, probe.high = reached.win_rate, reached.low, reached.high
        _end(session, probe, ProbeStatus.COMPLETED, words)
    return Advance(probe=probe)


def _open_games(session: Session, probe: Probe, trials: Sequence[Trial]) -> Tournament:
    spec = NewProbeSpec.model_validate(probe.spec)
    file = TournamentSpec(
        game=spec_of(trials[0]).game,
        name=f"probe-{probe.id[-12:]}",
        format="gauntlet",
        seed=spec.seed,
        challengers=tuple(f"version:{responder_of(session, trial)}" for trial in trials),
        entrants=tuple(f"version:{part['version_id']}" for part in probe.target["parts"]),
        games=spec.games,
    )
    project = session.get_one(Project, probe.project_id).name
    tournament = create_tournament(session, project, file)
    probe.tournament_id = tournament.id
    session.flush()
    return tournament


def _tournament(session: Session, probe: Probe) -> Tournament | None:
    if probe.tournament_id is None:
        return None
    return session.get_one(Tournament, probe.tournament_id, populate_existing=True)


def _is_over(tournament: Tournament) -> bool:
    return tournament.status in (TournamentStatus.COMPLETED, TournamentStatus.CANCELLED, TournamentStatus.FAILED)


def _end(session: Session, probe: Probe, status: ProbeStatus, reason: str | None) -> None:
    moment = now(session)
    probe.status, probe.status_reason, probe.finished_at = status, reason, moment
    session.flush()
    payload = ProbeFinished(
        probe_id=probe.id,
        target=target_name(probe),
        status=status,
        reason=reason,
        win_rate=probe.win_rate,
        low=probe.low,
        high=probe.high,
    )
    append_events(session, [NewEvent(trial_id=probe.trial_id, payload=payload)])
