"""Bradley-Terry by maximum likelihood, with the sandwich covariance of all differences.

See docs/decisions/ratings.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from league.errors import UnknownPlayer
from league.ratings.fitted_ratings import Ratings
from league.ratings.game_graph import Edges, edges_from
from league.ratings.maximum_likelihood import laplacian, maximum_likelihood, node_sums, pseudo_inverse
from league.validation import Floats, distinct_names

PRIOR_GAMES: Final = 1.0
"""The prior of separable components: each one's mean strength has drawn one game with a fixed opponent."""

HEAVY: Final = 1.0
"""Pairs whose variance, times the largest covariance squared, exceeds this are handled one by one.

In one matrix product, terms of two players with millions of games between them and few against others would cancel:
the rounding, which depends on the order of names, would be wider than the interval between the two.
"""

Labels = NDArray[np.intp]


def bradley_terry(
    names: Iterable[Any], tallies: Mapping[tuple[Any, Any], tuple[int, int, int]], anchor: Any = None
) -> Ratings:
    """Ratings of `names` from tallies (a, b) -> (wins of a, draws, losses of a).

    Maximum likelihood inside each strongly connected component; a prior (PRIOR_GAMES) only between components.
    The anchor (by default the first name) is rated 0; this changes no difference.
    """
    given = distinct_names(names, "names")
    if anchor is None and given:
        anchor = given[0]
    elif given and anchor not in given:
        raise UnknownPlayer(anchor, "the rated names")
    # sorted, so that neither the order of names nor that of games changes a single bit of the sums
    ordered = sorted(given, key=str)
    edges = edges_from(ordered, tallies)
    theta, covariance, labels = _fit(len(ordered), edges)
    games = node_sums(len(ordered), edges.first, edges.games) + node_sums(len(ordered), edges.second, edges.games)
    place = {name: index for index, name in enumerate(ordered)}
    order = np.array([place[name] for name in given], dtype=np.intp)
    return _anchored(given, anchor, theta[order], covariance[np.ix_(order, order)], labels[order], games[order])


def _fit(nodes: int, edges: Edges) -> tuple[Floats, Floats, Labels]:
    labels = _strong_components(nodes, edges)
    theta, covariance = np.zeros(nodes), np.zeros((nodes, nodes))
    for label in range(labels.max(initial=-1) + 1):
        members = np.flatnonzero(labels == label)
        if members.size > 1:
            theta[members], covariance[np.ix_(members, members)] = _fit_component(nodes, members, edges)
    if labels.max(initial=0) > 0:
        theta, covariance = _join_components(theta, covariance, labels, edges)
    return theta, covariance, labels


def _strong_components(nodes: int, edges: Edges) -> Labels:
    """Strongly connected components of the graph of points; a maximum exists only within a component."""
    if nodes == 0:
        return np.zeros(0, dtype=np.intp)
    scored = edges.wins + edges.draws > 0
    conceded = edges.losses + edges.draws > 0
    winners = np.concatenate([edges.first[scored], edges.second[conceded]])
    losers = np.concatenate([edges.second[scored], edges.first[conceded]])
    graph = coo_array((np.ones(winners.size), (winners, losers)), shape=(nodes, nodes))
    return np.asarray(connected_components(graph.tocsr(), directed=True, connection="strong")[1], dtype=np.intp)


def _fit_component(nodes: int, members: Labels, edges: Edges) -> tuple[Floats, Floats]:
    """Maximum likelihood and sandwich covariance, mean 0, from the games inside one component."""
    place = np.full(nodes, -1, dtype=np.intp)
    place[members] = np.arange(members.size)
    inside = edges.where((place[edges.first] >= 0) & (place[edges.second] >= 0))
    inside = Edges(place[inside.first], place[inside.second], inside.wins, inside.draws, inside.losses, inside.base)
    theta = maximum_likelihood(members.size, inside)
    inverse = pseudo_inverse(members.size, inside, inside.information(theta))
    return theta, _sandwich(inside, inverse, score_variance(inside, theta, inverse))


def _sandwich(edges: Edges, inverse: Floats, variances: Floats) -> Floats:
    """H^-1 S H^-1, where S is the Laplacian of the pairs' score variances."""
    heavy = variances * np.abs(inverse).max() ** 2 > HEAVY
    flows = laplacian(len(inverse), edges.where(~heavy), variances[~heavy]) @ inverse
    places = np.flatnonzero(heavy)
    for start in range(0, places.size, 4096):
        part = places[start : start + 4096]
        across = _incidence(edges.first[part], edges.second[part], len(inverse))
        flows += across.T @ (variances[part, None] * (across @ inverse))
    product = inverse @ flows
    return np.asarray((product + product.T) / 2)


