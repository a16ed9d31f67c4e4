"""Mates: other players in the learner's team, counted by line-up and for nobody alone."""

import numpy as np
import pytest

from orchestrator.contracts.generations import GenerationTask, PlannedOpponent
from tests.unit.training.generation_task import TASK
from tests.unit.training.samples import Relay
from workers.bots.names import make_bot
from workers.crews.errors import BadTask
from workers.crews.results import lineup_tallies
from workers.crews.rollout_context import check_mates
from workers.crews.task import check_task
from workers.crews.training_context import expected_rows
from workers.games.builtin.tic_tac_toe import TicTacToe
from workers.inference.policy import Policy
from workers.models.gru import GruNet
from workers.models.mlp import Mlp
from workers.rollout.sampler import Sampler
from workers.rollout.seating import LEARNER, MATE, seat
from workers.rollout.tally import Counts

TEAMS = (0, 1, 0, 1)


def test_shares_of_mates_are_spread_evenly_over_opponents_teams_and_seats() -> None:
    seating = seat(tables=2000, teams=TEAMS, shares=[0.5, 0.5], rng=np.random.default_rng(0), mates=[0.5, 0.3, 0.2])
    assert seating.mates is not None
    own = seating.mates == LEARNER
    for part in (slice(0, 1000), slice(1000, 2000), slice(0, 2000, 2), slice(1, 2000, 2)):
        for number, share in ((LEARNER, 0.5), (0, 0.3), (1, 0.2)):
            assert np.mean(seating.mates[part] == number) == pytest.approx(share, abs=0.01)
    assert not (seating.owner[own] == MATE).any()
    mixed = seating.owner[~own]
    team = np.arange(2000)[~own] % 2
    for at, of in enumerate(TEAMS):
        mine = mixed[team == of, at]
        assert set(mine) == {LEARNER, MATE} and np.mean(mine == LEARNER) == pytest.approx(0.5, abs=0.02)
        assert set(mixed[team != of, at]) == {LEARNER, 0}, "self-play, or the opponent"


def test_a_team_of_one_seat_has_no_mate() -> None:
    seating = seat(tables=100, teams=(0, 1, 1, 1), shares=[0.0, 1.0], rng=np.random.default_rng(0), mates=[0.0, 1.0])
    assert seating.mates is not None
    assert (seating.mates[::2] == LEARNER).all() and (seating.mates[1::2] == 0).all()
    assert ((seating.owner[1::2] == LEARNER).sum(1) == 1).all(), "one seat of three"
    assert ((seating.owner[1::2] == MATE).sum(1) == 2).all()


def play(game: Relay, shares: list[float], mates: list[float], learner: Policy | None = None) -> Counts:
    """The learner plays 1, its mates 2 and 0, its opponents 1."""
    rng = np.random.default_rng(0)
    game.reset(np.zeros(game.tables, np.uint64))
    seating = seat(tables=game.tables, teams=game.spec.teams, shares=shares, rng=rng, mates=mates)
    model = Mlp(observation_shape=(1,), actions=3)
    for parameter in model.parameters():
        parameter.data.zero_()
    model.heads.bias.data[1] = 50.0
    sampler = Sampler(
        game=game,
        seating=seating,
        learner=learner or Policy(model),
        opponents={0: make_bot("always-1", game.spec)},
        mates={0: make_bot("always-2", game.spec), 1: make_bot("always-0", game.spec)},
        steps=5,
        rng=rng,
    )
    batch = sampler.collect()
    assert len(batch) == 5 * (seating.owner == LEARNER).sum()
    return sampler.board.counts()


