"""Schedules: a rate that falls (or rises) from a start to an end over some environment steps, and stays there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from orchestrator.spec.algorithms.base import ExploreOptions

Shape = Callable[[float, float, float], float]
"""Start, end and the share of the way that is done, in [0, 1] -> the rate."""


def linear(start: float, end: float, done: float) -> float:
    """start + done * (end - start)."""
    return start + done * (end - start)


def exponential(start: float, end: float, done: float) -> float:
    """start * (end / start) ** done: equal factors in equal times. Both ends must be above 0."""
    if start <= 0.0 or end <= 0.0:
        raise ValueError(f"an exponential schedule needs rates above 0, not {start} and {end}")
    return float(start * (end / start) ** done)


def cosine(start: float, end: float, done: float) -> float:
    """Half a cosine: slow at both ends."""
    return end + (start - end) * 0.5 * (1.0 + math.cos(math.pi * done))


SHAPES: Mapping[str, Shape] = {"linear": linear, "exponential": exponential, "cosine": cosine}


def scheduled(schedule: str, *, start: float, end: float, over: float, steps: float) -> float:
    """The rate after `steps` of a schedule that takes `over` steps."""
    if schedule not in SHAPES:
        raise ValueError(f"no schedule {schedule!r}; allowed: {', '.join(SHAPES)}")
    done = 1.0 if over <= 0 else min(1.0, max(0.0, steps / over))
    return SHAPES[schedule](start, end, done)


def explore_rate(options: ExploreOptions, steps: int) -> float:
    """The chance of a random action after so many environment steps of the player."""
    return scheduled(
        options.explore_schedule,
        start=options.explore_start,
        end=options.explore_least,
        over=options.explore_steps,
        steps=steps,
    )
