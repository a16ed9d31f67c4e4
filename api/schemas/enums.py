"""Enums of columns and answers; more are in `league.types`."""

from __future__ import annotations

from enum import StrEnum


class TrialStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        return self in (TrialStatus.STOPPED, TrialStatus.COMPLETED, TrialStatus.FAILED)


class TrialSort(StrEnum):
    """An order of trials; with a hyphen it falls."""

    NEWEST = "-created"
    OLDEST = "created"
    NAME = "name"
    NAME_FALLING = "-name"
    PROJECT = "project"
    PROJECT_FALLING = "-project"
    GAME = "game"
    GAME_FALLING = "-game"
    STATUS = "status"
    STATUS_FALLING = "-status"
    STEPS = "steps"
    STEPS_FALLING = "-steps"


class SearchKind(StrEnum):
    """What a search finds."""

    TRIAL = "trial"
    PLAYER = "player"
    VERSION = "version"
    TOURNAMENT = "tournament"
    SWEEP = "sweep"


class TrialKind(StrEnum):
    """What a trial is for."""

    LEAGUE = "league"
    """League training."""
    PROJECT_BOTS = "project_bots"
    """Holds the bots that a whole project shares. It never runs and no list shows it."""


class CommitKind(StrEnum):
    """What changed the league at a commit."""

    CREATED = "created"
    """Commit 0: the trial itself, with its first players and versions."""
    GENERATION = "generation"
    SNAPSHOT = "snapshot"
    RESET = "reset"
    ROLLBACK = "rollback"
    IMPORT = "import"
    ROSTER = "roster"
    """A player added, retired or retuned."""
    PAIRING = "pairing"
    """Rating games that count in the trial's payoff."""
    COPY = "copy"
    """A member of a population took over another one's weights."""


class PlayerStatus(StrEnum):
    ACTIVE = "active"
    RETIRED = "retired"


class VersionOrigin(StrEnum):
    """How a model version was made."""

    INITIAL = "initial"
    IMPORTED = "imported"
    TRAINED = "trained"
    SNAPSHOT = "snapshot"
    RESET = "reset"
    ROLLBACK = "rollback"
    FORK = "fork"
    BOT = "bot"
    """A scripted player: it has a version, so that games can name it, but no checkpoint."""
    COPY = "copy"
    """A member of a population took over another one's weights."""


class AliasMove(StrEnum):
    PROMOTED = "promoted"
    SET = "set"
    ROLLED_BACK = "rolled_back"


class GateStatus(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    EXHAUSTED = "exhausted"
    """The allowed games ran out before the test decided."""
    INVALID = "invalid"
    """Stopped early by an operator: no verdict."""
    SUPERSEDED = "superseded"
    """A newer candidate took its place while it waited."""


class CanaryStatus(StrEnum):
    """What the league's test says of a canary so far."""

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"


class MatchResult(StrEnum):
    """The result for the match's first-named version."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


class TournamentFormat(StrEnum):
    ROUND_ROBIN = "round_robin"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"
    KNOCKOUT = "knockout"
    ADAPTIVE = "adaptive"


class TournamentPurpose(StrEnum):
    """Why a tournament was created."""

    REQUEST = "request"
    """A user's request."""
    SCHEDULE = "schedule"
    """One firing of a schedule."""
    FIELD_EVALUATION = "field_evaluation"
    """Measures a generation against a field of its trial, by a tournament workflow of its own."""
    TARGET_EVALUATION = "target_evaluation"
    """Measures a generation against the trial's target; the player's workflow plays it."""


class TournamentStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


class ProbeStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        return self in (ProbeStatus.STOPPED, ProbeStatus.COMPLETED, ProbeStatus.FAILED)


class SweepStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        return self in (SweepStatus.STOPPED, SweepStatus.COMPLETED, SweepStatus.FAILED)


class SweepVerdict(StrEnum):
    """What is decided about a trial at a rung of its sweep."""

    GO_ON = "go_on"
    STOP = "stop"
    """Stopped early: others are better."""
    COMPLETE = "complete"
    """The last rung: its budget is used up."""


class PairingStatus(StrEnum):
    PLANNED = "planned"
    PLAYED = "played"
    CANCELLED = "cancelled"


class Overlap(StrEnum):
    """What a schedule does if its last tournament is still running: Temporal's overlap policies."""

    SKIP = "skip"
    BUFFER_ONE = "buffer_one"
    BUFFER_ALL = "buffer_all"
    CANCEL_OTHER = "cancel_other"
    TERMINATE_OTHER = "terminate_other"
    ALLOW_ALL = "allow_all"


class RatingMethod(StrEnum):
    BRADLEY_TERRY = "bradley_terry"
    ELO_ONLINE = "elo_online"
    OPENSKILL = "openskill"
    ALPHA_RANK = "alpha_rank"
    NASH_AVERAGING = "nash_averaging"

    @property
    def depends_on_order(self) -> bool:
        """Whether ratings are updated game by game, so that the order of games matters. For the live view only."""
        return self in (RatingMethod.ELO_ONLINE, RatingMethod.OPENSKILL)


class Scope(StrEnum):
    """The permissions of a token; each scope includes the lower ones."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    CODE = "code"
    """Besides the names of the catalog, names of code: `module:attr`, environments of one's own."""
    ADMIN = "admin"


class AlertKind(StrEnum):
    """What a rule sends messages about."""

    TRIAL_FAILED = "trial_failed"
    """A trial ended as failed."""
    STALLED = "stalled"
    """An attempt made no progress for too long, or nothing at all was recorded of a running trial."""
    SETBACK = "setback"
    """An attempt failed, a checkpoint was damaged, an entrant withdrawn or a workflow lost."""
    NEW_CHAMPION = "new_champion"
    """An alias moved to another version."""
    TARGET_REACHED = "target_reached"
    """A trial completed because a player reached the target of its budget."""
    SCHEDULE_RESULT = "schedule_result"
    """A schedule's tournament ended, or could not be opened."""


class ChannelKind(StrEnum):
    """How a channel's messages are sent."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    EMAIL = "email"


class DeliveryStatus(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    """Given up after LANISTA_ALERT_RETRY_HOURS."""
