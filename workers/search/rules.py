"""The rules of a search: its method, its budget and the constants of both methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workers.games.protocol import VectorGame
from workers.search.errors import BadSearch

Method = Literal["gumbel", "puct"]
Interior = Literal["puct", "improved"]
MOST_SIMULATIONS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class SearchRules:
    """How a position is searched."""

    simulations: int = 64
    """Simulations a move, at most."""
    seconds: float | None = None
    """Seconds for one call, at most; results then depend on the machine's speed. None: no limit."""
    method: Method = "gumbel"
    """`gumbel`: sequential halving over sampled actions (Danihelka et al. 2022); `puct`: AlphaZero's rule."""
    interior: Interior = "puct"
    """How simulations go on below the root of `gumbel`: `puct` comes back to every action in the end; `improved`, the
    paper's deterministic choice by the improved policy, trusts the network's values more."""
    considered: int = 16
    """Actions that `gumbel` tries at the root, at most."""
    visit_offset: float = 50.0
    """c_visit: values weigh in proportion to this plus the visits of the most visited action."""
    value_scale: float = 1.0
    """c_scale: how much the values of a search weigh against the logits of the network."""
    exploration: float = 1.5
    """c of PUCT: how much the prior weighs against the values."""
    noise_share: float = 0.25
    """How much of the root's prior is Dirichlet noise, where `puct` explores."""
    noise_alpha: float | None = None
    """The Dirichlet distribution's concentration; None: 10 over the number of legal actions."""
    leaves: int | None = None
    """Leaves of one tree that the network sees at once, by virtual loss; None: 1, more where trees are few."""
    virtual_loss: float = 1.0
    """What a simulation under way counts as lost."""
    discount: float = 1.0
    """Weight of what follows a step."""
    outcomes: int = 8
    """Outcomes of chance that are sampled after an action, at most."""

    def __post_init__(self) -> None:
        if not 1 <= self.simulations <= MOST_SIMULATIONS:
            raise BadSearch(f"simulations must lie between 1 and {MOST_SIMULATIONS:,}, not {self.simulations}")
        if self.seconds is not None and not self.seconds > 0.0:
            raise BadSearch(f"seconds must be above 0, not {self.seconds}")
        if self.method not in ("gumbel", "puct"):
            raise BadSearch(f"the method of a search is gumbel or puct, not {self.method!r}")
        if self.interior not in ("puct", "improved"):
            raise BadSearch(f"interior is puct or improved, not {self.interior!r}")
        for name in ("considered", "outcomes"):
            if getattr(self, name) < 1:
                raise BadSearch(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.leaves is not None and self.leaves < 1:
            raise BadSearch(f"leaves must be at least 1, not {self.leaves}")
        if not 0.0 <= self.noise_share <= 1.0 or not 0.0 < self.discount <= 1.0:
            raise BadSearch("noise_share must lie between 0 and 1, discount above 0 and up to 1")


def check_searchable(game: VectorGame) -> None:
    """Raise BadSearch or BadGame for a game that cannot be searched, by name."""
    spec = game.spec
    if not spec.discrete or spec.simultaneous or spec.hidden_information:
        raise BadSearch(
            f"{spec.id}: a search needs Discrete actions, seats that move in turn and nothing hidden; "
            "allowed: connect_four, tic_tac_toe, OpenSpiel's games of perfect information, and games like them"
        )
    game.require_copies()
