"""A gate with a panel: who beat the champion must not be worse than it against past holders and the mixture."""

from __future__ import annotations

from collections.abc import Mapping

from api.schemas.enums import AliasMove
from api.store.aliases.moves import AliasKey, Promotion, move_alias
from api.store.gates.lifecycle import CHAMPION
from api.store.tables import GateBatch, Match, Player
from api.store.verify.games import wrong_games
from league.types import DecisionKind
from orchestrator.contracts.play import GateBatch as Batch
from orchestrator.contracts.play import GateBrief
from tests.integration.league_store.driver import League, Store
from tests.integration.league_store.games import played, played_alone
from tests.integration.league_store.gates.test_gates import brief_of, champion, found, gates, opened

GOOD, BAD = 1.0, 0.0
Scores = Mapping[tuple[str, str], float]
"""How pairs of the first side against the second end, by the names of their players."""


def play_by_name(store: Store, league: League, brief: GateBrief, scores: Scores) -> GateBrief:
    """Play the gate to its end."""
    names = {player.id: player.name for player in store.rows(Player, Player.trial_id == league.trial)}
    while brief.request is not None:
        first, second = (names[each.player] for each in brief.request.contenders)
        outcome = played(brief.request, [scores[first, second]])
        brief = store("record_gate_batch", Batch(gate=brief.gate, batch=brief.next_batch, outcome=outcome))
    return brief


def held_by_two(store: Store, **panel: object) -> tuple[League, str]:
    """A league in which main-1 was champion before main-2, and main-3 challenges."""
    league = found(store, elo1=300, panel=panel)
    play_by_name(store, league, brief_of(store, opened(league).gate), {("main-2", "main-1"): GOOD})
    judgement = league.live("main")
    assert judgement.gate is not None
    return league, judgement.gate


def test_a_panel_of_nobody_passes_with_the_champion(store: Store) -> None:
    league = found(store, panel={})
    end = play_by_name(store, league, brief_of(store, opened(league).gate), {("main-2", "main-1"): GOOD})
    assert end.status == "passed" and gates(league)[-1].settings["panel"] == {"past_holders": 3, "mixture": True}


def test_a_panel_in_a_game_of_one_team_is_said_to_be_left_out(store: Store) -> None:
    league = found(store, panel={})
    brief = brief_of(store, opened(league).gate)
    while brief.request is not None:
        outcome = played_alone(brief.request, better=0)
        brief = store("record_gate_batch", Batch(gate=brief.gate, batch=brief.next_batch, outcome=outcome))
    assert brief.status == "passed"
    decision = league.decisions(DecisionKind.PROMOTION)[-1]
    assert decision.reason.endswith("game of one team, so its panel was not played")
    assert gates(league)[-1].status_reason == decision.reason and "one team" in decision.evidence["no_panel"]


def test_a_candidate_that_loses_to_a_past_holder_fails_with_the_member_named(store: Store) -> None:
    league, gate = held_by_two(store, mixture=False)
    before = champion(league)
    cycle = {("main-3", "main-2"): GOOD, ("main-3", "main-1"): BAD, ("main-2", "main-1"): GOOD}
    end = play_by_name(store, league, brief_of(store, gate), cycle)
    assert end.status == "failed" and champion(league) == before
    row = gates(league)[-1]
    assert "worse than the champion against main-1 of the panel" in (row.status_reason or "")
    assert row.llr >= row.upper_bound, "the champion itself was beaten"
    (member,) = row.settings["panel"]["members"]
    assert (member["name"], member["status"]) == ("main-1", "worse") and member["llr"] >= member["upper"]
    decision = league.decisions(DecisionKind.PROMOTION)[-1]
    assert decision.verdict == "keep" and decision.evidence["failed_against"] == "main-1"
    with store.sessions() as session:
        assert list(wrong_games(session)) == []


