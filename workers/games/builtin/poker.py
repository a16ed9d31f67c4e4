"""Two-seat poker over a betting tree: the deal comes from the seed, the rest is lookups."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workers.games import svg
from workers.games.builtin.betting import BettingTree, Stage
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame
from workers.games.seeding import below, mix

_DEAL = 1  # separates the draw of the deal from other draws on the same seed


@dataclass(frozen=True)
class Poker:
    """A precomputed poker game: the betting tree, the deals, their winners and all observations.

    A card's rank is `card // suits`. Every deal, (seat 0, seat 1, public) in card numbers, is equally
    likely; a game of one betting round never reveals the public card.
    """

    tree: BettingTree
    deals: NDArray[np.int64]
    gain: NDArray[np.float32]
    """[deals], 1 where seat 0 holds the better hand, -1 where seat 1 does."""
    ranks: str
    suits: int
    choices: tuple[int, ...]
    """The actions that appear in the betting of an unfinished hand."""
    has_public: bool = field(init=False)
    seen: NDArray[np.float32] = field(init=False)
    """[playable stage * deals + deal], the mover's observation."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "has_public", bool(self.tree.round.max() > 0))
        object.__setattr__(self, "seen", self._observations())

    def _observations(self) -> NDArray[np.float32]:
        """The mover's seat, its rank, the public rank once it is revealed, and the betting, all one-hot."""
        ranks = np.eye(len(self.ranks), dtype=np.float32)[self.deals // self.suits]
        betting = self._betting()
        blocks = []
        for stage in range(self.tree.playable):
            mover = int(self.tree.mover[stage])
            columns = [np.eye(2, dtype=np.float32)[[mover] * len(self.deals)], ranks[:, mover]]
            if self.has_public:
                columns.append(ranks[:, 2] * (self.tree.round[stage] > 0))
            columns.append(np.tile(betting[stage], (len(self.deals), 1)))
            blocks.append(np.concatenate(columns, axis=1))
        return np.concatenate(blocks).astype(np.float32)

    def _betting(self) -> NDArray[np.float32]:
        """[playable stages, slots * choices]: one slot per action that a round can show."""
        paths = [stage.path for stage in self.tree.stages[: self.tree.playable]]
        rounds = max(map(len, paths))
        slots = [max(len(path[r]) for path in paths if r < len(path)) for r in range(rounds)]
        grid = np.zeros((len(paths), sum(slots), len(self.choices)), np.float32)
        for stage, path in enumerate(paths):
            for r, moves in enumerate(path):
                for at, action in enumerate(moves):
                    grid[stage, sum(slots[:r]) + at, self.choices.index(action)] = 1
        return grid.reshape(len(paths), -1)


class TwoSeatPoker(VectorGame):
    """One private card each and, from the second betting round on, one public card for both.

    A mover observes its own card, the public card once it is revealed, and the betting: all it may know.
    """

    position_arrays = ("_deal", "_stage")

    def __init__(self, spec: GameSpec, tables: int, poker: Poker) -> None:
        super().__init__(spec, tables)
        self._poker, self._tree = poker, poker.tree
        self._deal = np.zeros(tables, np.int64)
        self._stage = np.zeros(tables, np.int64)
        self._rewards = np.zeros((tables, 2), np.float32)
        self._never = np.zeros(tables, np.bool_)
        self._legal = np.zeros((tables, spec.actions), np.bool_)
        self._turn = Turn(
            np.arange(tables),
            np.zeros(tables, np.int64),
            np.zeros((tables, *spec.observation_shape), np.float32),
            self._legal,
        )

    def begin(self, tables: NDArray[np.int64]) -> None:
        self._deal[tables] = below(mix(self.seeds_of(tables), _DEAL), len(self._poker.deals))
        self._stage[tables] = 0

    def turn(self) -> Turn:
        turn = self._turn
        # Indices are in range by construction; "clip" only spares numpy its buffered checking copy.
        np.take(self._tree.mover, self._stage, out=turn.seats, mode="clip")
        np.take(self._tree.legal, self._stage, axis=0, out=self._legal, mode="clip")
        point = self._stage * len(self._poker.deals) + self._deal
        np.take(self._poker.seen, point, axis=0, out=turn.observations, mode="clip")
        return turn

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        # As unsigned a negative action is huge: one comparison finds both ways of being out of range.
        inside = actions.view(np.uint64) < self.spec.actions
        after = self._tree.child[self._stage, np.where(inside, actions, 0)]
        if not inside.all() or (after < 0).any():
            self.refuse_illegal(actions, self.turn())
        self._stage[:] = after
        showdown = self._tree.stake[after] * self._poker.gain[self._deal]
        np.add(self._tree.fold_gain[after], showdown, out=self._rewards[:, 0])
        np.negative(self._rewards[:, 0], out=self._rewards[:, 1])
        return StepResult(self._rewards, after >= self._tree.playable, self._never)

    def history(self, table: int) -> list[int]:
        cards = self._poker.deals[self._deal[table]].tolist()
        first, *later = self._tree.stages[self._stage[table]].path
        moves = [*cards[:2], *first]
        for betting in later:
            moves += [cards[2], *betting]
        return moves

    def place(self, table: int, history: Sequence[int]) -> None:
        """Put the table into the position after this history; its seed then no longer determines the game."""
        cards, stage = list(history[:2]), 0
        for move in history[2:]:
            path = self._tree.stages[stage].path
            if len(cards) < len(path) + 1:
                cards.append(move)
            else:
                stage = int(self._tree.child[stage, move])
        fitting = (self._poker.deals[:, : len(cards)] == cards).all(axis=1)
        self._deal[table], self._stage[table] = np.argmax(fitting), stage

    def render_text(self, table: int, seat: int | None = None) -> str:
        stage, cards = self._shown(table, seat)
        lines = [f"seat {s}: {cards[s]}, paid {stage.paid[s]}" for s in range(2)]
        lines += [f"public: {card}" for card in cards[2:]]
        betting = " | ".join(" ".join(map(self.spec.action_name, moves)) for moves in stage.path)
        return "\n".join([*lines, f"betting: {betting}".rstrip()])

    def render_svg(self, table: int, seat: int | None = None) -> str:
        """A table: a card and a pile of chips for each seat, the public card between them, the betting below."""
        stage, cards = self._shown(table, seat)
        parts = [svg.rect(0, 0, 340, 190, svg.FELT, radius=12)]
        for number, x in enumerate((22, 268)):
            to_move = not stage.ended and stage.mover == number
            title = f"seat {number}{' (you)' if seat == number else ''}"
            parts.append(svg.label(x + 25, 24, title, 13, svg.PALE))
            if to_move:
                parts.append(svg.rect(x - 5, 31, 60, 80, svg.SEAT_COLOURS[number], radius=9))
            parts.append(svg.card(x, 36, cards[number]))
            if stage.folded == number:
                parts.append(svg.label(x + 25, 128, "folded", 13, svg.PALE))
            parts.append(svg.chips(112 if number == 0 else 206, 118, stage.paid[number], svg.SEAT_COLOURS[number]))
        if self._poker.has_public:
            parts.append(svg.card(145, 14, cards[2]))
        parts.append(svg.label(170, 148, f"pot {sum(stage.paid)}", 14, svg.PALE))
        text = self.render_text(table, seat)
        parts.append(svg.label(170, 174, text.splitlines()[-1], 13, svg.PALE))
        return svg.document(340, 190, text, parts)

    def _shown(self, table: int, seat: int | None) -> tuple[Stage, list[str]]:
        """The betting, and each card's rank as `seat` sees it; "?" is hidden, "-" not dealt yet."""
        stage = self._tree.stages[self._stage[table]]
        names = [self._poker.ranks[c // self._poker.suits] for c in self._poker.deals[self._deal[table]]]
        all_open = seat is None or (stage.ended and stage.folded is None)
        cards = [names[s] if all_open or s == seat else "?" for s in range(2)]
        if self._poker.has_public:
            cards.append(names[2] if len(stage.path) > 1 else "-")
        return stage, cards
