"""Matches of teams: an entrant takes all seats of its team, pairs swap teams, results are the order of teams."""

import pytest

from api.store.matches.scoring import pentanomial, results_by_team, score_games
from league.types import Earned, VersionId
from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.activities.playing import games_of
from workers.matches.play import play_match
from workers.matches.result import MatchResult
from workers.matches.task import BadMatch, Entrant, MatchTask


def relay(*teams: int) -> Component:
    """The team whose actions add up to most wins 1; see tests.unit.training.samples."""
    return Component(id="tests.unit.training.samples:Relay", options={"teams": list(teams)})


def match(store: ArtifactStore, game: Component, *bots: str, pairs: int = 3) -> MatchResult:
    entrants = tuple(Entrant(id=VersionId(f"{number} {bot}"), bot=bot) for number, bot in enumerate(bots))
    return play_match(MatchTask(game=game, entrants=entrants, pairs=pairs, seed=1), store=store)


def test_two_against_two_swap_teams_and_are_scored_by_team(store: ArtifactStore) -> None:
    result = match(store, relay(0, 1, 0, 1), "always-2", "always-1")
    assert [game.seating for game in result.games[:2]] == [(0, 1, 0, 1), (1, 0, 1, 0)]
    assert result.pentanomial == (0, 0, 0, 0, 3)
    assert [(t.seat, t.wins, t.draws, t.losses) for t in result.tallies()] == [(0, 3, 0, 0), (1, 3, 0, 0)]
    assert {t.earned for t in result.tallies()} == {Earned(3.0, 0.0)}, (
        "both seats' returns, three quarters and a quarter"
    )
    assert (result.mean_score(), result.mean_return(0)) == (1.0, 1.0)


def test_the_store_scores_the_same_games_by_team(store: ArtifactStore) -> None:
    result = match(store, relay(0, 1, 1, 1), "always-2", "always-1")
    games = games_of(result)
    assert games[0].teams == [0, 1, 1, 1]
    contests = score_games(games, 3)
    # alone, 2 loses to 1 + 1 + 1; as three, 6 beats 1: every pair is 1 - 1
    assert [(contest.seat, contest.score) for contest in contests[:2]] == [(0, 0.0), (1, 1.0)]
    assert pentanomial(contests) == result.pentanomial == (0, 0, 3, 0, 0)
    by_team = results_by_team(contests)
    assert {teams: (r.wins, r.draws, r.losses) for teams, r in by_team.items()} == {
        (0, 1): (0, 0, 3),
        (1, 0): (3, 0, 0),
    }


def test_three_teams_rotate_and_meet_pairwise(store: ArtifactStore) -> None:
    game = relay(0, 0, 1, 1, 2, 2)
    two = match(store, game, "always-2", "always-1")
    assert [g.seating for g in two.games[:3]] == [(0, 0, 1, 1, 1, 1), (1, 1, 0, 0, 1, 1), (1, 1, 1, 1, 0, 0)]
    assert two.pentanomial is None
    assert [(t.seat, t.wins) for t in two.tallies()] == [(0, 6), (1, 6), (2, 6)]
    three = match(store, game, "always-2", "always-1", "always-0")
    assert [g.seating for g in three.games[:2]] == [(0, 0, 1, 1, 2, 2), (1, 1, 2, 2, 0, 0)]
    with pytest.raises(BadMatch, match="a match takes 2 or 3 entrants, not 4"):
        match(store, game, "always-2", "always-1", "always-0", "random")


def test_one_team_plays_alone_and_compares_returns(store: ArtifactStore) -> None:
    result = match(store, relay(0, 0), "always-2", "always-1")
    assert [game.seating for game in result.games[:2]] == [(0, 0), (1, 1)]
    assert result.tallies() == ()
    (first, *_) = score_games(games_of(result), 3)
    assert (first.score, first.results) == (0.5, {}), "whatever the team plays, it is the best of one"