def test_a_candidate_that_is_no_worse_is_promoted(store: Store) -> None:
    league, gate = held_by_two(store, mixture=False)
    scores = {("main-3", "main-2"): GOOD, ("main-3", "main-1"): GOOD, ("main-2", "main-1"): GOOD}
    end = play_by_name(store, league, brief_of(store, gate), scores)
    (version,) = league.versions("main-3")
    assert end.status == "passed" and champion(league) == version.id
    assert "no worse than the champion against main-1" in league.decisions(DecisionKind.PROMOTION)[-1].reason
    with store.sessions() as session:
        assert list(wrong_games(session)) == []


def test_both_sides_meet_a_member_on_the_same_seeds(store: Store) -> None:
    league, gate = held_by_two(store, mixture=False)
    scores = {("main-3", "main-2"): GOOD, ("main-3", "main-1"): GOOD, ("main-2", "main-1"): GOOD}
    play_by_name(store, league, brief_of(store, gate), scores)
    first = gates(league)[-1].settings["panel"]["after_batch"] + 1
    rows = store.rows(Match, Match.gate_id == gate, Match.round >= first)
    rounds = {
        number: {(row.pair, row.seat): row.seed for row in rows if row.round == number} for number in (first, first + 1)
    }
    assert rounds[first] == rounds[first + 1] and len(rounds[first]) == 64


def test_the_mixture_is_one_member_whose_parts_share_each_round(store: Store) -> None:
    league = found(store, elo1=300, panel={"past_holders": 0})
    play_by_name(store, league, brief_of(store, opened(league).gate), {("main-2", "main-1"): BAD})
    play_by_name(store, league, brief_of(store, league.live("main").gate), {("main-3", "main-1"): BAD})
    gate = league.live("main").gate
    scores = {("main-4", "main-1"): GOOD}
    scores |= {(first, second): GOOD for first in ("main-4", "main-1") for second in ("main-2", "main-3")}
    end = play_by_name(store, league, brief_of(store, gate), scores)
    (member,) = gates(league)[-1].settings["panel"]["members"]
    assert end.status == "passed" and member["name"] == "the mixture of main-2, main-3"
    assert [part["pairs"] for part in member["opponents"]] == [16, 16], "never played each other: even"
    sizes = {row.pairs for row in store.rows(GateBatch, GateBatch.gate_id == gate)}
    assert sizes == {32, 16}


def test_a_repeated_batch_of_the_panel_changes_nothing(store: Store) -> None:
    league, gate = held_by_two(store, mixture=False)
    names = {player.id: player.name for player in store.rows(Player, Player.trial_id == league.trial)}
    brief = brief_of(store, gate)
    while brief.request is not None and names[brief.request.contenders[1].player] == "main-2":
        brief = store("record_gate_batch", Batch(gate=gate, batch=brief.next_batch, outcome=played(brief.request)))
    assert brief.request is not None
    batch = Batch(gate=gate, batch=brief.next_batch, outcome=played(brief.request))
    assert store("record_gate_batch", batch) == store("record_gate_batch", batch)


def test_a_moved_alias_makes_the_panel_void(store: Store) -> None:
    league, gate = held_by_two(store, mixture=False)
    (first,) = league.versions("main-1")
    names = {player.id: player.name for player in store.rows(Player, Player.trial_id == league.trial)}
    brief = brief_of(store, gate)
    while brief.request is not None and names[brief.request.contenders[1].player] == "main-2":
        brief = store("record_gate_batch", Batch(gate=gate, batch=brief.next_batch, outcome=played(brief.request)))
    assert brief.request is not None
    with store.sessions.begin() as session:
        key = AliasKey(project_id=league.row.project_id, game=league.row.game, name=CHAMPION)
        move_alias(session, key, first.id, Promotion(reason="a test", actor="test", move=AliasMove.SET))
    end = store("record_gate_batch", Batch(gate=gate, batch=brief.next_batch, outcome=played(brief.request)))
    assert end.status == "invalid"
    again = gates(league)[-1]
    assert again.settings["panel"] == {"past_holders": 3, "mixture": False}, "the new gate has a panel of its own"
