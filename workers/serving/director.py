"""The director of a serving gateway: sessions play with the version that an alias names, or with its canary.

No trainer, no database and no API is in the request path: versions are put here by whoever follows the alias.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workers.gateway.contract import Cast, Episode, Model, Refused, SeatCast, SessionResult
from workers.gateway.recording.options import DUMP
from workers.serving.comparison import Arm, CanaryReport, Comparison
from workers.serving.versions import ServedVersion, check_same_game

MakeModel = Callable[[ServedVersion], Model]
"""What decides for a version: in this process, or through the inference service."""
RETRY_AFTER = 1.0


@dataclass(slots=True)
class Playing:
    """One version and what decides for it."""

    version: ServedVersion
    model: Model


@dataclass(slots=True)
class SessionKey:
    """What the director remembers of a session."""

    version: str
    arm: Arm
    comparison: Comparison | None


class ServingDirector:
    """Casts sessions with the champion, or a share of them with the canary; all calls come from the event loop.

    A session keeps the version it began with, unless `swap_sessions`: then its next tick is decided by the new one.
    """

    def __init__(
        self,
        alias: str,
        make_model: MakeModel,
        *,
        seats: Sequence[int] | None = None,
        swap_sessions: bool = False,
        rng: random.Random | None = None,
        dump: Mapping[str, int] | None = None,
    ) -> None:
        """`dump` says which sessions are recorded, as `game: dump` of a trial does."""
        self.alias = alias
        self._dump = {} if dump is None else {DUMP: dict(dump)}
        self.swaps = 0
        self.sessions: Counter[tuple[str, str]] = Counter()
        """By version and outcome: started, finished, aborted; stateless ticks have none."""
        self.not_compared = 0
        """Sessions that say nothing: no result was declared, or the version played on every team."""
        self._make_model = make_model
        self._seats = None if seats is None else frozenset(seats)
        self._swap_sessions = swap_sessions
        self._rng = rng or random.SystemRandom()
        self._champion: Playing | None = None
        self._canary: Playing | None = None
        self._share = 0.0
        self._comparisons: dict[tuple[str, str], Comparison] = {}

    @property
    def champion(self) -> ServedVersion | None:
        """The version that the alias names; None before the first is there."""
        return None if self._champion is None else self._champion.version

    @property
    def canary(self) -> ServedVersion | None:
        """The version that gets a share of the sessions."""
        return None if self._canary is None else self._canary.version

    @property
    def share(self) -> float:
        """The share of sessions that the canary gets."""
        return self._share if self._canary is not None else 0.0

    def serve(self, version: ServedVersion) -> None:
        """Let sessions play with this version from now on."""
        if self._champion is not None:
            check_same_game(self._champion.version, version)
            self.swaps += 1
        self._check_seats(version)
        self._champion = self._put(self._champion, version)

    def serve_canary(self, version: ServedVersion | None, share: float = 0.0) -> None:
        """Give this version a share of new sessions; None ends it."""
        if version is None:
            self._canary, self._share = None, 0.0
            return
        if self._champion is not None:
            check_same_game(self._champion.version, version)
        self._canary, self._share = self._put(self._canary, version), share

    def cast(self, session: str, ticket: str) -> Cast:
        """See `Director`."""
        champion, canary = self._champion, self._canary
        if champion is None:
            raise Refused(503, f"no version of {self.alias} is loaded yet; try again", RETRY_AFTER)
        differs = canary is not None and canary.version.record.id != champion.version.record.id
        arm = Arm.CANARY if differs and self._rng.random() < self._share else Arm.CHAMPION
        compared = differs and bool(session)  # a tick without a session has no result
        playing = canary if canary is not None and arm is Arm.CANARY else champion
        comparison = self._comparison(champion, canary) if canary is not None and compared else None
        if comparison is not None:
            comparison.open += 1
        record, spec = playing.version.record, playing.version.spec
        self.sessions[record.name, "started" if session else "stateless"] += 1
        return Cast(
            spec=spec,
            seats=[self._seat(playing, seat) for seat in range(spec.seats)],
            seed=self._rng.getrandbits(63),
            info={"purpose": "serving", "alias": self.alias, "version": record.name, **self._dump},
            key=SessionKey(record.name, arm, comparison),
        )

    def episode(self, cast: Cast, episode: Episode) -> None:
        """See `Director`: nothing learns here."""

    def finished(self, cast: Cast, result: SessionResult) -> None:
        """See `Director`."""
        key: SessionKey = cast.key
        self.sessions[key.version, "finished"] += 1
        if key.comparison is None:
            return
        key.comparison.open -= 1
        value = _own_return(cast, result)
        if value is None:
            self.not_compared += 1
        else:
            key.comparison.add(key.arm, value)

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        """See `Director`: a session without a result is not compared."""
        key: SessionKey = cast.key
        self.sessions[key.version, "aborted"] += 1
        if key.comparison is not None:
            key.comparison.open -= 1

    def take_reports(self) -> list[CanaryReport]:
        """Results of canaries since the last call; comparisons that are over are forgotten."""
        reports = [report for each in self._comparisons.values() if (report := each.take()) is not None]
        now = (self._champion, self._canary)
        current = tuple(each.version.record.id for each in now if each is not None)
        self._comparisons = {
            key: comparison for key, comparison in self._comparisons.items() if comparison.open or key == current
        }
        return reports

    def _put(self, playing: Playing | None, version: ServedVersion) -> Playing:
        """The version with its model. With `swap_sessions`, sessions under way hold the same `Playing`'s model."""
        made = self._make_model(version)
        if not self._swap_sessions:
            return Playing(version, made)
        model = playing.model if playing is not None else None
        if isinstance(model, SwappedModel) and dict(model.actor.state_shapes) == dict(made.actor.state_shapes):
            model.swap(made)
            return Playing(version, model)
        return Playing(version, SwappedModel(made))

    def _seat(self, playing: Playing, seat: int) -> SeatCast:
        played = self._seats is None or seat in self._seats
        return SeatCast(name=playing.version.record.name if played else "", model=playing.model if played else None)

    def _check_seats(self, version: ServedVersion) -> None:
        wrong = sorted(seat for seat in self._seats or () if not 0 <= seat < version.spec.seats)
        if wrong:
            raise ValueError(f"seats {wrong}: the game has seats 0 to {version.spec.seats - 1}")

    def _comparison(self, champion: Playing, canary: Playing) -> Comparison:
        key = champion.version.record.id, canary.version.record.id
        return self._comparisons.setdefault(key, Comparison(*key))


class SwappedModel:
    """A model whose weights change under the sessions that hold it. Requests under way are answered by the old one."""

    def __init__(self, model: Model) -> None:
        self.swap(model)

    def swap(self, model: Model) -> None:
        """Let this model decide from now on; it has the same recurrent state."""
        self._model = model
        self.actor, self.version, self.update = model.actor, model.version, model.update
        self.submit = model.submit


def _own_return(cast: Cast, result: SessionResult) -> float | None:
    """The mean return of the seats that the version decided for; None where that says nothing about it."""
    own = sorted(result.played - set(result.outside))
    teams = {cast.spec.teams[seat] for seat in own}
    if not result.scored or not own or len(teams) == cast.spec.team_count > 1:
        return None
    return float(np.mean([result.returns[seat] for seat in own]))