def _incidence(first: Labels, second: Labels, nodes: int) -> csr_array:
    """The incidence matrix: one row per edge; its product with node values gives the differences across edges."""
    count = first.size
    signs, rows = np.repeat([1.0, -1.0], count), np.tile(np.arange(count), 2)
    return coo_array((signs, (rows, np.concatenate([first, second]))), shape=(count, nodes)).tocsr()


def score_variance(edges: Edges, theta: Floats, inverse: Floats) -> Floats:
    """Sum over an edge's games of (score - expected)^2, at least their leverage.

    Residuals of a game fall short of its variance by its leverage; where all of a pair's games are draws
    they vanish, and an interval of width 0 would claim certainty. The leverage is the floor.
    """
    first, second = edges.chances(theta)
    squares = edges.wins * second**2 + edges.draws * (0.5 - first) ** 2 + edges.losses * first**2
    spread = np.diag(inverse)[edges.first] + np.diag(inverse)[edges.second]
    spread = spread - 2 * inverse[edges.first, edges.second]
    per_game = first * second
    return np.asarray(np.maximum(squares, edges.games * per_game * np.clip(per_game * spread, 0, 1)))


def _join_components(theta: Floats, covariance: Floats, labels: Labels, edges: Edges) -> tuple[Floats, Floats]:
    """Place components relative to each other by the games between them and one drawn prior game each."""
    count = int(labels.max()) + 1
    between = edges.where(labels[edges.first] != labels[edges.second])
    joint = _between_components(between, labels, theta, count)
    offsets = maximum_likelihood(count + 1, joint)
    information = joint.information(offsets)
    # grounded at the virtual opponent: var(c_k - c_l) relative to it
    inverse = pseudo_inverse(count + 1, joint, information)
    inverse = inverse - inverse[-1:, :] - inverse[:, -1:] + inverse[-1, -1]
    inverse = inverse[:count, :count]
    placed = theta + (offsets - offsets[-1])[labels]

    nodes, rows = theta.size, np.arange(between.first.size)
    players = _incidence(between.first, between.second, nodes)
    groups = _incidence(labels[between.first], labels[between.second], count)
    weights = coo_array((between.information(placed), (rows, rows)), shape=(rows.size, rows.size)).tocsr()
    # how the offsets depend on the strengths inside the components, which other, independent games decide
    follow = -inverse @ (groups.T @ weights @ players).toarray()
    jacobian = np.eye(nodes) + follow[labels]
    return placed, np.asarray(jacobian @ covariance @ jacobian.T + inverse[np.ix_(labels, labels)])


def _between_components(between: Edges, labels: Labels, theta: Floats, count: int) -> Edges:
    """The games between components: components are the nodes, the prior's virtual opponent is the last node.

    Several pairs of players may join the same two components: each keeps its own edge through `base`.
    """
    virtual = np.full(count, count, dtype=np.intp)
    return Edges(
        np.concatenate([labels[between.first], np.arange(count)]),
        np.concatenate([labels[between.second], virtual]),
        np.concatenate([between.wins, np.zeros(count)]),
        np.concatenate([between.draws, np.full(count, PRIOR_GAMES)]),
        np.concatenate([between.losses, np.zeros(count)]),
        np.concatenate([theta[between.first] - theta[between.second], np.zeros(count)]),
    )


def _anchored(
    names: tuple[Any, ...], anchor: Any, theta: Floats, covariance: Floats, labels: Labels, games: Floats
) -> Ratings:
    if names:
        at = names.index(anchor)
        theta = theta - theta[at]
        covariance = covariance - covariance[at : at + 1, :] - covariance[:, at : at + 1] + covariance[at, at]
    # components are numbered by their first name as given, so that renaming players renumbers nothing
    seen: dict[int, int] = {}
    for label in labels.tolist():
        seen.setdefault(label, len(seen))
    return Ratings(
        names=names,
        theta=theta,
        covariance=covariance,
        anchor=anchor,
        components=tuple(seen[label] for label in labels.tolist()),
        games=tuple(int(count) for count in games),
    )
