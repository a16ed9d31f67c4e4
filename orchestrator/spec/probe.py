"""A probe: how many fresh responders train against a frozen version, for how long, and how many games judge them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from orchestrator.spec.section import Section
from orchestrator.spec.values import LARGEST, WHOLE, Games, Positive


class ProbeSpec(Section):
    """The budget of a probe."""

    responders: Annotated[int, Field(strict=True, ge=1, le=16), WHOLE] = Field(
        default=3, description="fresh players that learn to beat the version, each in a trial of its own"
    )
    steps: Positive = Field(default=200_000, description="steps that each responder trains")
    games: Games = Field(
        default=200, description="fresh games of each responder against each part of the target, an even number"
    )


class NewProbeSpec(ProbeSpec):
    """A probe that is asked for."""

    seed: Annotated[int, Field(strict=True, ge=0, le=LARGEST), WHOLE] = Field(
        default=0, description="source of everything random in it"
    )
