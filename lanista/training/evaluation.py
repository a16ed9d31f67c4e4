"""Games of a run's players: the learning curve against random play, and the field of the trial file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from lanista.training.memory_league import LeaguePlayer, MemoryLeague, Version
from league.payoff import wilson
from league.seeds import derived_seed
from league.types import Earned, PlayerId, Role, Stream, Tally, VersionId
from orchestrator.catalog import game_opening_plies
from orchestrator.contracts.play import team_results
from orchestrator.league_rules import WHOLE_PAYOFF
from orchestrator.storage.artifacts import ArtifactStore
from workers.games.names import make_game
from workers.inference.cache import PolicyCache
from workers.matches.play import play_match
from workers.matches.result import GameRecord, MatchResult
from workers.matches.task import Entrant, MatchTask, Randomness

OnPairing = Callable[[str, str, int], None]
"""Called before games are played: the player, its opponent (itself where it plays alone) and their number."""

RANDOM = "random"
NEWEST_SNAPSHOTS = 6
FIRST, SECOND = 0, 1


@dataclass(frozen=True, kw_only=True)
class EvaluationResult:
    """A player's games against one opponent; in games of one team it plays alone."""

    player: str
    opponent: str | None
    games: int
    win_rate: float | None
    """Draws count half; None in games of one team."""
    low: float | None
    high: float | None
    """The 95 % interval."""
    mean_return: float


