"""Progress as the page gets it: of many learners only a few, without what heartbeats say besides steps."""

from __future__ import annotations

import json

from api.schemas.events import GenerationProgress, Progress
from api.web.live.feed import BRIEF_GENERATIONS, brief_frame, progress_frame

TRIAL = "00000000-0000-7000-8000-000000000001"


def learner(number: int, steps: int | None) -> GenerationProgress:
    told = {"steps": steps, "target": 30_000, "steps_per_second": 900.0, "metrics": {"loss": 0.5}} if steps else {}
    about = {"player_id": f"id-{number}", "player": f"player-{number}", "generation": 3, "progress": told}
    return GenerationProgress.model_validate(about)


def test_of_three_hundred_learners_those_at_work_are_told() -> None:
    progress = Progress(generations=[learner(number, 100 if number > 296 else None) for number in range(300)])
    frame = brief_frame(TRIAL, progress)
    told = json.loads(frame.data.decode().removeprefix("data: "))
    assert told["under_way"] == 300 and len(told["generations"]) == BRIEF_GENERATIONS
    assert [each["player"] for each in told["generations"][:3]] == ["player-297", "player-298", "player-299"]
    first = told["generations"][0]
    assert (first["steps"], first["target"]) == (100, 30_000) and "metrics" not in first and "progress" not in first
    assert (told["type"], told["trial_id"], frame.id) == ("progress", TRIAL, 0), "it can be read as any other event"
    assert len(frame.data) < len(progress_frame(TRIAL, progress).data) / 10
