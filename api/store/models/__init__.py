"""The typed models, one file per subject. Importing this package fills `Base.metadata` with every table."""

from api.store.models.access import ApiToken, AuditEntry, IdempotencyKey
from api.store.models.aliases import Alias, AliasEvent
from api.store.models.base import Base
from api.store.models.decisions import Decision
from api.store.models.events import EVENTS_CHANNEL, Event
from api.store.models.gates import Gate, GateBatch
from api.store.models.generations import Generation, Metric, ReturnTally, Tally
from api.store.models.installation import Installation
from api.store.models.matches import Match
from api.store.models.payoffs import Payoff
from api.store.models.people_games import PeopleGame
from api.store.models.players import ModelVersion, Player
from api.store.models.ratings import Rating, RatingCovariance, RatingFit
from api.store.models.schedules import Schedule
from api.store.models.tournaments import Pairing, Tournament, TournamentEntrant
from api.store.models.trials import Commit, Project, Trial

__all__ = [
    "EVENTS_CHANNEL",
    "Alias",
    "AliasEvent",
    "ApiToken",
    "AuditEntry",
    "Base",
    "Commit",
    "Decision",
    "Event",
    "Gate",
    "GateBatch",
    "Generation",
    "IdempotencyKey",
    "Installation",
    "Match",
    "Metric",
    "ModelVersion",
    "Pairing",
    "Payoff",
    "PeopleGame",
    "Player",
    "Project",
    "Rating",
    "RatingCovariance",
    "RatingFit",
    "ReturnTally",
    "Schedule",
    "Tally",
    "Tournament",
    "TournamentEntrant",
    "Trial",
]