def test_mixed_line_ups_are_counted_for_themselves_alone() -> None:
    counts = play(Relay(tables=40), [0.0, 1.0], [0.5, 0.25, 0.25])
    pure = counts.outcomes.sum()
    assert counts.outcomes[..., 1].sum() == pure, "ones against ones are draws, and no win of a mate is among them"
    by_mate = {mate: np.zeros(3, np.int64) for mate in (0, 1)}
    for mixed in counts.mixed:
        assert sorted(mixed.lineup.players)[0] == LEARNER and mixed.lineup.opponent == 0
        by_mate[max(mixed.lineup.players)] += mixed.outcomes
        assert mixed.earned[0] == mixed.outcomes[0], "the winning team gets 1"
    assert by_mate[0][1:].tolist() == [0, 0] and by_mate[0][0] > 0, "1 + 2 beats 1 + 1"
    assert by_mate[1][:2].tolist() == [0, 0] and by_mate[1][2] > 0, "1 + 0 loses to 1 + 1"
    assert pure + by_mate[0].sum() + by_mate[1].sum() == counts.games == 40 * 5
    assert {mixed.lineup.players for mixed in counts.mixed} == {(-1, 0), (0, -1), (-1, 1), (1, -1)}, "both seats"
    assert counts.teams_played == pure


def test_in_self_play_a_mixed_team_meets_the_learners_own() -> None:
    counts = play(Relay(tables=40), [1.0], [0.5, 0.5])
    assert counts.outcomes.sum() == 0
    assert all(mixed.lineup.opponent == LEARNER and mixed.outcomes[1:] == (0, 0) for mixed in counts.mixed)
    assert sum(mixed.outcomes[0] for mixed in counts.mixed) > 0


def test_in_a_game_of_one_team_each_line_up_has_its_returns() -> None:
    counts = play(Relay(tables=40, teams=(0, 0)), [1.0], [0.5, 0.5])
    assert counts.single_team_returns is not None
    assert all(
        mixed.returns is not None and mixed.returns.mean == 1.0 and mixed.other is None for mixed in counts.mixed
    )
    games = sum(mixed.returns.games for mixed in counts.mixed if mixed.returns is not None)
    assert games + counts.single_team_returns.games == counts.games


def test_a_recurrent_learner_and_its_mates_keep_their_memories_apart() -> None:
    game = Relay(tables=8)
    policy = Policy(GruNet(observation_shape=(1,), actions=3, hidden=8, state=8))
    assert play(game, [0.0, 1.0], [0.5, 0.5], learner=policy).games == 40


def with_mates(**more: object) -> GenerationTask:
    mates = (
        PlannedOpponent(player="a", version="va", probability=0.25, bot="random"),
        PlannedOpponent(player="b", version="vb", probability=0.25, bot="random"),
    )
    others = (PlannedOpponent(player="o", version="vo", probability=1.0, bot="random"),)
    values = {"game": TASK.game, "model": TASK.model, "algorithm": TASK.algorithm, "steps": 10, "seed": 1, "tables": 40}
    return GenerationTask(**{**values, "version": "v", "mates": mates, "opponents": others, **more})  # type: ignore[arg-type]


def test_tallies_name_the_versions_of_a_line_up() -> None:
    counts = play(Relay(tables=40), [0.0, 1.0], [0.5, 0.25, 0.25])
    tallies = lineup_tallies(with_mates(), [counts, counts])
    assert {tally.lineup for tally in tallies} == {("v", "va"), ("va", "v"), ("v", "vb"), ("vb", "v")}
    assert {(tally.opponent, tally.seat, tally.opponent_seat) for tally in tallies} == {("vo", 0, 1), ("vo", 1, 0)}
    assert sum(tally.games for tally in tallies) == 2 * sum(sum(mixed.outcomes) for mixed in counts.mixed)


def test_the_expected_batch_leaves_out_the_seats_of_mates() -> None:
    game = Relay(tables=40)
    seating = seat(
        tables=40, teams=game.spec.teams, shares=[0.0, 1.0], rng=np.random.default_rng(0), mates=[0.5, 0.25, 0.25]
    )
    assert expected_rows(with_mates(), game.spec, 1) == (seating.owner == LEARNER).sum() == 60


def test_mates_need_room_and_shares() -> None:
    with pytest.raises(BadTask, match="each seat of tic_tac_toe is a team of its own"):
        check_mates(with_mates(), TicTacToe(tables=1).spec)
    with pytest.raises(BadTask, match="sum to at most 1"):
        check_task(with_mates(mates=(PlannedOpponent(player="a", version="va", probability=1.5, bot="random"),)))
