"""Moves an alias to the winner of a tournament if its lead over every other entrant is significant.

See docs/decisions/tournaments.md.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from api.schemas.enums import AliasMove
from api.schemas.events import TournamentJudged
from api.store.aliases.moves import AliasKey, Promotion, lock_alias, move_alias
from api.store.core.decisions import Subject, record_decision
from api.store.core.events import NewEvent
from api.store.tables import Alias, ModelVersion, Tournament
from api.store.tournaments.results import entrants_of, pairings_of, results_of, spec_of_tournament
from league.ratings import bradley_terry
from league.tournaments.adaptive import tallies_of
from league.tournaments.lead import Lead, lead_of
from league.types import Decision as Verdict
from league.types import DecisionKind


def promote_leader(session: Session, tournament: Tournament) -> list[NewEvent]:
    """Move the alias that the tournament names, or record why it stays. The tournament must be locked."""
    spec = spec_of_tournament(tournament)
    if spec.promote is None:
        return []
    field = entrants_of(session, tournament.id)
    results = results_of(pairings_of(session, tournament.id), spec.games)
    ratings = bradley_terry([str(each.number) for each in field], tallies_of(results))
    lead = lead_of(ratings, 1 - spec.promote.error)
    labels = {str(each.number): each.label for each in field}
    leader = session.get_one(ModelVersion, field[int(lead.leader)].version_id)
    key = AliasKey(project_id=tournament.project_id, game=tournament.game, name=spec.promote.alias)
    # the holder may not change until this is decided
    lock_alias(session, key)
    holder = session.get(Alias, (key.project_id, key.game, key.name), populate_existing=True)
    withdrawn = field[int(lead.leader)].withdrawn
    verdict = _verdict(lead, labels, leader, None if holder is None else holder.version_id, key.name)
    if withdrawn is not None:
        reason = f"{labels[lead.leader]} leads the field and was withdrawn: {withdrawn}"
        verdict = replace(verdict, verdict="kept", reason=reason)
    subject = Subject(trial_id=leader.trial_id, player_id=leader.player_id, version_id=leader.id)
    evidence = {**verdict.evidence, "tournament_id": tournament.id}
    verdict = Verdict(kind=verdict.kind, verdict=verdict.verdict, reason=verdict.reason, evidence=evidence)
    record_decision(session, subject, verdict)
    if verdict.verdict == "promoted":
        move_alias(
            session,
            key,
            leader.id,
            Promotion(
                reason=verdict.reason,
                actor=f"tournament {tournament.id}",
                move=AliasMove.PROMOTED,
                tournament_id=tournament.id,
                evidence=verdict.evidence,
            ),
        )
    payload = TournamentJudged(
        tournament_id=tournament.id,
        name=tournament.name,
        alias=key.name,
        verdict=verdict.verdict,
        reason=verdict.reason,
    )
    return [NewEvent(trial_id=tournament.trial_id, payload=payload)]


def _verdict(lead: Lead, labels: dict[str, str], leader: ModelVersion, holder: str | None, alias: str) -> Verdict:
    name, rival = labels[lead.leader], labels[lead.rival]
    interval = f"{lead.elo:+.0f} Elo over {rival}, {lead.level:.0%} interval {lead.low:+.0f} to {lead.high:+.0f}"
    if leader.uri is None:
        word, reason = "kept", f"{name} leads the field and is a bot: a bot holds no alias"
    elif leader.id == holder:
        word, reason = "kept", f"{name} leads the field and is {alias} already ({interval})"
    elif not lead.sure:
        word, reason = "kept", f"{name} is first, but does not lead the field by more than chance: {interval}"
    else:
        word, reason = "promoted", f"{name} leads the whole field: {interval}"
    evidence = {"leader": leader.id, "elo": lead.elo, "low": lead.low, "high": lead.high, "level": lead.level}
    return Verdict(kind=DecisionKind.PROMOTION, verdict=word, reason=reason, evidence=evidence)
