"""Names for recorded games of outside processes: read, replay into an agent, draw."""

from __future__ import annotations

from pathlib import Path

from orchestrator.catalog import CatalogError
from workers.agents.agent_set import AgentSet, load_agents
from workers.agents.errors import AgentError
from workers.gateway.recording.errors import RecordingError
from workers.gateway.recording.files import decode_game
from workers.gateway.recording.rendering import RecordedTick, load_render, recorded_ticks, render_frames, write_frames
from workers.gateway.recording.replaying import ReplayReport, replay_game
from workers.gateway.rpc.generated import recording_pb2

__all__ = [
    "RecordedGame",
    "RecordedTick",
    "RecordingError",
    "ReplayReport",
    "draw",
    "read_game",
    "recorded_ticks",
    "replay_into",
]

RecordedGame = recording_pb2.RecordedGame


def read_game(file: str | Path) -> RecordedGame:
    """The recorded game of a file; raises RecordingError."""
    return decode_game(Path(file).read_bytes())


async def replay_into(game: RecordedGame, agent: str) -> ReplayReport:
    """Replay the game's steps into an agent (`module:Class`), with the recorded decisions, and compare its replies."""
    return await replay_game(game, _agents(agent))


def draw(
    game: RecordedGame, render: str, to: str | Path, *, agent: str | None = None, seconds: float = 0.2
) -> list[Path]:
    """Draw the game by a function (`module:function`) to a .png, .gif or .mp4 file; returns what was written."""
    agents = None if agent is None else _agents(agent)
    return write_frames(render_frames(game, load_render(render), agents), Path(to), seconds)


def _agents(name: str) -> AgentSet:
    try:
        return load_agents(name)
    except (AgentError, CatalogError) as error:
        raise RecordingError(str(error)) from error
