"""Progress of running generations: the only kind of event that is not stored."""

from __future__ import annotations

from pydantic import Field

from api.schemas.events.base import ID, EventPayload
from api.schemas.events.wording import counted
from api.schemas.progress import GenerationProgress, TrainingSpeed


class Progress(EventPayload, kind="progress", transient=True):
    """Progress of the running generations, sent every second. It is not stored and has no id."""

    generations: list[GenerationProgress] = Field(
        default_factory=list,
        examples=[[{"player_id": ID, "player": "main", "generation": 3, "steps": 50_000, "target": 200_000}]],
    )
    speed: TrainingSpeed | None = Field(None, description="how fast the trial trains, over all players")
    under_way: int | None = Field(
        None, description="how many generations are under way, where not all are listed (`brief`)", examples=[300]
    )

    @property
    def text(self) -> str:
        if not self.generations:
            return "No generation is under way"
        return "; ".join(_described(each) for each in self.generations)


def _described(generation: GenerationProgress) -> str:
    idle = f"waits for {generation.waiting}" if generation.waiting else "starting"
    begun = idle if generation.steps is None else counted(generation.steps, "step")
    of = f" of {generation.target:,}" if generation.steps is not None and generation.target else ""
    waits = f", waits for {generation.waiting}" if generation.waiting and generation.steps is not None else ""
    return f"{generation.player}, generation {generation.generation}: {begun}{of}{waits}"
