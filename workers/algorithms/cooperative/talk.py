"""Communication among mates: which mate calls a group, what its members send, and how they use what they receive."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from workers.algorithms.cooperative.seats import SeatNets, SeatPolicy
from workers.inference.policy import Places
from workers.models.encoding import Observed, first_part, flatten_mates

TALK = "talk"


class Talk(nn.Module):
    """Thoughts h_i, attention p_i = sigmoid(a(h_i)), and a channel that integrates the thoughts of a group.

    A mate with p_i > 1/2 calls a group of itself and the mates in the seats after it. A bidirectional LSTM passes over
    the members' thoughts in the order of seats, and each member's thought becomes the LSTM's output. Groups are called
    in the order of seats, so that a mate in two groups carries thoughts from one to the other.
    """

    def __init__(self, thought: nn.Module, size: int, mates: int, group_size: int, actions: int) -> None:
        super().__init__()
        self.thought = thought
        self.norm = nn.LayerNorm(size)
        self.attention = nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, 1))
        self.channel = nn.LSTM(size, (size + 1) // 2, batch_first=True, bidirectional=True)
        self.merge = nn.Linear(2 * ((size + 1) // 2), size)
        self.head = nn.Linear(size, actions)
        self.mates = mates
        span = min(group_size, mates)
        self.groups = [sorted((mate + after) % mates for after in range(span)) for mate in range(mates)]
        with torch.no_grad():
            final = self.attention[2]
            assert isinstance(final, nn.Linear)
            final.weight.mul_(0.1)
            final.bias.fill_(1.0)  # mates communicate at the start, so that the channel gets gradients

    def think(self, observed: Observed) -> tuple[Tensor, Tensor]:
        """Thoughts [rows, mates, size] of team steps, and the logit of calling a group [rows, mates]."""
        thoughts = self.norm(self.thought(flatten_mates(observed), None)[0])
        thoughts = thoughts.reshape(*first_part(observed).shape[:2], -1)
        # detached: the attention has a loss of its own, which must not change the thoughts
        return thoughts, self.attention(thoughts.detach()).squeeze(2)

    def forward(self, thoughts: Tensor, calls: Tensor, present: Tensor) -> Tensor:
        """What talking adds to the mates' logits [rows, mates, actions]; `calls` [rows, mates] says who calls."""
        thoughts = thoughts * present.unsqueeze(2)
        heard = torch.zeros_like(calls)
        for mate, members in enumerate(self.groups):
            called = (calls[:, mate] & present[:, mate]).unsqueeze(1) & present[:, members]
            integrated = self.merge(self.channel(thoughts[:, members])[0])
            after = torch.where(called.unsqueeze(2), integrated, thoughts[:, members])
            thoughts = thoughts.clone()
            thoughts[:, members] = after
            heard = heard.clone()
            heard[:, members] |= called
        said: Tensor = self.head(thoughts)
        return said * heard.unsqueeze(2)


class TalkingNets(SeatNets):
    """The acting networks of a team that talks: logits = policy(o_i) + what talking adds."""

    def __init__(self, nets: Mapping[str, nn.Module]) -> None:
        super().__init__(nets)
        talk = nets[TALK]
        assert isinstance(talk, Talk)
        self.talk = talk

    def joint(self, observed: Observed, legal: Tensor | None, present: Tensor | None = None) -> tuple[Tensor, Tensor]:
        outputs, values = super().joint(observed, legal)
        there = torch.ones(outputs.shape[:2], dtype=torch.bool) if present is None else present
        thoughts, attention = self.talk.think(observed)
        return outputs + self.talk(thoughts, attention > 0, there), values


class TalkingPolicy(SeatPolicy):
    """Decides the mates of a table together, because they talk before they act."""

    def __init__(self, nets: Mapping[str, nn.Module]) -> None:
        super().__init__(nets)
        self._team: TalkingNets = TalkingNets(nets)

    def run(
        self, observed: Observed, legal: Tensor | None, state: Tensor | None, places: Places | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        if places is None:
            raise ValueError("a team that talks must be told the table and the seat of each row")
        teams = np.asarray(self._team.seats.teams)
        _, team_step = np.unique(places.tables * (teams.max() + 1) + teams[places.seats], return_inverse=True)
        step = torch.from_numpy(team_step).to(self.device)
        rank = self._rank(places)
        members = torch.zeros(int(team_step.max()) + 1, self._team.seats.size, dtype=torch.int64, device=self.device)
        present = torch.zeros_like(members, dtype=torch.bool)
        members[step, rank] = torch.arange(len(step), device=self.device)
        present[step, rank] = True
        shown = {n: p[members] for n, p in observed.items()} if isinstance(observed, dict) else observed[members]
        outputs, values = self._team.joint(shown, None if legal is None else legal[members], present)
        return outputs[step, rank], values[step, rank], None
