"""Audits rating and gating games: the counts of pairings and gates, and gates' verdicts, from the matches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.schemas.enums import GateStatus, MatchResult
from api.store.gates.lifecycle import sprt_of
from api.store.gates.panel import PANEL, members_of, plays_alone, recount
from api.store.gates.probing import PROBE, is_probing, probed_candidate
from api.store.tables import Gate, GateBatch, Match, Pairing, Tournament
from api.store.verify.report import Finding, FindingKind
from league.gates import MemberStatus, SprtStatus
from league.lifecycle import is_refused

_ENDS = {
    GateStatus.PASSED: SprtStatus.PASSED,
    GateStatus.FAILED: SprtStatus.FAILED,
    GateStatus.EXHAUSTED: SprtStatus.INCONCLUSIVE,
}
_SCORES = {MatchResult.WIN: 1.0, MatchResult.DRAW: 0.5, MatchResult.LOSS: 0.0}


def wrong_games(session: Session) -> Iterator[Finding]:
    """Pairings and gates that disagree with their games."""
    yield from _wrong_pairings(session)
    for gate in session.scalars(select(Gate).order_by(Gate.id)):
        yield from _wrong_gate(session, gate)


def _wrong_pairings(session: Session) -> Iterator[Finding]:
    results = session.execute(
        select(Match.tournament_id, Match.round, Match.pair, Match.result, func.count())
        .where(Match.tournament_id.is_not(None))
        .group_by(Match.tournament_id, Match.round, Match.pair, Match.result)
    )
    counted: Counter[tuple[str | None, int, int, MatchResult]] = Counter()
    for tournament_id, number, pair, result, count in results:
        counted[tournament_id, number, pair, result] += count
    pairings = session.execute(
        select(Pairing, Tournament.name).join(Tournament, Tournament.id == Pairing.tournament_id)
    )
    for pairing, name in pairings:
        key = (pairing.tournament_id, pairing.round, pairing.pair)
        found = (counted[*key, MatchResult.WIN], counted[*key, MatchResult.DRAW], counted[*key, MatchResult.LOSS])
        yield from _wrong_pairing(pairing, name, found)


def _wrong_pairing(pairing: Pairing, tournament: str, found: tuple[int, int, int]) -> Iterator[Finding]:
    subject = f"round {pairing.round}, pairing {pairing.pair} of tournament {tournament}"
    kept = (pairing.wins, pairing.draws, pairing.losses)
    if sum(found) != sum(kept):
        wrong = FindingKind.LOST if sum(found) < sum(kept) else FindingKind.DOUBLED
        yield Finding(wrong=wrong, subject=subject, detail=f"{sum(found)} games exist, {sum(kept)} were counted")
    elif found != kept:
        detail = f"wins, draws, losses are stored as {kept}, its games give {found}"
        yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)


def _wrong_gate(session: Session, gate: Gate) -> Iterator[Finding]:
    subject = f"gate {gate.id}"
    recorded = session.scalars(select(GateBatch).where(GateBatch.gate_id == gate.id).order_by(GateBatch.number)).all()
    if [batch.number for batch in recorded] != list(range(1, len(recorded) + 1)):
        yield Finding(wrong=FindingKind.LOST, subject=subject, detail="its batches have a gap")
    batches = recorded[: (gate.settings.get(PANEL) or {}).get("after_batch", len(recorded))]
    yield from _wrong_batches(session, batches, gate, subject)
    newest = list(batches[-1].pentanomial) if batches else [0, 0, 0, 0, 0]
    if list(gate.pentanomial) != newest or gate.pairs != sum(batch.pairs for batch in batches):
        detail = f"stored {gate.pairs} pairs {list(gate.pentanomial)}, its batches give {newest}"
        yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)
    for batch in batches:
        llr = sprt_of(gate).judge(batch.pentanomial).llr
        if not math.isclose(llr, batch.llr, rel_tol=1e-9, abs_tol=1e-9):
            detail = f"the ratio after batch {batch.number} is stored as {batch.llr!r}, recomputed as {llr!r}"
            yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)
    yield from _wrong_panel(session, gate, subject)
    yield from _wrong_verdict(session, gate, subject)


def _wrong_panel(session: Session, gate: Gate, subject: str) -> Iterator[Finding]:
    """Members of the gate's panel whose counts or verdicts are not those of their games."""
    for member, counts, verdict in recount(session, gate):
        kept = (member["counts"], MemberStatus(member["status"]))
        decided = kept[1] not in (MemberStatus.WAITING, MemberStatus.RUNNING)
        if counts != kept[0] or (decided and verdict.status is not kept[1]):
            detail = f"{member['name']} of its panel is stored as {kept}, its games give {(counts, verdict.status)}"
            yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)


def _wrong_batches(session: Session, batches: Sequence[GateBatch], gate: Gate, subject: str) -> Iterator[Finding]:
    """Recompute the counts of each batch from its games; not possible in games of more than two seats."""
    pairs: dict[tuple[int, int], list[float]] = {}
    played = [batch.number for batch in batches]
    games = select(Match.round, Match.pair, Match.result).where(Match.gate_id == gate.id, Match.round.in_(played))
    for number, pair, result in session.execute(games):
        pairs.setdefault((number, pair), []).append(_SCORES[result])
    whole = max((len(scores) for scores in pairs.values()), default=0)
    counts = [0, 0, 0, 0, 0]
    for batch in batches:
        mine = [scores for (number, _), scores in pairs.items() if number == batch.number]
        if len(mine) != batch.pairs or any(len(scores) < whole for scores in mine):
            detail = f"batch {batch.number} counted {batch.pairs} pairs of {whole}, games of {len(mine)} exist"
            wrong = FindingKind.DOUBLED if len(mine) > batch.pairs else FindingKind.LOST
            yield Finding(wrong=wrong, subject=subject, detail=detail)
            return
        for scores in mine:
            counts[round(4 * sum(scores) / len(scores))] += 1
        if whole <= 2 and counts != list(batch.pentanomial):
            detail = f"after batch {batch.number} {list(batch.pentanomial)} is stored, its games give {counts}"
            yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)


def _wrong_verdict(session: Session, gate: Gate, subject: str) -> Iterator[Finding]:
    if gate.status not in _ENDS or gate.champion_version_id is None:
        return
    found = sprt_of(gate).judge(gate.pentanomial).status
    if found is SprtStatus.PASSED and any(each["status"] == MemberStatus.WORSE for each in members_of(gate)):
        found = SprtStatus.FAILED
    if found is SprtStatus.PASSED and gate.settings.get(PROBE) is not None:
        if is_probing(gate) and is_refused(probed_candidate(session, gate)):
            found = SprtStatus.FAILED
        elif not is_probing(gate) and not plays_alone(session, gate):
            yield Finding(
                wrong=FindingKind.LOST, subject=subject, detail="it was decided without the probe it asks for"
            )
    if found is not _ENDS[gate.status]:
        detail = f"it ended as {gate.status}, its counts say {found}"
        yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)
