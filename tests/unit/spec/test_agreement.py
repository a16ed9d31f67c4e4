"""The trial file's options are those of what they configure: same names, same defaults, so the two cannot drift."""

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any

import pytest
from pydantic import ValidationError
from pydantic_core import PydanticUndefined

from league.gates.likelihood_ratio import MODELS as ELO_MODELS
from league.gates.sprt import Sprt
from league.lifecycle import ResetRule, SnapshotRule
from league.matchmaking import BUILT_INS
from league.matchmaking.alphastar import AlphaStarOptions
from league.matchmaking.fixed import FixedOptions
from league.matchmaking.meta_strategies import META_STRATEGIES
from league.matchmaking.openai_five import OpenAiFiveOptions
from league.matchmaking.pfsp import WEIGHTINGS
from league.matchmaking.psro import PsroOptions
from league.matchmaking.self_play import NoOptions, PastOptions, PfspOptions
from league.payoff import Payoff
from orchestrator import catalog
from orchestrator.catalog import Kind
from orchestrator.contracts.generations import GenerationTask, Topology
from orchestrator.spec.algorithms.choice import BUILT_IN_ALGORITHMS
from orchestrator.spec.components import Choice
from orchestrator.spec.game import BuiltInGame, EnvPoolGame, GymnasiumGame, OpenSpielGame, PettingZooGame
from orchestrator.spec.generation import GenerationSpec, OpeningsSpec
from orchestrator.spec.judgement import GateSpec, PayoffSpec, ResetSpec, SnapshotSpec
from orchestrator.spec.matchmaking import MATCHMAKING, PfspMatchmaking, Preset, PsroMatchmaking
from orchestrator.spec.model import ConvModel, ConvResModel, GruModel, MlpModel, NatureModel
from orchestrator.spec.remote import BoxSpace, DiscreteSpace, RemoteGame, RemoteSpec
from orchestrator.spec.section import Section
from workers.algorithms.contract import algorithm_class, parse_options
from workers.games.names import make_game
from workers.games.protocol import GameSpec
from workers.models.contract import build_model
from workers.models.normalised import Normalised
from workers.rollout.openings import OpeningRules

MODELS: list[Choice] = [
    MlpModel(),
    ConvModel(id="conv"),
    ConvResModel(id="convres"),
    NatureModel(id="nature"),
    GruModel(id="gru"),
]
ALGORITHMS: list[Choice] = [
    kind(id=name, **({"dataset": ("games.npz",)} if kind.data_files else {}))
    for name, kind in BUILT_IN_ALGORITHMS.items()
]
ADAPTERS: list[Choice] = [
    OpenSpielGame(id="openspiel", game="tic_tac_toe"),
    GymnasiumGame(id="gymnasium", env="CartPole-v1"),
    EnvPoolGame(id="envpool", env="CartPole-v1"),
    PettingZooGame(id="pettingzoo_aec", env="classic/tictactoe_v3"),
    PettingZooGame(id="pettingzoo_parallel", env="classic/rps_v2"),
    RemoteGame(
        id="remote",
        agent="a:B",
        spec=RemoteSpec(
            observation=BoxSpace(type="box", shape=(2,)), action=DiscreteSpace(type="discrete", n=3), seats=2
        ),
    ),
]
PLAIN = sorted(set(catalog.built_in_names(Kind.GAME)) - {choice.id for choice in ADAPTERS})
GAMES: list[Choice] = [*(BuiltInGame(id=name) for name in PLAIN), *ADAPTERS]
RULES: Mapping[Preset, type[Any]] = {
    Preset.SELF_PLAY: NoOptions,
    Preset.FICTITIOUS: PastOptions,
    Preset.PFSP: PfspOptions,
    Preset.ALPHASTAR: AlphaStarOptions,
    Preset.OPENAI_FIVE: OpenAiFiveOptions,
    Preset.PSRO: PsroOptions,
    Preset.FIXED: FixedOptions,
}


def defaults_of(section: type[Section]) -> dict[str, Any]:
    return {
        name: field.default for name, field in section.model_fields.items() if field.default is not PydanticUndefined
    }


def choices_of(section: type[Section], field: str) -> set[str]:
    return set(section.model_json_schema()["properties"][field]["enum"])


