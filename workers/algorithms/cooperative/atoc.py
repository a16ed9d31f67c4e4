"""ATOC: attentional communication, Jiang and Lu 2018, for Discrete actions."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from orchestrator.spec.algorithms.cooperative import AtocOptions
from workers.algorithms.contract import NetFactory
from workers.algorithms.cooperative.coma import INPUTS, Coma
from workers.algorithms.cooperative.critics import CRITIC
from workers.algorithms.cooperative.gradients import TeamGradients
from workers.algorithms.cooperative.seats import SeatNets
from workers.algorithms.cooperative.talk import TALK, Talk, TalkingNets, TalkingPolicy
from workers.algorithms.learner import Learner
from workers.buffers.contract import Batch
from workers.games.protocol import GameSpec
from workers.inference.policy import Policy
from workers.rollout.joint import team_size


class Atoc(Coma):
    """Mates send each other their thoughts, in groups that an attention unit calls where talking pays.

    The gain of a call by mate i is the critic's: dQ_i = mean_j sum_a (pi_j(a | i calls) - pi_j(a | nobody calls))
    Q(s, (u_-j, a)) over the group's members j. The attention unit p_i learns the sign of the gain, each row weighted by
    its size: |dQ_i| / mean |dQ| * -log(p_i if dQ_i > 0 else 1 - p_i). The paper learns deterministic policies of
    continuous actions by DDPG; here COMA's critic and gradient serve Discrete ones.
    """

    Options = AtocOptions
    options: AtocOptions

    def actor(self, nets: Mapping[str, nn.Module]) -> Policy:
        return TalkingPolicy(nets) if self.options.communicate else super().actor(nets)

    def gradients(self, learner: Learner, batch: Batch) -> TeamGradients:
        found = super().gradients(learner, batch)
        if not self.options.communicate:
            return found
        team = self._team(learner.all_nets())
        assert isinstance(team, TalkingNets)
        gains = self.gains(learner, team, batch)
        attention = team.talk.think(batch.obs)[1]
        with torch.no_grad():
            weights = gains.abs() * batch["present"]
            weights = weights / (weights.sum() + 1e-8)
            at_attention = (torch.sigmoid(attention) - (gains > 0).float()) * weights * self.options.attention_weight
        return TeamGradients((*found.outputs, attention), (*found.gradients, at_attention), found.means)

    @torch.no_grad()
    def gains(self, learner: Learner, team: TalkingNets, batch: Batch) -> Tensor:
        """[rows, mates]: what a call by this mate alone would bring each member of its group, by the critic."""
        values, present = learner.nets[CRITIC](batch[INPUTS]), batch["present"]
        quiet, _ = SeatNets.joint(team, batch.obs, batch.legal)
        thoughts, _ = team.talk.think(batch.obs)
        silent = torch.softmax(quiet, 2)
        found = []
        for mate, members in enumerate(team.talk.groups):
            calls = torch.zeros_like(present)
            calls[:, mate] = True
            talking = torch.softmax(quiet + team.talk(thoughts, calls, present), 2)
            gain = torch.linalg.vecdot(talking - silent, values) * present
            found.append(gain[:, members].sum(1) / present[:, members].sum(1).clamp(min=1))
        return torch.stack(found, 1)

    def _acting(self, spec: GameSpec, net: NetFactory) -> dict[str, nn.Module]:
        acting, given = super()._acting(spec, net), self.options
        if not given.communicate:
            return acting
        thought = net("thought", outputs=given.thought)
        talk = Talk(thought, given.thought, team_size(spec.teams), given.group_size, spec.actions)
        return {**acting, TALK: talk}

    def _team(self, nets: Mapping[str, nn.Module]) -> SeatNets:
        return TalkingNets(nets) if self.options.communicate else super()._team(nets)
