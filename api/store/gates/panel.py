"""The panel of a gate: its members, the next games to play, and the verdict of its test.

Its state is kept in the gate's settings, and its games are batches of the gate. Each part of a member's games is two
batches: one of the candidate, then one of the champion with the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from api.schemas.enums import MatchResult
from api.store.aliases.moves import AliasKey, alias_history
from api.store.checkpoints.damaged import damaged_sha256
from api.store.matches.scoring import Contest, match_row
from api.store.payoffs.cells import load_payoff
from api.store.players.roster import players_of
from api.store.players.versions import version_name
from api.store.tables import Gate, GateBatch, Match, ModelVersion, Player, Trial
from api.store.trials.spec import spec_of
from league.gates import MemberStatus, MemberVerdict, Sprt, compare_games, judge_member, member_test, share_pairs
from league.lifecycle import PanelMember
from league.matchmaking.psro import meta_game
from league.ratings import nash_average
from league.seeds import derived_seed
from league.types import PlayerId, Role

PANEL = "panel"
MIXTURE = "the mixture"
LARGEST_MIXTURE = 200
"""The newest snapshots that the mixture is of: a decision waits for its equilibrium."""
CANDIDATE, CHAMPION = 0, 1
_SCORES = {MatchResult.WIN: 1.0, MatchResult.DRAW: 0.5, MatchResult.LOSS: 0.0}


@dataclass(frozen=True, kw_only=True)
class PanelBatch:
    """The next games of a panel."""

    member: int
    side: int
    """Whether the candidate or the champion plays them."""
    version_id: str
    pairs: int
    seed: int
    ends_round: bool
    """Whether every part of the member has been played as often as its weight says when these are."""


def members_of(gate: Gate) -> list[dict[str, Any]]:
    """The members as they are stored; none while the champion is not beaten, and without a panel."""
    return list((gate.settings.get(PANEL) or {}).get("members") or [])


def panel_test(gate: Gate, members: int) -> Sprt:
    """The test of each member, at the alpha of the trial file over all of them."""
    whole = Sprt(
        elo0=gate.elo0,
        elo1=gate.elo1,
        alpha=gate.settings["alpha"],
        beta=gate.beta,
        max_pairs=gate.max_pairs,
        model=gate.model,
    )
    return member_test(whole, members)


def open_panel(session: Session, gate: Gate, key: AliasKey) -> bool:
    """Fix the members of the gate's panel now that the champion is beaten; False if there is nobody to meet."""
    rule = gate.settings.get(PANEL)
    if rule is None or plays_alone(session, gate):
        return False
    found = [*_past_holders(session, gate, key, rule["past_holders"])]
    if rule["mixture"]:
        found += _mixture(session, gate)
    if not found:
        return False
    lower, upper = panel_test(gate, len(found)).bounds
    zero = {"counts": [0, 0, 0, 0, 0], "batches": 0, "llr": 0.0, "lower": lower, "upper": upper}
    members = [{**each, **zero, "status": MemberStatus.WAITING.value} for each in found]
    gate.settings = {**gate.settings, PANEL: {**rule, "after_batch": _batches(session, gate), "members": members}}
    session.flush()
    return True


def next_batch(gate: Gate) -> PanelBatch | None:
    """What the panel plays next; None when every member is decided, or one found the candidate worse."""
    members = members_of(gate)
    for number, member in enumerate(members):
        if member["status"] == MemberStatus.WORSE:
            return None
        if member["status"] in (MemberStatus.WAITING, MemberStatus.RUNNING):
            return _batch_of(gate, number, member)
    return None


def count_batch(session: Session, gate: Gate, number: int, plan: PanelBatch, found: list[Contest]) -> None:
    """Record a batch of the panel's games and, when the champion has played them too, judge the member."""
    members = members_of(gate)
    member = dict(members[plan.member])
    member["batches"] += 1
    if plan.side == CHAMPION:
        scores = {(contest.pair, contest.seat): contest.score for contest in found}
        more = compare_games(scores_of(session, gate, number - 1), scores)
        member["counts"] = [before + new for before, new in zip(member["counts"], more, strict=True)]
    verdict = judge_member(panel_test(gate, len(members)), member["counts"])
    # between two rounds the sample has not the mixture's proportions: nothing is decided on it
    status = verdict.status if plan.side == CHAMPION and plan.ends_round else MemberStatus.RUNNING
    members[plan.member] = {**member, "llr": verdict.llr, "status": status.value}
    gate.settings = {**gate.settings, PANEL: {**gate.settings[PANEL], "members": members}}
    session.flush()
    batch = {"pairs": plan.pairs, "pentanomial": member["counts"], "llr": verdict.llr}
    session.execute(insert(GateBatch).values(gate_id=gate.id, number=number, **batch))
    first = session.get_one(ModelVersion, _side(gate, plan.side))
    second = session.get_one(ModelVersion, plan.version_id)
    occasion = {"gate_id": gate.id, "trial_id": gate.trial_id, "round": number}
    rows = [match_row(contest, first, second, **occasion, pair=contest.pair) for contest in found]
    session.execute(insert(Match), rows)


def contenders(session: Session, gate: Gate, plan: PanelBatch) -> tuple[tuple[Player, ModelVersion], ...]:
    """The two sides of the panel's next games."""
    versions = [session.get_one(ModelVersion, side) for side in (_side(gate, plan.side), plan.version_id)]
    return tuple((session.get_one(Player, version.player_id), version) for version in versions)


