"""Target evaluations: rating games of a main against the trial's target, as a gauntlet that is created once.

See docs/decisions/trials.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from api.schemas.enums import (
    CommitKind,
    MatchResult,
    PairingStatus,
    TournamentFormat,
    TournamentPurpose,
    TournamentStatus,
)
from api.schemas.events import EvaluationRecorded
from api.store.core.clock import now
from api.store.core.commits import lock_trial, take_commit
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.matches.openings import opening_plies, with_openings_played
from api.store.matches.scoring import Contest, longest_opening, match_row, results_by_team, score_games
from api.store.payoffs.cells import CellKey, Results, update_payoff
from api.store.players.roster import find_target, player_of
from api.store.players.versions import playing_version
from api.store.tables import (
    Generation,
    Match,
    ModelVersion,
    Pairing,
    Player,
    Tally,
    Tournament,
    TournamentEntrant,
    Trial,
)
from api.store.tournaments.lifecycle import CreatedFor, find_tournament, lock_tournament
from api.store.trials.spec import spec_of
from league.payoff import wilson
from league.seeds import derived_seed
from league.types import Stream
from orchestrator.contracts.play import PlayedGame

ROUND, PAIR = 1, 0
MAIN, TARGET = 0, 1


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """An evaluation, planned or played."""

    trial: Trial
    tournament: Tournament
    pairing: Pairing
    contenders: tuple[tuple[Player, ModelVersion], ...]


@dataclass(frozen=True, kw_only=True)
class TargetMeasurement:
    """A main's win rate against the target, with a 95 % interval."""

    win_rate: float
    low: float
    high: float
    games: int
    reached: bool


def plan_evaluation(session: Session, trial_id: str, player_id: str, generation: int) -> Evaluation:
    """The evaluation of a player's generation; a second delivery finds the first one's."""
    trial = lock_trial(session, trial_id)
    player = player_of(session, trial_id, player_id)
    known = _find(session, trial, player_id, generation)
    if known is not None:
        return known
    target = find_target(session, trial)
    if target is None:
        raise Conflict(f"trial {trial.name!r} has no target to be evaluated against (budget: until)")
    versions = (_version_of(session, player, generation), playing_version(session, target))
    _hold(session, trial, player, target, generation, versions)
    planned = _find(session, trial, player_id, generation)
    assert planned is not None, "it was just made"
    return planned


def record_evaluation(
    session: Session, trial_id: str, player_id: str, generation: int, games: Sequence[PlayedGame]
) -> TargetMeasurement:
    """Record the games on the rating stream, once; every delivery gets the recorded result.

    Games that arrive after the evaluation was cancelled do not count.
    """
    trial = lock_trial(session, trial_id)
    evaluation = _find(session, trial, player_id, generation)
    if evaluation is None:
        raise NotFound(f"no evaluation of generation {generation} of player {player_id} was planned")
    if _is_open(session, evaluation):
        found = score_games(games, evaluation.tournament.spec["pairs"])
        _record(session, evaluation, found)
        measured = _measured(evaluation)
        append_events(session, [_event(evaluation, generation, measured)])
        return measured
    return _measured(evaluation)


def evaluation_tournament(session: Session, trial_id: str, player_id: str, generation: int) -> str:
    """The id of an evaluation's tournament."""
    tournament = find_tournament(session, _created_for(player_id, generation))
    if tournament is None or tournament.trial_id != trial_id:
        raise NotFound(f"no evaluation of generation {generation} of player {player_id} was planned")
    return tournament.id


def _created_for(player_id: str, generation: int) -> CreatedFor:
    return CreatedFor(purpose=TournamentPurpose.TARGET_EVALUATION, player_id=player_id, generation=generation)


def _find(session: Session, trial: Trial, player_id: str, generation: int) -> Evaluation | None:
    tournament = find_tournament(session, _created_for(player_id, generation))
    if tournament is None or tournament.trial_id != trial.id:
        return None
    entrants = session.scalars(
        select(ModelVersion)
        .join(TournamentEntrant, TournamentEntrant.version_id == ModelVersion.id)
        .where(TournamentEntrant.tournament_id == tournament.id)
        .order_by(TournamentEntrant.number)
    ).all()
    return Evaluation(
        trial=trial,
        tournament=tournament,
        pairing=session.get_one(Pairing, (tournament.id, ROUND, PAIR), populate_existing=True),
        contenders=tuple((session.get_one(Player, version.player_id), version) for version in entrants),
    )


def _is_open(session: Session, evaluation: Evaluation) -> bool:
    """Whether the evaluation waits for its games; locks its tournament."""
    tournament = lock_tournament(session, evaluation.tournament.id)
    session.refresh(evaluation.pairing)
    return tournament.status is TournamentStatus.RUNNING and evaluation.pairing.status is PairingStatus.PLANNED


def _version_of(session: Session, player: Player, generation: int) -> ModelVersion:
    """The version of the generation; before a fork's first generation, the version it started with."""
    version_id = session.scalar(
        select(Generation.version_id).where(Generation.player_id == player.id, Generation.number == generation)
    )
    return playing_version(session, player) if version_id is None else session.get_one(ModelVersion, version_id)


