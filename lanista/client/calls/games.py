"""Calls about single games: replays, and playing against a version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lanista.client.calls.call import Call, Listing, TrialRef, change, get, path_to, trial_path

if TYPE_CHECKING:
    from api.schemas.games import Game, PeopleCounts, PeopleGameSummary, PeopleReplay, Replay
    from api.schemas.matches import HeadToHead, OpeningNames
    from api.schemas.recorded_games import RecordedGame


def replay(
    match_id: int,
    *,
    seat: int | None = None,
    annotate: str | None = None,
    search: int | None = None,
    first: int | None = None,
) -> Call[Replay]:
    """A match move by move, as a seat sees it; `annotate` adds a version's probabilities and values.

    With `search` that version also searches each position, with so many simulations. With `first` the answer is a part
    that begins at this position, and its `next` says where the following part begins.
    """
    from api.schemas.games import Replay

    query = {"seat": seat, "annotate": annotate, "search": search, "first": first}
    return get(path_to("matches", str(match_id), "replay"), Replay, query)


def head_to_head(version_id: str, opponent_version_id: str) -> Call[HeadToHead]:
    """The recorded games of two versions against each other, by seat and by opening, with 95 % intervals."""
    from api.schemas.matches import HeadToHead

    return get(path_to("versions", version_id, "against", opponent_version_id), HeadToHead)


def opening_names(version_id: str, opponent_version_id: str) -> Call[OpeningNames]:
    """What people call the moves of the openings in `head_to_head`."""
    from api.schemas.matches import OpeningNames

    return get(path_to("versions", version_id, "against", opponent_version_id, "openings"), OpeningNames)


def begin_game(
    version_id: str,
    *,
    seat: int = 0,
    seed: int | None = None,
    sampled: bool | None = None,
    search: int | None = None,
    start: dict[str, Any] | None = None,
) -> Call[Game]:
    """Start a game of a person against a version; seat 0 moves first. With `search` the version searches.

    `start` is a position of a recorded game: `{"match_id": 17, "moves": 6}`, or with the `game_id` of a person's game.
    """
    from api.schemas.games import Game

    body = {"version_id": version_id, "seat": seat, "seed": seed, "sampled": sampled, "search": search}
    return change("POST", path_to("play"), Game, {**body, "start": start})


def game(game_id: str) -> Call[Game]:
    """One game against a version."""
    from api.schemas.games import Game

    return get(path_to("play", game_id), Game)


def make_move(game_id: str, *, action: int | None = None, numbers: Sequence[float] | None = None) -> Call[Game]:
    """Make a move, by the action's number or, where actions are not Discrete, by its numbers."""
    from api.schemas.games import Game

    body = {"action": action, "numbers": None if numbers is None else list(numbers)}
    return change("POST", path_to("play", game_id, "moves"), Game, body)


def people_games(trial: TrialRef, *, version_id: str | None = None, page_size: int = 100) -> Listing[PeopleGameSummary]:
    """Finished games of people against versions of a trial, the newest first. They count in no rating and no payoff."""
    from api.schemas.games import PeopleGameSummary

    path = trial_path(trial, "people-games")
    return Listing(path=path, item=PeopleGameSummary, query={"version_id": version_id}, page_size=page_size)


def people_counts(trial: TrialRef) -> Call[PeopleCounts]:
    """How many of these games people won, drew and lost."""
    from api.schemas.games import PeopleCounts

    return get(trial_path(trial, "people-games", "counts"), PeopleCounts)


def people_replay(game_id: str, *, annotate: str | None = None, first: int | None = None) -> Call[PeopleReplay]:
    """A person's finished game move by move; `annotate` adds a version's probabilities and values."""
    from api.schemas.games import PeopleReplay

    return get(path_to("play", game_id, "replay"), PeopleReplay, {"annotate": annotate, "first": first})


def recorded_games(trial: TrialRef, *, page_size: int = 100) -> Listing[RecordedGame]:
    """Games of outside processes that were kept, the newest first."""
    from api.schemas.recorded_games import RecordedGame

    return Listing(path=trial_path(trial, "recorded-games"), item=RecordedGame, page_size=page_size)


def recorded_game(trial: TrialRef, game_id: str) -> Call[bytes]:
    """The file of a recorded game, which `lanista gamecore replay` takes."""
    path = trial_path(trial, "recorded-games", game_id)
    return Call(method="GET", path=path, read=lambda response: response.content)


def recorded_game_picture(trial: TrialRef, game_id: str) -> Call[bytes]:
    """A recorded game as a GIF, drawn by the function that the trial names."""
    path = trial_path(trial, "recorded-games", game_id, "picture")
    return Call(method="GET", path=path, read=lambda response: response.content)