def panel_verdicts(gate: Gate) -> list[PanelMember]:
    """What the panel found, for the decision."""
    return [
        PanelMember(
            name=member["name"],
            counts=tuple(member["counts"]),
            verdict=MemberVerdict(
                status=MemberStatus(member["status"]), llr=member["llr"], lower=member["lower"], upper=member["upper"]
            ),
        )
        for member in members_of(gate)
    ]


def scores_of(session: Session, gate: Gate, batch: int) -> dict[tuple[int, int], float]:
    """The first side's score of each game of a recorded batch, by pair and seat."""
    games = select(Match.pair, Match.seat, Match.result).where(Match.gate_id == gate.id, Match.round == batch)
    return {(pair, seat): _SCORES[result] for pair, seat, result in session.execute(games)}


def recount(session: Session, gate: Gate) -> Iterator[tuple[Mapping[str, Any], list[int], MemberVerdict]]:
    """Each member as it is stored, with the counts and the verdict that its games give."""
    members = members_of(gate)
    number = (gate.settings.get(PANEL) or {}).get("after_batch", 0)
    test = panel_test(gate, len(members)) if members else None
    for member in members:
        counts = [0, 0, 0, 0, 0]
        for first in range(number + 1, number + member["batches"], 2):
            more = compare_games(scores_of(session, gate, first), scores_of(session, gate, first + 1))
            counts = [before + new for before, new in zip(counts, more, strict=True)]
        number += member["batches"]
        assert test is not None
        yield member, counts, judge_member(test, counts)


def _batch_of(gate: Gate, number: int, member: Mapping[str, Any]) -> PanelBatch:
    opponents = member["opponents"]
    place, side = divmod(member["batches"] % (2 * len(opponents)), 2)
    opponent = opponents[place]
    return PanelBatch(
        member=number,
        side=side,
        version_id=opponent["version"],
        pairs=opponent["pairs"],
        seed=derived_seed(gate.seed, PANEL, number, member["batches"] // 2),
        ends_round=place + 1 == len(opponents),
    )


def _side(gate: Gate, side: int) -> str:
    assert gate.champion_version_id is not None, "a panel comes after a champion was beaten"
    return gate.candidate_version_id if side == CANDIDATE else gate.champion_version_id


def _past_holders(session: Session, gate: Gate, key: AliasKey, most: int) -> list[dict[str, Any]]:
    """The last holders of the alias before the champion, the newest first, each once."""
    apart = {gate.candidate_version_id, gate.champion_version_id}
    held = (event.to_version_id for event in sorted(alias_history(session, key), key=lambda each: -each.revision))
    chosen = [version for version in dict.fromkeys(held) if version not in apart and _is_usable(session, version)]
    pairs = gate.settings["batch_pairs"]
    return [
        {"name": version_name(session, version), "opponents": [{"version": version, "pairs": pairs}]}
        for version in chosen[:most]
    ]


def _is_usable(session: Session, version_id: str) -> bool:
    version = session.get_one(ModelVersion, version_id)
    return version.sha256 is None or version.sha256 not in damaged_sha256(session, version.trial_id)


def _mixture(session: Session, gate: Gate) -> list[dict[str, Any]]:
    """The Nash mixture of the trial's snapshots by their payoff, as one member; none for fewer than two of them."""
    trial = session.get_one(Trial, gate.trial_id)
    versions = _snapshots(session, gate)
    players = [PlayerId(player) for player in versions][-LARGEST_MIXTURE:]
    if len(players) < 2:
        return []
    payoff = load_payoff(session, trial, min_games=spec_of(trial).league.payoff.min_games)
    game, _ = meta_game(payoff, players)
    weights, _ = nash_average(game)
    by_version = {versions[player]: float(weight) for player, weight in zip(players, weights, strict=True)}
    shares = share_pairs(by_version, gate.settings["batch_pairs"])
    opponents = [{"version": version, "pairs": pairs} for version, pairs in shares.items()]
    names = ", ".join(version_name(session, version) for version in shares)
    return [{"name": f"{MIXTURE} of {names}", "opponents": opponents}]


def _snapshots(session: Session, gate: Gate) -> dict[str, str]:
    """The newest usable version of each snapshot of the trial, apart from the gate's own sides, by player."""
    damaged = damaged_sha256(session, gate.trial_id)
    frozen = [player.id for player in players_of(session, gate.trial_id) if player.role is Role.HISTORICAL]
    rows: Sequence[ModelVersion] = session.scalars(
        select(ModelVersion)
        .where(ModelVersion.player_id.in_(frozen), ModelVersion.sha256.not_in(damaged or [""]))
        .order_by(ModelVersion.player_id, ModelVersion.number)
    ).all()
    apart = {gate.candidate_version_id, gate.champion_version_id}
    return {row.player_id: row.id for row in rows if row.id not in apart}


def plays_alone(session: Session, gate: Gate) -> bool:
    """Whether the game has one team: then each side played its seeds by itself, and seat 1 never occurs."""
    return session.scalars(select(func.max(Match.seat)).where(Match.gate_id == gate.id)).one() == 0


def _batches(session: Session, gate: Gate) -> int:
    return session.scalars(select(func.count()).where(GateBatch.gate_id == gate.id)).one()