def _hold(
    session: Session,
    trial: Trial,
    player: Player,
    target: Player,
    generation: int,
    versions: tuple[ModelVersion, ModelVersion],
) -> None:
    pairs = spec_of(trial).evaluation.games_against_target // 2
    moment = now(session)
    tournament = Tournament(
        id=new_id(),
        project_id=trial.project_id,
        trial_id=trial.id,
        purpose=TournamentPurpose.TARGET_EVALUATION,
        player_id=player.id,
        generation=generation,
        game=trial.game,
        name=f"{player.name} after generation {generation} against {target.name}",
        format=TournamentFormat.GAUNTLET,
        status=TournamentStatus.RUNNING,
        seed=derived_seed(trial.seed, player.name, generation, "evaluation"),
        spec={"pairs": pairs, "sampled": True, "opening_plies": opening_plies(trial)},
        # the player's workflow plays it, so reconciliation must not start another one
        workflow_started_at=moment,
        started_at=moment,
    )
    session.add(tournament)
    session.flush()
    for number, (owner, version) in enumerate(zip((player, target), versions, strict=True)):
        label = f"{owner.name} v{version.number}"
        entrant = {"tournament_id": tournament.id, "number": number, "version_id": version.id, "label": label}
        session.execute(insert(TournamentEntrant).values(entrant))
    session.add(
        Pairing(
            tournament_id=tournament.id,
            round=ROUND,
            pair=PAIR,
            first=MAIN,
            second=TARGET,
            games=2 * pairs,
            seed=tournament.seed,
        )
    )
    session.flush()


def _record(session: Session, evaluation: Evaluation, found: list[Contest]) -> None:
    trial, tournament, pairing = evaluation.trial, evaluation.tournament, evaluation.pairing
    (_, first), (_, second) = evaluation.contenders
    commit = take_commit(session, trial, CommitKind.PAIRING)
    results = [contest.result for contest in found]
    moment = now(session)
    session.execute(
        update(Pairing)
        .where(Pairing.tournament_id == tournament.id, Pairing.round == ROUND, Pairing.pair == PAIR)
        .values(
            status=PairingStatus.PLAYED,
            games=len(found),
            wins=results.count(MatchResult.WIN),
            draws=results.count(MatchResult.DRAW),
            losses=results.count(MatchResult.LOSS),
            trial_id=trial.id,
            commit=commit,
            played_at=moment,
        )
    )
    session.refresh(pairing)
    occasion = {"tournament_id": tournament.id, "trial_id": trial.id, "round": ROUND, "pair": PAIR}
    session.execute(insert(Match), [match_row(contest, first, second, **occasion) for contest in found])
    _count(session, trial, commit, first, second, results_by_team(found))
    tournament.spec = with_openings_played(tournament.spec, longest_opening(found))
    tournament.status, tournament.finished_at = TournamentStatus.COMPLETED, moment


def _count(
    session: Session,
    trial: Trial,
    commit: int,
    first: ModelVersion,
    second: ModelVersion,
    totals: dict[tuple[int, int], Results],
) -> None:
    """Tallies and payoff of the rating stream. Games of one team have no opponent: only their matches are recorded."""
    if not totals:
        return
    tallies = [
        {
            "trial_id": trial.id,
            "commit": commit,
            "learner_version_id": first.id,
            "opponent_version_id": second.id,
            "seat": seat,
            "opponent_seat": other,
            "stream": Stream.RATING,
            **results.columns,
        }
        for (seat, other), results in totals.items()
    ]
    session.execute(insert(Tally), tallies)
    cells = {
        CellKey(
            stream=Stream.RATING,
            player_id=first.player_id,
            opponent_id=second.player_id,
            seat=seat,
            opponent_seat=other,
        ): results
        for (seat, other), results in totals.items()
    }
    update_payoff(session, trial, commit, cells)


def _measured(evaluation: Evaluation) -> TargetMeasurement:
    pairing = evaluation.pairing
    games = pairing.wins + pairing.draws + pairing.losses
    rate = (pairing.wins + pairing.draws / 2) / games if games else 0.0
    low, high = wilson(rate, games)
    until = spec_of(evaluation.trial).budget.until
    reached = until is not None and games > 0 and rate >= until.win_rate
    return TargetMeasurement(win_rate=rate, low=low, high=high, games=games, reached=reached)


def _event(evaluation: Evaluation, generation: int, measured: TargetMeasurement) -> NewEvent:
    (player, version), (target, _) = evaluation.contenders
    payload = EvaluationRecorded(
        player_id=player.id,
        player=player.name,
        generation=generation,
        version_id=version.id,
        target=target.name,
        tournament_id=evaluation.tournament.id,
        win_rate=measured.win_rate,
        low=measured.low,
        high=measured.high,
        games=measured.games,
        reached=measured.reached,
    )
    return NewEvent(trial_id=evaluation.trial.id, payload=payload)
