"""Searches the positions at many tables at once: one network call for a simulation of all trees.

See docs/decisions/algorithms.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import VectorGame
from workers.games.seeding import mix
from workers.games.snapshots import GAME, SEED
from workers.games.spaces import Legal, Observations
from workers.search.roots import GumbelRoots, PuctRoots, Roots
from workers.search.rules import SearchRules, check_searchable
from workers.search.scores import argmax, completed_scores, next_by_improved_policy, next_by_puct, softmax
from workers.search.simulators import MakeGame, Simulator, Stepped
from workers.search.trees import LOGITS, PRIORS, Floats, Nodes, Trees
from workers.search.walking import Walk, walk

Evaluate = Callable[[Observations, Legal], tuple[Floats, Floats]]
"""The network: logits [rows, actions], those of forbidden actions far below all others, and values [rows]."""

FEW_TREES, MOST_LEAVES = 32, 8
"""With fewer trees than FEW_TREES up to MOST_LEAVES leaves of each are evaluated at once."""


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """What a search found, a row for each position."""

    actions: NDArray[np.int64]
    policy: Floats
    """[rows, actions]: the improved policy, a target for the network's."""
    values: Floats
    """What the seat to move may expect."""
    visits: Floats
    """[rows, actions]"""
    simulations: int
    """Simulations of each tree in this call."""


