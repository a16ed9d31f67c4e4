"""The typed models, one file per subject. Importing this package fills `Base.metadata` with every table."""

from api.store.tables.access import ApiToken, AuditEntry, BrowserSession, IdempotencyKey
from api.store.tables.alerts import AlertChannel, AlertDelivery, AlertRule
from api.store.tables.aliases import Alias, AliasEvent, CanaryResult
from api.store.tables.base import Base
from api.store.tables.decisions import Decision
from api.store.tables.events import EVENTS_CHANNEL, Event
from api.store.tables.gates import Gate, GateBatch
from api.store.tables.generations import Generation, LineupTally, Metric, ReturnTally, Tally
from api.store.tables.installation import Installation
from api.store.tables.matches import Match
from api.store.tables.payoffs import Payoff
from api.store.tables.people_games import PeopleGame
from api.store.tables.players import ModelVersion, Player
from api.store.tables.probes import Probe, ProbeTrial
from api.store.tables.pruned import PrunedVersion
from api.store.tables.ratings import Rating, RatingCovariance, RatingFit
from api.store.tables.schedules import Schedule
from api.store.tables.shares import ShareLink
from api.store.tables.sweeps import Sweep, SweepDecision, SweepTrial, SweepValue
from api.store.tables.tournaments import Pairing, Tournament, TournamentEntrant
from api.store.tables.trials import Commit, Project, Trial

__all__ = [
    "EVENTS_CHANNEL",
    "AlertChannel",
    "AlertDelivery",
    "AlertRule",
    "Alias",
    "AliasEvent",
    "ApiToken",
    "AuditEntry",
    "Base",
    "BrowserSession",
    "CanaryResult",
    "Commit",
    "Decision",
    "Event",
    "Gate",
    "GateBatch",
    "Generation",
    "IdempotencyKey",
    "Installation",
    "LineupTally",
    "Match",
    "Metric",
    "ModelVersion",
    "Pairing",
    "Payoff",
    "PeopleGame",
    "Player",
    "Probe",
    "ProbeTrial",
    "Project",
    "PrunedVersion",
    "Rating",
    "RatingCovariance",
    "RatingFit",
    "ReturnTally",
    "Schedule",
    "ShareLink",
    "Sweep",
    "SweepDecision",
    "SweepTrial",
    "SweepValue",
    "Tally",
    "Tournament",
    "TournamentEntrant",
    "Trial",
]
