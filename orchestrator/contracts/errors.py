"""Kinds of failure that a workflow acts on; the values are ApplicationError's `type`."""

from __future__ import annotations

from enum import StrEnum


class Failure(StrEnum):
    """Why an attempt failed, as far as it decides what to do next."""

    BAD_INPUT = "bad_input"
    """The input is wrong; never retried."""
    CREW_LOST = "crew_lost"
    """A Ray process or node died; retried at once."""
    STALLED = "stalled"
    """No progress for too long; stopped and retried."""
    STORE_FULL = "store_full"
    """No room for a checkpoint; retried with back-off."""
    STORE_UNAVAILABLE = "store_unavailable"
    """The artifact store cannot be read or written; retried with back-off."""
    DAMAGED_CHECKPOINT = "damaged_checkpoint"
    """A checkpoint does not match its hash; the player is rolled back, with a decision and an event."""
    GAMES_LOST = "games_lost"
    """The file of the played games is missing or damaged; they are played again."""
    STOPPED = "stopped"
    """Asked to stop; nothing was stored."""
    NOT_FOUND = "not_found"
    """The row does not exist; never retried."""
    WORKER_LOST = "worker_lost"
    """No heartbeat came: the worker died or hung. Set by the workflow, or by a killed worker's successor."""
    KEY_UNKNOWN = "key_unknown"
    """A worker does not have the key that its input is sealed with; retried with back-off, since keys can be added."""
    USER_CODE = "user_code"
    """Code of the user's raised; tried once more, and final where it raises the same again."""
    NO_GAMECORE = "no_gamecore"
    """No process of a game that calls in is connected; tried again until one is."""
    UNKNOWN = "unknown"
    """Anything else; retried with back-off."""
