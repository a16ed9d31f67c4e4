"""The guide to trial files lists every option with its default and meaning, as the code has them."""

import json
import re
from pathlib import Path

import pytest
from pydantic_core import PydanticUndefined

from orchestrator.spec.algorithms.choice import BUILT_IN_ALGORITHMS
from orchestrator.spec.budget import BudgetSpec, TargetSpec
from orchestrator.spec.evaluation import EvaluationSpec
from orchestrator.spec.game import EnvPoolGame, GymnasiumGame, OpenSpielGame, PettingZooGame
from orchestrator.spec.generation import GenerationSpec, OpeningsSpec
from orchestrator.spec.judgement import GateProbeSpec, GateSpec, PanelSpec, PayoffSpec, ResetSpec, SnapshotSpec
from orchestrator.spec.league import LeagueSpec
from orchestrator.spec.matchmaking import MATCHMAKING, MatesSpec, Preset
from orchestrator.spec.model import ConvModel, ConvResModel, GruModel, MlpModel, NatureModel
from orchestrator.spec.players import PlayerSpec
from orchestrator.spec.population import ExploitSpec, ExploreSpec, PopulationSpec
from orchestrator.spec.remote import BoxSpace, RemoteGame, RemoteSpec
from orchestrator.spec.section import Section
from orchestrator.spec.trial import TrialFile

GUIDES = Path(__file__).parents[3] / "docs" / "guides"
GUIDE = GUIDES / "trial-file.md"
SHARED = (
    "Options of every algorithm",
    "Options of every algorithm with a replay buffer",
    "Options of every actor-critic algorithm",
    "Options of every algorithm with a data set",
)
"""Headings of the tables that hold for several algorithms."""

SECTIONS: list[type[Section]] = [
    TrialFile,
    OpenSpielGame,
    GymnasiumGame,
    EnvPoolGame,
    PettingZooGame,
    RemoteGame,
    RemoteSpec,
    BoxSpace,
    MlpModel,
    ConvModel,
    ConvResModel,
    NatureModel,
    GruModel,
    LeagueSpec,
    PlayerSpec,
    PopulationSpec,
    ExploitSpec,
    ExploreSpec,
    *(MATCHMAKING[preset] for preset in Preset),
    MatesSpec,
    PayoffSpec,
    SnapshotSpec,
    ResetSpec,
    GateSpec,
    PanelSpec,
    GateProbeSpec,
    GenerationSpec,
    OpeningsSpec,
    EvaluationSpec,
    BudgetSpec,
    TargetSpec,
]


def rows_of(section: type[Section]) -> list[str]:
    """The lines of a section's table, as the guide must have them."""
    rows = []
    for name, field in section.model_fields.items():
        default = field.default
        if default is PydanticUndefined:
            shown = "required"
        elif isinstance(default, Section) or name in ("players", "matchmaking"):
            shown = "see below"
        else:
            shown = f"`{json.dumps(default)}`"
        rows.append(f"| `{name}` | {shown} | {field.description} |")
    return rows


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_option_is_in_the_guide(section: type[Section]) -> None:
    text = GUIDE.read_text()
    assert [row for row in rows_of(section) if row not in text] == []


def section_of(guide: str, heading: str) -> str:
    """The text below a heading of two or three marks, up to the next heading."""
    found = re.search(rf"^###? {re.escape(heading)}$(.*?)(?=^##|\Z)", guide, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


@pytest.mark.parametrize("name", BUILT_IN_ALGORITHMS)
def test_every_option_of_an_algorithm_is_in_the_guide(name: str) -> None:
    guide = (GUIDES / "algorithms.md").read_text()
    own = section_of(guide, name)
    shared = "".join(section_of(guide, heading) for heading in SHARED)
    options = [row.split("`")[1] for row in own.splitlines() if row.startswith("| `")]
    text = own + "".join(row for row in shared.splitlines(True) if row.split("`")[1:2] not in [[o] for o in options])
    assert [row for row in rows_of(BUILT_IN_ALGORITHMS[name]) if row not in text] == []


def test_the_guide_names_every_section_of_the_schema() -> None:
    known = {section.__name__ for section in [*SECTIONS, *BUILT_IN_ALGORITHMS.values()]}
    named = set(TrialFile.model_json_schema()["$defs"])
    assert {name for name in named - known if name.endswith(("Spec", "Model", "Algorithm", "Matchmaking"))} <= {
        "OtherModel",
        "OtherAlgorithm",
        "OtherMatchmaking",
    }
