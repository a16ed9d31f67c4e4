"""Converts a configuration of Bray's templates (components by `kind`) to a trial file.

What has an equal is converted; everything else is listed, with what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

KINDS = ("model", "agent", "buffer", "source", "actor", "trainer", "render", "config")
LEARNING_RATE = 5e-4
"""Bray's, where a trainer gives none."""
UPDATES_A_GENERATION = 200
"""Gradient steps of one generation of the trial file."""
ROLLOUT_STEPS = 16
TRAIN = "train"
"""The mode in which a component that says `enable: train` is used."""


class NotBray(ValueError):
    """The file is no configuration of Bray's templates."""


@dataclass
class Converted:
    """A trial file, and what could not be converted."""

    trial: dict[str, Any]
    left: list[str] = field(default_factory=list)
    """One line for each field that has no equal: the field, and what to do."""

    @property
    def text(self) -> str:
        """The file, with the list at its end."""
        body = yaml.safe_dump(self.trial, sort_keys=False, allow_unicode=True, width=110)
        notes = "".join(f"# - {line}\n" for line in self.left)
        head = "# Converted from a configuration of Bray. What has no equal is listed at the end.\n\n"
        return f"{head}{body}\n# Not converted:\n{notes}" if notes else head + body


def convert_bray(config: Any) -> Converted:
    """The trial file of a configuration; raises NotBray."""
    if not isinstance(config, Mapping):
        raise NotBray("a configuration of Bray is a mapping of components")
    parts = {name: dict(part) for name, part in config.items() if isinstance(part, Mapping) and "kind" in part}
    unknown = [f"{name}: kind {part['kind']!r}" for name, part in parts.items() if part["kind"] not in KINDS]
    if unknown:
        raise NotBray(f"{', '.join(unknown)}; Bray's kinds are {', '.join(KINDS)}")
    off = {name: part["enable"] for name, part in parts.items() if part.get("enable") not in (None, True, TRAIN)}
    used = {name: _without(part, off) for name, part in parts.items() if name not in off}
    if not any(part["kind"] in ("model", "trainer") for part in used.values()):
        raise NotBray("there is no component of the kind model or trainer in it that is enabled in training")
    return _Conversion(dict(config), used, off).run()


def _without(part: Mapping[str, Any], off: Mapping[str, Any]) -> dict[str, Any]:
    """A component that names no component that is off; weights of buffers go with their buffers."""
    made = dict(part)
    buffers, weights = part.get("buffers"), part.get("buffer_weights")
    if isinstance(buffers, list) and isinstance(weights, list):
        made["buffer_weights"] = [
            weight for name, weight in zip(buffers, weights, strict=False) if str(name) not in off
        ]
    for option in ("buffers", "sources", "agents"):
        if isinstance(named := part.get(option), list):
            made[option] = [name for name in named if str(name) not in off]
    if isinstance(evaluation := part.get("eval"), Mapping) and str(evaluation.get("buffer")) in off:
        made["eval"] = None
    return made


