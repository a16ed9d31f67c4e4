"""Every kind of event: its payload, its sentence, and how much it matters. Pydantic only.

To add a kind, define one subclass of `EventPayload` with `kind="..."` and `text` in the module of its subject, export
it here, write it with `append_events`, and add its row to docs/guides/rest.md. The stream, the page, the command line
and the OpenAPI document take it from here.
"""

from api.schemas.events.base import KINDS, EventPayload, Level
from api.schemas.events.envelope import Event
from api.schemas.events.gates import GateFinished, GateOpened, GatePayload, GateProgress, GateWaiting
from api.schemas.events.players import (
    CheckpointDamaged,
    EvaluationRecorded,
    GenerationRecorded,
    PlayerAdded,
    PlayerCopied,
    PlayerReset,
    PlayerRetired,
    PlayerRetuned,
    PlayerRolledBack,
    PlayerSnapshot,
    VersionRecorded,
)
from api.schemas.events.probes import ProbeCreated, ProbeFinished
from api.schemas.events.progress import Progress
from api.schemas.events.reading import UnknownEvent, read_event
from api.schemas.events.retries import (
    EvaluationDropped,
    EvaluationRetried,
    GateRetried,
    GenerationRetried,
    PairingRetried,
    WeightsRetried,
)
from api.schemas.events.sweeps import SweepCreated, SweepJudged, SweepStatusChanged
from api.schemas.events.tournaments import (
    PairingPlayed,
    ScheduleChanged,
    ScheduleCreated,
    ScheduleDeleted,
    ScheduleFailed,
    TournamentCreated,
    TournamentFinished,
    TournamentJudged,
    TournamentStarted,
    TournamentWithdrawn,
)
from api.schemas.events.trials import (
    AliasMoved,
    CheckpointsPruned,
    ForkOrigin,
    MatchesPruned,
    ProjectChanged,
    RatingsFitted,
    TrialArchived,
    TrialChanged,
    TrialCreated,
    TrialForked,
    TrialStalled,
    TrialStatusChanged,
    WorkflowRestarted,
)
from api.schemas.progress import GenerationProgress

__all__ = [
    "KINDS",
    "AliasMoved",
    "CheckpointDamaged",
    "CheckpointsPruned",
    "EvaluationDropped",
    "EvaluationRecorded",
    "EvaluationRetried",
    "Event",
    "EventPayload",
    "ForkOrigin",
    "GateFinished",
    "GateOpened",
    "GatePayload",
    "GateProgress",
    "GateRetried",
    "GateWaiting",
    "GenerationProgress",
    "GenerationRecorded",
    "GenerationRetried",
    "Level",
    "MatchesPruned",
    "PairingPlayed",
    "PairingRetried",
    "PlayerAdded",
    "PlayerCopied",
    "PlayerReset",
    "PlayerRetired",
    "PlayerRetuned",
    "PlayerRolledBack",
    "PlayerSnapshot",
    "ProbeCreated",
    "ProbeFinished",
    "Progress",
    "ProjectChanged",
    "RatingsFitted",
    "ScheduleChanged",
    "ScheduleCreated",
    "ScheduleDeleted",
    "ScheduleFailed",
    "SweepCreated",
    "SweepJudged",
    "SweepStatusChanged",
    "TournamentCreated",
    "TournamentFinished",
    "TournamentJudged",
    "TournamentStarted",
    "TournamentWithdrawn",
    "TrialArchived",
    "TrialChanged",
    "TrialCreated",
    "TrialForked",
    "TrialStalled",
    "TrialStatusChanged",
    "UnknownEvent",
    "VersionRecorded",
    "WeightsRetried",
    "WorkflowRestarted",
    "read_event",
]
