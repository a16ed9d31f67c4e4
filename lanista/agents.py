"""Names for agents of games that call in: `from lanista.agents import Agent`.

docs/guides/agents.md explains how to write one.
"""

from workers.agents.agent import Agent
from workers.agents.environment_agent import EnvironmentAgent
from workers.agents.errors import AgentError, BadAgent, BadBody, BadObservation
from workers.agents.generic import GenericAgent
from workers.agents.rehearsal import Rehearsal, ScriptedModel
from workers.agents.serializers import Json, Msgpack, Protobuf, Raw, Serializer
from workers.gateway.contract import Episode, Refused, SeatCast

__all__ = [
    "Agent",
    "AgentError",
    "BadAgent",
    "BadBody",
    "BadObservation",
    "EnvironmentAgent",
    "Episode",
    "GenericAgent",
    "Json",
    "Msgpack",
    "Protobuf",
    "Raw",
    "Refused",
    "Rehearsal",
    "ScriptedModel",
    "SeatCast",
    "Serializer",
]