class _Conversion:
    """One configuration. Each method takes the fields that it understands out of a component; the rest is listed."""

    def __init__(self, config: dict[str, Any], parts: dict[str, dict[str, Any]], off: Mapping[str, Any]) -> None:
        self._config, self._parts = config, parts
        self._trained: set[str] = set()
        """Models that are players of their own."""
        self._left = [f"{name}: left out, since it says enable: {_yaml(enable)}" for name, enable in off.items()]

    def run(self) -> Converted:
        """The trial file, section by section."""
        trial: dict[str, Any] = {
            "project": _name(self._config.get("project", "default")),
            "trial": _name(self._config.get("trial", "trial")),
            "game": self._game(),
        }
        trainer_name, trainer = self._first("trainer")
        rows = self._rows(trainer)
        trial["algorithm"] = self._algorithm(trainer_name, trainer, rows)
        trial["league"] = {"preset": "self_play", "champion_gate": None, **self._players(trainer)}
        trial["model"] = self._model()
        trial["generation"] = self._generation(trainer, rows)
        trial["budget"] = {"steps": max(rows, round(float(trainer.pop("num_steps", 0) or 10_000) * rows))}
        trial |= {"mode": "serve"} if self._config.get("mode") == "serve" else {}
        self._top_level()
        self._others()
        return Converted(trial, self._left)

    def _players(self, first: Mapping[str, Any]) -> dict[str, Any]:
        """A player for each trainer, where there are several: each has its own model and algorithm."""
        trainers = list(self._of("trainer"))
        if len(trainers) < 2:
            return {}
        players: list[dict[str, Any]] = [{"name": _name(first.get("model") or trainers[0][0]), "role": "main"}]
        for name, trainer in trainers[1:]:
            model = str(trainer.get("model") or name)
            module = self._parts.get(model, {}).pop("module", model)
            self._trained.add(model)
            players.append(
                {
                    "name": _name(model),
                    "role": "main",
                    "model": {"id": f"{module}:build_model"},
                    "algorithm": self._algorithm(name, trainer, self._rows(trainer)),
                }
            )
            for option in ("num_steps", "num_workers", "use_gpu", "weights_publish_interval"):
                if (value := trainer.pop(option, None)) is not None:
                    self._leave(f"{name}.{option}", f"{value!r}: all players of a trial share the first trainer's")
        return {"players": players}

    def _of(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        return ((name, part) for name, part in self._parts.items() if part["kind"] == kind)

    def _first(self, kind: str) -> tuple[str, dict[str, Any]]:
        return next(self._of(kind), ("", {}))

    def _leave(self, path: str, words: str) -> None:
        self._left.append(f"{path}: {words}")

    def _game(self) -> dict[str, Any]:
        """The games call in by a gateway; agents sit between them and the model."""
        agents = [f"{part.pop('module', name)}:{part.pop('class', 'Agent')}" for name, part in self._of("agent")]
        game: dict[str, Any] = {"id": "remote"}
        if agents:
            game["agent"] = agents[0] if len(agents) == 1 else agents
        game["spec"] = self._spaces()
        _, actor = self._first("actor")
        if length := actor.pop("episode_length", None):
            game["episode_length"] = int(length)
        if every := actor.pop("episode_save_interval", None):
            game["dump"] = {"every": int(every), **self._render()}
        return game

    def _spaces(self) -> dict[str, Any]:
        """Seats and spaces; what the configuration does not say is listed."""
        spec: dict[str, Any] = {
            "observation": {"type": "box", "shape": [1]},
            "action": {"type": "discrete", "n": 2},
            "seats": 1,
        }
        found = set()
        for _, network in self._of("config"):
            if isinstance(shape := network.get("state_space"), list):
                spec["observation"]["shape"] = network.pop("state_space", shape)
                found.add("observation")
            if isinstance(network.get("action_space"), int):
                spec["action"]["n"] = network.pop("action_space")
                found.add("action")
        for space in ("observation", "action"):
            if space not in found:
                self._leave(f"game.spec.{space}", "is a placeholder: describe it")
        self._leave("game.spec.seats", "1 seat is assumed; say how many players of yours one game has")
        return spec

    def _render(self) -> dict[str, Any]:
        found = [f"{part.pop('module', name)}:{part.pop('func', 'render')}" for name, part in self._of("render")]
        return {"render": found[0] if len(found) == 1 else found} if found else {}

    def _model(self) -> dict[str, Any]:
        models = list(self._of("model"))
        if not models:
            return {"id": "mlp"}
        name, model = models[0]
        if (checkpoint := model.pop("checkpoint", None)) is not None:
            self._leave(f"{name}.checkpoint", f"{checkpoint}: save its state_dict as safetensors, say initial_weights")
        for other, part in models[1:]:
            if other in self._trained:
                continue
            target = f"{part.get('module', other)}:build_model"
            self._leave(other, f"a second model: a player of its own, as model: {{id: '{target}'}} in league.players")
        return {"id": f"{model.pop('module', name)}:build_model"}

    def _rows(self, trainer: Mapping[str, Any]) -> int:
        """Rows of one gradient step: batches of the buffer, in batches of the trainer."""
        named = [self._parts[name] for name in trainer.get("buffers", ()) if name in self._parts]
        sizes = [int(part.get("batch_size") or 1) for part in named] or [128]
        return max(1, max(sizes) * int(trainer.get("batch_size") or 1))

    def _algorithm(self, name: str, trainer: dict[str, Any], rows: int) -> dict[str, Any]:
        sources, weight, weights = self._sources(trainer)
        plays = any(
            not self._parts[buffer].get("sources") for buffer in trainer.get("buffers", ()) if buffer in self._parts
        )
        kind = ("sl_rl" if plays else "bc") if sources else "ppo"
        options: dict[str, Any] = {
            "id": kind,
            "learning_rate": float(trainer.pop("learning_rate", None) or LEARNING_RATE),
            "gradient_clip": float(trainer.pop("clip_grad_max_norm", None) or 0.0),
            "minibatch": rows,
        }
        if kind != "bc":
            options |= {"epochs": int(trainer.pop("max_reuse", None) or 1), "rollout_steps": ROLLOUT_STEPS}
        if sources:
            options["dataset"] = sources
        if len(set(weights)) > 1:
            options["dataset_weights"] = weights
        if kind == "bc" and (ahead := trainer.pop("prefetch_size", None)):
            options["prefetch"] = int(ahead)
        if kind == "sl_rl" and weight is not None:
            options["imitation"] = weight
        if (evaluation := trainer.pop("eval", None)) and sources:
            options |= self._validation(evaluation)
        module, made = trainer.pop("module", None), trainer.pop("class", None)
        if module:
            words = f"{module}:{made}: its loss goes into a subclass of lanista.algorithms.Algorithm; {kind} until then"
            self._leave(f"{name}.class", words)
        return options

    def _sources(self, trainer: Mapping[str, Any]) -> tuple[list[str], float | None, list[float]]:
        """The sources that the trainer learns from, their share of its samples, and the weight of each."""
        buffers = list(trainer.get("buffers", ()))
        weights = [float(weight) for weight in trainer.get("buffer_weights") or [1.0] * len(buffers)]
        found: list[str] = []
        each: list[float] = []
        share = 0.0
        for buffer, weight in zip(buffers, weights, strict=False):
            named = self._parts.get(buffer, {}).get("sources") or ()
            found += [self._source(name) for name in named]
            each += [weight / len(named) for _ in named]
            share += weight if named else 0.0
        return found, round(share / sum(weights), 4) if weights and sum(weights) else None, each

    def _source(self, name: str) -> str:
        part = self._parts.get(name, {})
        return f"{part.get('module', name)}:{part.get('func', 'build_source')}"

    def _validation(self, evaluation: Mapping[str, Any]) -> dict[str, Any]:
        named = self._parts.get(str(evaluation.get("buffer")), {}).get("sources") or ()
        every = {"validation_every": int(evaluation["interval"])} if evaluation.get("interval") else {}
        every |= {"validation_batches": int(evaluation["steps"])} if evaluation.get("steps") else {}
        return {**({"validation_dataset": [self._source(name) for name in named]} if named else {}), **every}

    def _generation(self, trainer: dict[str, Any], rows: int) -> dict[str, Any]:
        _, actor = self._first("actor")
        processes = int(actor.pop("num_workers", None) or 1)
        tables = int(actor.pop("actors_per_worker", None) or 1)
        generation: dict[str, Any] = {
            "steps": rows * UPDATES_A_GENERATION,
            "rollout_actors": processes,
            "tables": tables,
        }
        if trainers := trainer.pop("num_workers", None):
            generation |= {"trainers": int(trainers), "topology": "split"}
        if trainer.pop("use_gpu", None):
            generation["device"] = "cuda"
        if (interval := trainer.pop("weights_publish_interval", None)) and int(interval) > 1:
            generation |= {"publish_every": int(interval), "topology": "asynchronous"}
        if cpus := actor.pop("cpus_per_worker", None):
            generation["cpus"] = float(cpus)
        if memory := actor.pop("memory_per_worker", None):
            generation["memory_mb"] = int(memory)
        return generation

    def _top_level(self) -> None:
        if (mode := self._config.get("mode", "train")) not in ("train", "serve"):
            self._leave("mode", f"{mode}: a trial file has mode: train, or mode: serve for `lanista serve --trial`")
        if self._config.get("dump_state"):
            self._leave("dump_state", "game.dump keeps games tick by tick")

    def _others(self) -> None:
        """What is left of every component."""
        for name, part in self._parts.items():
            for option, value in part.items():
                words = _ADVICE.get((part["kind"], option))
                if option == "kind" or value is None or option in _CONVERTED.get(part["kind"], ()):
                    continue
                self._leave(f"{name}.{option}", f"{value!r}: {words or 'has no equal; it is not needed, or is code'}")


_CONVERTED = {
    "agent": ("enable",),
    "source": ("module", "func", "enable"),
    "buffer": ("sources", "batch_size", "enable"),
    "trainer": ("buffers", "buffer_weights", "model", "enable", "batch_size"),
    "actor": ("agents", "enable"),
    "model": ("enable",),
    "render": ("enable",),
    "config": ("enable",),
}
"""Options that were read above and need no line of their own."""
_ADVICE = {
    ("model", "checkpoint_interval"): "every generation is recorded as a version; see generation.steps",
    ("model", "max_batch_size"): "decisions are batched by themselves",
    ("model", "num_workers"): "inference runs in the rollout processes and gateways",
    ("model", "use_onnx"): "`lanista model export --format onnx`",
    ("source", "epoch"): "a data set is passed over as long as the budget lasts",
    ("source", "num_workers"): "files are read by the training process",
    ("buffer", "size"): "algorithms with a replay buffer have capacity, in decisions",
    ("buffer", "num_workers"): "buffers live in the training processes",
    ("buffer", "density"): "there are no connections to tune",
    ("actor", "port"): "the gateway has ports of its own, for all trials",
    ("actor", "use_tcp"): "the gateway takes HTTP and TCP, Bray's frames too",
    ("actor", "use_gateway"): "`lanista gateway` runs on any node",
    ("actor", "serialize"): "an agent names its serializer",
    ("actor", "tick_input_proto"): "an agent names its messages",
    ("actor", "tick_output_proto"): "an agent names its messages",
    ("render", "module"): "functions draw the games that are kept, which needs actor.episode_save_interval",
    ("trainer", "batch_kind"): "rows of a batch are concatenated; recurrent models get sequences",
    ("trainer", "prefetch_size"): "own games are learnt from as they come; bc and iql have prefetch",
    ("trainer", "cpus_per_worker"): "generation.cpus is for all processes of a crew",
}


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _name(text: object) -> str:
    name = re.sub(r"[^a-z0-9-]+", "-", str(text).lower()).strip("-")[:63]
    return name or "trial"
