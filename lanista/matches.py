"""Names for matches between checkpoints and bots: `from lanista.matches import MatchTask, play_match`."""

from league.types import VersionId
from workers.matches.annotate import Annotation, annotate
from workers.matches.play import play_match
from workers.matches.result import GameRecord, MatchResult
from workers.matches.task import BadMatch, Entrant, MatchStopped, MatchTask, Randomness

__all__ = [
    "Annotation",
    "BadMatch",
    "Entrant",
    "GameRecord",
    "MatchResult",
    "MatchStopped",
    "MatchTask",
    "Randomness",
    "VersionId",
    "annotate",
    "play_match",
]