def parameters_of(make: Any) -> dict[str, Any]:
    signature = inspect.signature(make)
    return {name: parameter.default for name, parameter in signature.parameters.items()}


def by_id(choice: Choice) -> str:
    return choice.id


@pytest.mark.parametrize("kind", [Kind.GAME, Kind.MODEL, Kind.ALGORITHM])
def test_every_built_in_of_the_catalog_has_typed_options(kind: Kind) -> None:
    typed = {choice.id for choice in [*MODELS, *ALGORITHMS, *GAMES] if choice.kind is kind}
    assert typed == {name for name, entry in catalog.names(kind).items() if entry.source == "built-in"}


@pytest.mark.parametrize("choice", MODELS, ids=by_id)
def test_models_are_built_from_the_defaults(choice: Choice) -> None:
    game = make_game("connect_four", 1).spec
    if choice.id == "nature":
        game = GameSpec(id="camera", seats=1, observation_shape=(3, 84, 84), actions=2, max_steps=1)
    assert not isinstance(build_model(choice.component, game), Normalised)
    assert isinstance(build_model(choice.model_copy(update={"normalise": True}).component, game), Normalised)
    parameters = parameters_of(catalog.load(Kind.MODEL, choice.id))
    del parameters["observation_shape"], parameters["actions"]
    shared = ("id", "normalise", "head")
    assert parameters == {name: value for name, value in defaults_of(type(choice)).items() if name not in shared}


@pytest.mark.parametrize("choice", ALGORITHMS, ids=by_id)
def test_algorithms_take_the_defaults(choice: Choice) -> None:
    options = parse_options(choice.component)
    required = {name: choice.arguments[name] for name in choice.data_files if name == "dataset"}
    assert options == algorithm_class(choice.component).Options(**required)
    assert options.to_json() == choice.component.options


@pytest.mark.parametrize("choice", GAMES, ids=by_id)
def test_games_are_made_from_the_defaults(choice: Choice) -> None:
    if choice.id == "envpool":
        pytest.importorskip("envpool")
    assert make_game(choice.id, 2, **choice.component.options).tables == 2


@pytest.mark.parametrize("preset", list(Preset))
def test_matchmaking_options_are_the_rules(preset: Preset) -> None:
    given = MATCHMAKING[preset]().to_json()
    assert given == asdict(RULES[preset]())


def test_presets_are_the_leagues_matchmakers() -> None:
    assert set(Preset) == set(BUILT_INS) == set(MATCHMAKING) == set(RULES)
    assert choices_of(PfspMatchmaking, "weighting") == set(WEIGHTINGS)
    assert choices_of(PsroMatchmaking, "meta_strategy") == set(META_STRATEGIES)


def test_a_generation_has_the_options_of_its_task() -> None:
    task = {field.name: field.default for field in fields(GenerationTask) if field.default is not MISSING}
    spec = defaults_of(GenerationSpec)
    for name in ("rollout_actors", "tables", "trainers", "topology", "threads"):
        assert spec[name] == task[name], name
    assert choices_of(GenerationSpec, "topology") == set(Topology)
    assert OpeningsSpec().to_json() == asdict(OpeningRules())


def test_judgement_has_the_options_of_the_leagues_rules() -> None:
    gate = GateSpec().to_json()
    assert (gate.pop("test"), gate.pop("alias")) == ("sprt", "champion")
    assert [gate.pop(name) for name in ("panel", "probe", "search")] == [None, None, None]
    assert gate == asdict(Sprt())
    assert choices_of(GateSpec, "model") == set(ELO_MODELS)
    assert SnapshotSpec().to_json() == asdict(SnapshotRule())
    assert ResetSpec().to_json() == asdict(ResetRule())
    assert Payoff(decay=PayoffSpec(memory_games=2).decay).min_games == PayoffSpec().min_games


@pytest.mark.parametrize("model", ELO_MODELS)
def test_the_widest_gate_allowed_is_one_the_test_takes(model: str) -> None:
    assert Sprt(elo0=-2000, elo1=2000, model=model).elo1 == 2000
    for elo0, elo1 in ((-2001, 0), (0, 2001)):
        with pytest.raises(ValidationError, match="must be"):
            GateSpec(elo0=elo0, elo1=elo1)