class Evaluator:
    """Plays games of the league's newest versions."""

    def __init__(self, league: MemoryLeague, store: ArtifactStore) -> None:
        self._league, self._store = league, store
        self._game = league.spec.game.component
        self.on_pairing: OnPairing = lambda player, opponent, games: None
        self._policies = PolicyCache(store, make_game(self._game.id, 1, **self._game.options).spec)

    @property
    def has_opponents(self) -> bool:
        """Whether the game has more than one team."""
        return self._policies.spec.team_count > 1

    def against_random(self, player: LeaguePlayer, games: int) -> EvaluationResult:
        """A point of the learning curve: games against random moves, or alone in a game of one team."""
        seed = derived_seed(self._league.spec.seed, player.name, player.generation, "curve")
        random = Entrant(id=VersionId(RANDOM), bot=RANDOM) if self.has_opponents else None
        return self._result(player, RANDOM, self._play(player, random, games, seed))

    def field(self, player: LeaguePlayer, *, counted: bool) -> list[EvaluationResult]:
        """The player's newest version against random play, the trial's bots and the newest snapshots.

        In a game of one team it plays alone. `counted` games are part of the league's payoff.
        """
        evaluation = self._league.spec.evaluation
        if not self.has_opponents:
            return [self._measured(player, None, evaluation.games, counted=counted)]
        opponents = self._opponents(player)
        strangers = 0 if any(each.bot == RANDOM for each in opponents) else 1
        games = evaluation.games_per_pairing(len(opponents) + strangers)
        results = [self._measured(player, opponent, games, counted=counted) for opponent in opponents]
        return [*results, self.against_random(player, games)] if strangers else results

    def against_target(self, player: LeaguePlayer, target: LeaguePlayer) -> EvaluationResult:
        """The player against the opponent of `budget.until`."""
        return self._measured(player, target, self._league.spec.evaluation.games_against_target, counted=True)

    def play_meta_game(self) -> None:
        """With a matchmaker that reads the payoff of every pair, play the pool's pairs that were not played yet."""
        league = self._league.spec.league
        if league.preset not in WHOLE_PAYOFF:
            return
        pairs = [
            pair
            for pair in combinations(self._pool(), 2)
            if self._league.payoff.games(Stream.RATING, pair[0].id, pair[1].id) < max(1, league.payoff.min_games)
        ]
        enough = (league.payoff.min_games + 1) // 2 * 2
        for first, second in pairs:
            games = self._league.spec.evaluation.games_per_pairing(len(pairs), enough)
            self._measured(first, second, games, counted=True)

    def _pool(self) -> list[LeaguePlayer]:
        """The bots and the snapshots, each policy once."""
        members = [each for each in self._league.players.values() if not each.role.learns and not each.rating_only]
        found: dict[str, LeaguePlayer] = {}
        for member in sorted(members, key=lambda each: each.role is not Role.BOT):
            checkpoint = member.version.checkpoint
            found.setdefault(f"bot:{member.bot}" if checkpoint is None else checkpoint.sha256, member)
        return list(found.values())

    def _opponents(self, player: LeaguePlayer) -> list[LeaguePlayer]:
        everyone = list(self._league.players.values())
        bots = [each for each in everyone if each.role is Role.BOT]
        snapshots = [each for each in everyone if each.role is Role.HISTORICAL][-NEWEST_SNAPSHOTS:]
        return [each for each in (*bots, *snapshots) if each.version.checkpoint != player.newest.checkpoint]

    def _measured(
        self, player: LeaguePlayer, opponent: LeaguePlayer | None, games: int, *, counted: bool
    ) -> EvaluationResult:
        """Play the games; they count on the rating stream where that is asked for."""
        name = "alone" if opponent is None else opponent.name
        self.on_pairing(player.name, name, games)
        seed = derived_seed(self._league.spec.seed, player.name, player.generation, "evaluation", name)
        played = self._play(player, None if opponent is None else _entrant(opponent, opponent.version), games, seed)
        if opponent is not None and counted:
            tallies = [(opponent.id, tally) for tally in _tallies(played.games, player, opponent.id)]
            self._league.payoff.count(Stream.RATING, player.id, tallies)
        return self._result(player, name, played)

    def _play(self, player: LeaguePlayer, opponent: Entrant | None, games: int, seed: int) -> MatchResult:
        """Play about this many games: each seed once for each way of seating."""
        alone = opponent is None or not self.has_opponents
        first = _entrant(player, player.newest)
        entrants = (first,) if alone or opponent is None else (first, opponent)
        task = MatchTask(
            game=self._game,
            entrants=entrants,
            pairs=max(1, games if alone else games // 2),
            seed=seed,
            randomness=Randomness(opening_plies=game_opening_plies(self._game.id)),
        )
        return play_match(task, store=self._store, policies=self._policies)

    def _result(self, player: LeaguePlayer, opponent: str, played: MatchResult) -> EvaluationResult:
        rate, count = played.mean_score(FIRST), len(played.games)
        low, high = (None, None) if rate is None else wilson(rate, count)
        return EvaluationResult(
            player=player.name,
            opponent=None if rate is None else opponent,
            games=count,
            win_rate=rate,
            low=low,
            high=high,
            mean_return=played.mean_return(FIRST) or 0.0,
        )


def _entrant(player: LeaguePlayer, version: Version) -> Entrant:
    return Entrant(id=version.id, checkpoint=version.checkpoint, bot=player.bot)


def _tallies(games: Sequence[GameRecord], player: LeaguePlayer, opponent: PlayerId) -> Iterator[Tally]:
    """Results of the first entrant against the second, by the teams of both."""
    found: dict[tuple[int, int], list[Earned]] = {}
    for game in games:
        sides = team_results(game.seating, game.returns, game.teams)
        for team, side in enumerate(sides):
            for other, rival in enumerate(sides):
                if (side.entrant, rival.entrant) == (FIRST, SECOND):
                    found.setdefault((team, other), []).append(Earned(side.earned, rival.earned))
    for (team, other), earned in sorted(found.items()):
        yield Tally(
            learner=player.newest.id,
            opponent=VersionId(opponent),
            seat=team,
            opponent_seat=other,
            wins=sum(each.own > each.other for each in earned),
            draws=sum(each.own == each.other for each in earned),
            losses=sum(each.own < each.other for each in earned),
            earned=Earned(sum(each.own for each in earned), sum(each.other for each in earned)),
        )
