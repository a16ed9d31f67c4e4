"""The acting networks of a team: one that all mates share, told which seat it sits in, or one for each mate."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from gymnasium import spaces
from torch import Tensor, nn

from orchestrator.spec.algorithms.cooperative import TeamOptions
from workers.algorithms.contract import NetFactory
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.learner import POLICY
from workers.games.protocol import GameSpec
from workers.inference.greedy import EpsilonGreedy
from workers.inference.policy import Places, Policy
from workers.models.contract import encode
from workers.models.encoding import Encoder, Observed, first_part, flatten_mates, take_rows
from workers.models.normalised import Normalised
from workers.rollout.joint import team_ranks, team_size

SEATS = "seats"
"""The network that knows the seats of the game."""


class Seats(nn.Module):
    """Which number in its team each seat has, and what a shared network adds to the observation of each mate.

    The sum of an observation and a learnt vector of the seat does for any model what a one-hot number of the seat does
    for a perceptron: it shifts the first layer. It starts at 0, so that a player may start from any weights of the
    model.
    """

    embedding: nn.Parameter | None

    def __init__(self, spec: GameSpec, shared: bool, numbered: bool) -> None:
        super().__init__()
        self.teams = spec.teams
        self.size = team_size(spec.teams)
        self.networks = 1 if shared else self.size
        shape = Encoder(spec.observation).shape
        self.embedding = nn.Parameter(torch.zeros(self.size, *shape)) if shared and numbered else None
        self.register_buffer("ranks", torch.from_numpy(team_ranks(spec.teams)), persistent=False)
        self.register_buffer("team_of", torch.tensor(spec.teams), persistent=False)
        self.ranks: Tensor
        self.team_of: Tensor

    def forward(self, model: nn.Module, observed: Observed, ranks: Tensor) -> Observed:
        """What a mate of this number sees, as the model takes it."""
        if self.embedding is None:
            return observed
        encoded: Tensor = encode(model, observed)
        return encoded + self.embedding.index_select(0, ranks)


def seat_names(count: int) -> list[str]:
    """The names of the acting networks of so many mates; the first is the policy."""
    return [POLICY, *(f"{POLICY}_{number}" for number in range(1, count))]


def make_seats(spec: GameSpec, net: NetFactory, options: TeamOptions) -> dict[str, nn.Module]:
    """The acting networks by name; raises BadAlgorithm for models that no team algorithm can learn."""
    seats = Seats(spec, options.share, options.seat_ids)
    nets: dict[str, nn.Module] = {name: net(name) for name in seat_names(seats.networks)}
    policy = nets[POLICY]
    if isinstance(policy, Normalised):
        raise BadAlgorithm("normalise: true is not supported by the algorithms for teams; set it to false")
    if seats.embedding is not None and isinstance(spec.observation, spaces.Dict | spaces.Tuple):
        probe = encode(policy, {name: torch.from_numpy(p.zeros(1)) for name, p in spec.observation_parts.items()})
        if not isinstance(probe, Tensor):
            raise BadAlgorithm("its model takes an observation of several parts; set seat_ids: false or share: false")
    return {**nets, SEATS: seats}


class SeatNets:
    """The acting networks of a team, or their lagged copies, as one function of rows and their numbers in the team."""

    def __init__(self, nets: Mapping[str, nn.Module], prefix: str = "") -> None:
        seats = nets[f"{prefix}{SEATS}"]
        assert isinstance(seats, Seats)
        self.seats = seats
        self.models = [nets[f"{prefix}{name}"] for name in seat_names(seats.networks)]

    def __call__(self, observed: Observed, legal: Tensor | None, ranks: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs [rows, size] and values [rows]."""
        if len(self.models) == 1:
            outputs, values = self.models[0](self.seats(self.models[0], observed, ranks), legal)
            return outputs, values
        parts, places = [], []
        for number, model in enumerate(self.models):
            rows = torch.nonzero(ranks == number).squeeze(1)
            if len(rows):
                parts.append(model(take_rows(observed, rows), None if legal is None else legal.index_select(0, rows)))
                places.append(rows)
        back = torch.argsort(torch.cat(places))
        outputs, values = (torch.cat(part).index_select(0, back) for part in zip(*parts, strict=True))
        return outputs, values

    def joint(self, observed: Observed, legal: Tensor | None, present: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The same of team steps: [rows, mates, size] and [rows, mates]; absent mates have rows too."""
        first = first_part(observed)
        rows, mates = first.shape[:2]
        ranks = torch.arange(mates, device=first.device).repeat(rows)
        outputs, values = self(flatten_mates(observed), None if legal is None else legal.flatten(0, 1), ranks)
        return outputs.reshape(rows, mates, -1), values.reshape(rows, mates)


class _Seated(Policy):
    """Acts with the networks of a team; each row is decided by what its own seat sees."""

    placed = True

    def __init__(self, nets: Mapping[str, nn.Module]) -> None:
        super().__init__(nets[POLICY])
        self.nets = {name: net for name, net in nets.items() if not name.startswith("lagged/")}
        self._team = SeatNets(nets)

    def run(
        self, observed: Observed, legal: Tensor | None, state: Tensor | None, places: Places | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        if places is None:
            raise ValueError("a policy of a team must be told the table and the seat of each row")
        outputs, values = self._team(observed, legal, self._rank(places))
        return outputs, values, None

    def _rank(self, places: Places) -> Tensor:
        return self._team.seats.ranks[torch.from_numpy(places.seats).to(self.device)]

    def to(self, device: torch.device) -> Policy:
        for net in self.nets.values():
            net.to(device)
        return super().to(device)

    @property
    def size(self) -> int:
        return sum(tensor.nbytes for net in self.nets.values() for tensor in net.state_dict().values())


class SeatPolicy(_Seated):
    """Samples from the distribution of the seat's network."""


class SeatGreedy(_Seated, EpsilonGreedy):
    """Takes the action of the best value, or with the chance `explore` any."""

    def __init__(self, nets: Mapping[str, nn.Module]) -> None:
        _Seated.__init__(self, nets)


def check_at_once(spec: GameSpec) -> None:
    """Raise BadAlgorithm for a game whose seats move in turn."""
    if not spec.simultaneous:
        raise BadAlgorithm("its seats move in turn; it learns games in which all seats decide at once")
