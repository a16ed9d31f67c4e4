"""Maximum likelihood by Newton steps on the graph Laplacian of games, without numerical cancellation."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from league.errors import NotConverged
from league.ratings.game_graph import Edges, Indices
from league.validation import Floats

STEPS: Final = 500
SMALLEST_STEP: Final = 1e-8
CLOSE: Final = 1e-3
MANY_GAMES: Final = 1e5
"""Above this number of games of a pair, sums over pairs are exact (fsum)."""

SAFE_PIVOT: Final = 1e-9
"""A Cholesky pivot this much smaller than its diagonal has lost too many digits to trust."""


def maximum_likelihood(nodes: int, edges: Edges) -> Floats:
    """Strengths, mean 0, of a strongly connected graph of results, draws as half a win each way."""
    theta = np.zeros(nodes)
    if nodes < 2:
        return theta
    score, conceded = edges.wins + edges.draws / 2, edges.losses + edges.draws / 2
    exact = bool(edges.games.max(initial=0) > MANY_GAMES)
    games, last = edges.games, math.inf
    for _ in range(STEPS):
        first, second = edges.chances(theta)
        surplus = score * second - conceded * first
        flow = _net_flows(nodes, edges, surplus, exact=exact)
        step = solve_laplacian(nodes, edges, games * first * second, flow[:, None])[:, 0]
        # the logistic's third derivative is bounded by its second: this damping converges from anywhere,
        # and needs no function values, in which light edges would be lost beside heavy ones
        largest = float(np.abs(step[edges.first] - step[edges.second]).max())
        theta += step * (np.log1p(largest) / largest if largest > 0 else 1.0)
        # this close, Newton's steps shrink quadratically; one that does not has reached rounding precision
        if largest < SMALLEST_STEP or (last < CLOSE and largest > last / 2):
            return np.asarray(theta - theta.mean())
        last = largest
    raise NotConverged(f"Bradley-Terry did not converge within {STEPS} Newton steps")


def _net_flows(nodes: int, edges: Edges, values: Floats, *, exact: bool) -> Floats:
    """Outflow minus inflow of each node.

    Rounding errors of pairs with very many games may exceed the whole flow of a pair with few. An exact sum
    leaves only each pair's own rounding error, which is equal at both of its ends and cancels.
    """
    if not exact:
        return node_sums(nodes, edges.first, values) - node_sums(nodes, edges.second, values)
    parts: list[list[float]] = [[] for _ in range(nodes)]
    for first, second, value in zip(edges.first.tolist(), edges.second.tolist(), values.tolist(), strict=True):
        parts[first].append(value)
        parts[second].append(-value)
    return np.array([math.fsum(part) for part in parts])


def node_sums(nodes: int, at: Indices, values: Floats) -> Floats:
    """The sum of the values at each node."""
    return np.bincount(at, values, nodes).astype(np.float64)


def pseudo_inverse(nodes: int, edges: Edges, weights: Floats) -> Floats:
    """The inverse of the Laplacian on vectors of mean 0."""
    centring = np.eye(nodes) - 1 / nodes
    inverse = solve_laplacian(nodes, edges, weights, centring)
    return np.asarray((inverse + inverse.T) / 2)


def laplacian(nodes: int, edges: Edges, weights: Floats) -> Floats:
    """diag(sum_j w_ij) - W."""
    adjacency = _adjacency(nodes, edges, weights)
    return np.asarray(np.diag(adjacency.sum(axis=1)) - adjacency)


def solve_laplacian(nodes: int, edges: Edges, weights: Floats, flows: Floats) -> Floats:
    """x of mean 0 with L x = flows, whose columns sum to 0."""
    adjacency = _adjacency(nodes, edges, weights)
    degrees = adjacency.sum(axis=1)
    ground = int(np.argmax(degrees))
    rest = np.flatnonzero(np.arange(nodes) != ground)
    reduced = np.diag(degrees[rest]) - adjacency[np.ix_(rest, rest)]
    solution = np.zeros_like(flows)
    try:
        factor, lower = cho_factor(reduced)
        if (np.diag(factor) ** 2 < SAFE_PIVOT * degrees[rest]).any():
            raise LinAlgError
        solution[rest] = cho_solve((factor, lower), flows[rest])
    except LinAlgError:
        solution = _eliminate(adjacency, flows)
    return np.asarray(solution - solution.mean(axis=0))


def _adjacency(nodes: int, edges: Edges, weights: Floats) -> Floats:
    codes = edges.first * nodes + edges.second
    # parallel edges add up
    adjacency = np.bincount(codes, weights, nodes * nodes).reshape(nodes, nodes)
    return np.asarray(adjacency + adjacency.T)


def _eliminate(adjacency: Floats, flows: Floats) -> Floats:
    """Eliminate node by node, adding only positive weights: accurate where light edges join heavy clusters."""
    weights, flows = adjacency.copy(), flows.copy()
    nodes = len(weights)
    degrees = np.zeros(nodes)
    for node in range(nodes - 1, 0, -1):
        degrees[node] = weights[node, :node].sum()
        if not degrees[node] > 0:
            raise NotConverged("the results connect some players too weakly to be rated in floating point")
        parts = weights[node, :node] / degrees[node]
        weights[:node, :node] += np.outer(parts, weights[node, :node])
        np.fill_diagonal(weights, 0.0)
        flows[:node] += np.outer(parts, flows[node])
    solution = np.zeros_like(flows)
    with np.errstate(over="ignore", invalid="ignore"):
        for node in range(1, nodes):
            solution[node] = (flows[node] + weights[node, :node] @ solution[:node]) / degrees[node]
    if not np.isfinite(solution).all():
        raise NotConverged("the counts of games differ too much in size to be rated in floating point")
    return solution