class Search:
    """Trees for up to `slots` tables of a game."""

    def __init__(self, make: MakeGame, rules: SearchRules, *, slots: int, reuse: bool = False) -> None:
        """With `reuse` a table's tree goes on where its game meets a position that is in it.

        Then tables must be below `slots`, and `forget` must be called when the network changes.
        """
        probe = make(1)
        check_searchable(probe)
        spec = probe.spec
        self.rules, self.spec, self._reuse = rules, spec, reuse
        self._teams = np.asarray(spec.teams)
        self._simulator = Simulator(make)
        self._leaves = rules.leaves or (max(1, min(MOST_LEAVES, rules.simulations // 8)) if slots < FEW_TREES else 1)
        self._chance = spec.chance
        room = (2 if reuse else 1) * (rules.simulations + self._leaves) + 1
        self.trees = Trees(
            slots=slots,
            room=room,
            actions=spec.actions,
            teams=max(2, spec.team_count),
            outcomes=rules.outcomes if spec.chance else 1,
        )

    def forget(self) -> None:
        """Drop all trees: the network has changed."""
        self.trees.size[:] = 0

    def run(
        self,
        game: VectorGame,
        tables: NDArray[np.int64],
        evaluate: Evaluate,
        draws: NDArray[np.float32] | None,
        simulations: int | None = None,
    ) -> SearchResult:
        """Search the positions at these tables of a game, all different; `draws` explore, None plays the best.

        `simulations` may be fewer than the rules say.
        """
        ends = None if self.rules.seconds is None else time.monotonic() + self.rules.seconds
        slots = tables if self._reuse else np.arange(len(tables))
        keys = mix(np.zeros(len(tables), np.uint64) if draws is None else draws.view(np.uint32), 31)
        self._plant(game, tables, slots, evaluate)
        budget = min(simulations or self.rules.simulations, self.rules.simulations)
        kind = GumbelRoots if self.rules.method == "gumbel" else PuctRoots
        roots: Roots = kind(self.trees, slots, self.rules, budget, keys, explores=draws is not None)
        self._rescore(roots.nodes, roots.slots, roots)
        done = 0
        while done < budget and (ends is None or not done or time.monotonic() < ends):
            many = min(self._leaves, budget - done)
            self._simulate(roots, evaluate, many, mix(keys, done) if self._chance else None)
            done += many
        return self._result(roots, keys, done, draws is not None)

    def _result(self, roots: Roots, keys: NDArray[np.uint64], done: int, explores: bool) -> SearchResult:
        trees, nodes = self.trees, roots.nodes
        _, _, visits, totals = trees.numbers(nodes)
        values = (trees.value[nodes] + totals.sum(0)) / (visits.sum(0) + np.float32(1.0))
        policy = roots.policy(self._scores(nodes, roots.slots)[0])
        return SearchResult(
            actions=roots.choose(policy, keys, explores),
            policy=np.ascontiguousarray(policy.T),
            values=values,
            visits=np.ascontiguousarray(visits.T),
            simulations=done,
        )

    # Roots

    def _plant(self, game: VectorGame, tables: NDArray[np.int64], slots: Nodes, evaluate: Evaluate) -> None:
        """Make the positions at these tables the roots of their trees."""
        position = game.snapshot(tables)
        position.pop("moves", None)
        fresh = np.ones(len(slots), np.bool_)
        if self._reuse and self.trees.positions:
            fresh = ~self.trees.reroot(slots, position, (SEED, GAME), self._room_needed)
        rows = np.flatnonzero(fresh)
        if not len(rows):
            return
        trees, turn = self.trees, game.turn()
        trees.clear(slots[rows])
        nodes = slots[rows] * trees.room
        trees.keep(nodes, {name: column[rows] for name, column in position.items()})
        at = tables[rows]  # row i of a turn is table i
        seen, legal = game.rows_of(turn, at)
        self._evaluate(nodes, turn.seats[at], evaluate, seen, legal)
        # bounds to normalise values by: outcomes lie in [-1, 1]; other returns start at the root's value
        known = self.spec.scoring == "outcome"
        trees.low[slots[rows]] = -1.0 if known else trees.value[nodes]
        trees.high[slots[rows]] = 1.0 if known else trees.value[nodes]

    @property
    def _room_needed(self) -> int:
        return self.rules.simulations + self._leaves

    # Simulations

    def _simulate(self, roots: Roots, evaluate: Evaluate, many: int, keys: NDArray[np.uint64] | None) -> None:
        """So many simulations of each tree, the network's part of them in one call."""
        walks = []
        for nth in range(many):
            found = walk(self.trees, roots, None if keys is None else mix(keys, nth))
            walks.append(found)
            if many > 1:
                self._mark_under_way(found, roots, 1.0)
        self._expand(walks, evaluate, keys)
        for found in walks:
            self._back_up(found, roots, counted=many > 1)

    def _mark_under_way(self, found: Walk, roots: Roots, sign: float) -> None:
        """Count the walk as lost until its value is known, so that the next one goes elsewhere."""
        lost = np.full(len(found.nodes), -sign * self.rules.virtual_loss, np.float32)
        self.trees.back_up(found.nodes, found.actions, lost, visits=sign)
        self._rescore(found.nodes, roots.slots[found.whose], roots)

    def _expand(self, walks: list[Walk], evaluate: Evaluate, keys: NDArray[np.uint64] | None) -> None:
        """Play the moves that lead to new nodes, and let the network judge the positions."""
        trees = self.trees
        parents, actions, nodes, whose = (
            np.concatenate([getattr(each, name) for each in walks]) for name in ("parents", "last", "added", "trees")
        )
        if not len(nodes):
            return
        seeds = None
        if keys is not None:
            nth = np.repeat(np.arange(len(walks)), [len(each.added) for each in walks])
            seeds = mix(keys[whose], nth)
        stepped = self._simulator.step(trees.position(parents), actions, seeds)
        trees.keep(nodes, stepped.position)
        earned = self._by_team(stepped)
        weight = trees.weight[parents]
        trees.gained[nodes] = trees.gained[parents] + weight[:, None] * earned
        trees.weight[nodes] = weight * np.float32(self.rules.discount)
        live = np.flatnonzero(~stepped.ended)
        over = nodes[stepped.ended]
        trees.value[over] = 0.0
        trees.team[over] = 0
        if len(live):
            seen, legal = stepped.observations, stepped.legal
            if len(live) < len(nodes):
                seen, legal = _rows(seen, legal, live)
            self._evaluate(nodes[live], stepped.seats[live], evaluate, seen, legal)

    def _by_team(self, stepped: Stepped) -> Floats:
        """[rows, teams]: the rewards of a step. A game of one team has an opponent that earns nothing."""
        earned = np.zeros((len(stepped.rewards), self.trees.teams), np.float32)
        for seat, team in enumerate(self._teams.tolist()):
            earned[:, team] += stepped.rewards[:, seat]
        return earned

    def _evaluate(self, nodes: Nodes, seats: Nodes, evaluate: Evaluate, seen: Observations, legal: Legal) -> None:
        trees = self.trees
        logits, values = evaluate(seen, legal)
        across = np.ascontiguousarray(logits.T)
        trees.best[nodes] = argmax(across)
        fresh = np.zeros((len(nodes), 4, trees.actions), np.float32)
        fresh[:, LOGITS] = logits
        fresh[:, PRIORS] = softmax(across).T
        trees.table[nodes] = fresh
        trees.value[nodes] = values
        trees.team[nodes] = self._teams[seats]
        trees.open[nodes] = True

    def _back_up(self, found: Walk, roots: Roots, *, counted: bool) -> None:
        trees = self.trees
        ends = trees.gained[found.leaves] + trees.weight[found.leaves][:, None] * self._leaf_values(found.leaves)
        returns = trees.returns(found.nodes, ends[found.whose])
        slots = roots.slots[found.whose]
        if returns.max() > trees.high[roots.slots].min() or returns.min() < trees.low[roots.slots].max():
            trees.widen(slots, returns)
        if counted:
            returns = returns + np.float32(self.rules.virtual_loss)
        trees.back_up(found.nodes, found.actions, returns, visits=0.0 if counted else 1.0)
        self._rescore(found.nodes, slots, roots)

    def _leaf_values(self, leaves: Nodes) -> Floats:
        """[leaves, teams]: the network's value for the team to move; the other teams share its negative.

        With two teams that is the zero-sum game; of more teams the network knows the mover's value alone.
        """
        trees = self.trees
        value = trees.value[leaves]
        found = np.repeat((-value / np.float32(trees.teams - 1))[:, None], trees.teams, 1)
        found[np.arange(len(leaves)), trees.team[leaves]] = value
        return found

    # Scores

    def _scores(self, nodes: Nodes, slots: Nodes) -> tuple[Floats, Floats, Floats]:
        """The scores of the Gumbel method, the visits, and their sums."""
        trees, rules = self.trees, self.rules
        logits, priors, visits, totals = trees.numbers(nodes)
        scores, total = completed_scores(
            logits,
            priors,
            visits,
            totals,
            trees.value[nodes],
            trees.low[slots],
            trees.high[slots],
            visit_offset=rules.visit_offset,
            value_scale=rules.value_scale,
        )
        return scores, visits, total

    def _rescore(self, nodes: Nodes, slots: Nodes, roots: Roots) -> None:
        """Decide anew what the next simulation does at these nodes, of which the first are the roots."""
        if self.rules.method == "gumbel":
            at_roots = len(roots.nodes)
            roots.scores = self._scores(nodes[:at_roots], slots[:at_roots])[0]
            nodes, slots = nodes[at_roots:], slots[at_roots:]
        if not len(nodes):
            return
        if self.rules.interior == "improved":
            self.trees.best[nodes] = next_by_improved_policy(*self._scores(nodes, slots))
        else:
            self._rescore_by_puct(nodes, slots, roots)

    def _rescore_by_puct(self, nodes: Nodes, slots: Nodes, roots: Roots) -> None:
        trees = self.trees
        _, priors, visits, totals = trees.numbers(nodes)
        if self.rules.method == "puct":
            priors[:, : len(roots.nodes)] = roots.priors
        trees.best[nodes] = next_by_puct(
            priors,
            visits,
            totals,
            trees.value[nodes],
            trees.low[slots],
            trees.high[slots],
            self.rules.exploration,
        )


def _rows(seen: Observations, legal: Legal, rows: NDArray[np.int64]) -> tuple[Observations, Legal]:
    chosen = {name: part[rows] for name, part in seen.items()} if isinstance(seen, dict) else seen[rows]
    return chosen, None if legal is None else legal[rows]
