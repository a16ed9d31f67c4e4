"""The code that a trial's players run: of its file, of players that were added, and of where its weights come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.tables import ModelVersion, Player, Trial
from api.store.trials.spec import algorithm_choice, model_choice, spec_of
from orchestrator.spec.code_names import CodeName, Path, code_in_choice, code_in_trial, is_code
from orchestrator.spec.values import is_id


def code_of_trial(session: Session, trial: Trial) -> list[CodeName]:
    """Every name of code that the trial runs, each once: its file may name fewer than its league has by now."""
    found = [*code_in_trial(spec_of(trial)), *code_of_members(session, trial), *inherited_code(session, trial)]
    return list({each.name: each for each in reversed(found)}.values())[::-1]


def code_of_members(session: Session, trial: Trial, path: Path = ()) -> list[CodeName]:
    """The code of players that have a bot, a model or an algorithm of their own; a snapshot has that of its parent."""
    players = session.scalars(
        select(Player).where(Player.trial_id == trial.id, Player.parent_id.is_(None)).order_by(Player.id)
    )
    return [name for player in players for name in code_of_player(player, (*path, "players", player.name))]


def code_of_player(player: Player, path: Path) -> list[CodeName]:
    """The code of a player's own bot, model and algorithm."""
    found = [CodeName(path=(*path, "bot"), name=player.bot)] if player.bot is not None and is_code(player.bot) else []
    if player.model is not None:
        found += code_in_choice(model_choice(player.model), (*path, "model"))
    if player.algorithm is not None:
        found += code_in_choice(algorithm_choice(player.algorithm), (*path, "algorithm"))
    return found


def inherited_code(session: Session, trial: Trial, path: Path = ()) -> list[CodeName]:
    """The code of the algorithms that the trial's weights come from, by forks and by weights that its file names.

    A checkpoint may name the algorithm that it was made by, and acts by it.
    """
    found: list[CodeName] = []
    seen, waiting = {trial.id}, [trial]
    while waiting:
        present = waiting.pop()
        origins = {present.forked_from_trial_id} - {None}
        for version, owner in _named_versions(session, present):
            origins.add(version.trial_id)
            if owner.algorithm is not None:
                found += code_in_choice(algorithm_choice(owner.algorithm), (*path, "weights", owner.name, "algorithm"))
        for origin in _trials(session, origins - seen):
            found += code_in_choice(spec_of(origin).algorithm, (*path, "weights", origin.name, "algorithm"))
            seen.add(origin.id)
            waiting.append(origin)
    return found


def _named_versions(session: Session, trial: Trial) -> list[tuple[ModelVersion, Player]]:
    spec = spec_of(trial)
    sources = [spec.initial_weights, *(player.weights for player in spec.league.players)]
    named = [source.lower() for source in sources if source is not None and is_id(source)]
    if not named:
        return []
    query = select(ModelVersion, Player).join(Player, Player.id == ModelVersion.player_id)
    rows = session.execute(query.where(ModelVersion.id.in_(named)).order_by(ModelVersion.id))
    return [(version, owner) for version, owner in rows]


def _trials(session: Session, ids: Iterable[str | None]) -> Sequence[Trial]:
    return session.scalars(select(Trial).where(Trial.id.in_([*ids])).order_by(Trial.id)).all()
