"""Draws a recorded game of a trial, for the page."""

from __future__ import annotations

from orchestrator.contracts.interactive import DrawnGame, DrawRecordedGame
from orchestrator.storage.recorded_games import RecordedGames
from workers.agents.agent_set import load_agents
from workers.gateway.recording.errors import BadRecording, CannotRender
from workers.gateway.recording.files import decode_game
from workers.gateway.recording.rendering import gif, load_renders, render_frames

SECONDS_OF_A_FRAME = 0.2


def draw_game(request: DrawRecordedGame, store: RecordedGames) -> DrawnGame:
    """Draw the game by its trial's function, and store the picture beside it."""
    dump = request.game.options.get("dump")
    name = dump.get("render") if isinstance(dump, dict) else None
    if not name:
        raise CannotRender("the trial names no function that draws its games: dump: {render: module:function}")
    data = store.get(request.trial, request.recording)
    if data is None:
        raise BadRecording(f"there is no recorded game {request.recording}; older ones are removed")
    agents = load_agents(request.game.options.get("agent"))
    render = load_renders([name] if isinstance(name, str) else [str(each) for each in name])
    picture = gif(render_frames(decode_game(data), render, agents), SECONDS_OF_A_FRAME)
    store.put_picture(request.trial, request.recording, picture)
    return DrawnGame(bytes=len(picture))
