"""Workflows carry trials: the tree needs pydantic and the standard library, and loads in Temporal's sandbox."""

import subprocess
import sys

from temporalio import workflow
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from tests.unit.spec.carrying import CarriesATrial

FORBIDDEN = ["numpy", "torch", "ray", "sqlalchemy", "fastapi", "scipy", "temporalio"]


def loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(found.stdout.split())


def test_the_tree_needs_nothing_heavy_and_no_yaml() -> None:
    loaded = loaded_after("import orchestrator.spec, orchestrator.spec.reading.checking")
    assert "pydantic" in loaded
    assert loaded & {*FORBIDDEN, "yaml"} == set()


def test_reading_and_naming_built_ins_imports_none_of_them() -> None:
    loaded = loaded_after(
        "from orchestrator.spec.reading.loading import parse_trial\n"
        "parse_trial('game: {id: connect_four}\\nleague: {players: [{name: a}, {name: b, role: bot, bot: mcts-9}]}')"
    )
    assert "yaml" in loaded
    assert loaded & set(FORBIDDEN) == set()


async def test_a_workflow_that_carries_a_trial_loads_in_the_sandbox() -> None:
    passed = SandboxRestrictions.default.with_passthrough_modules("pydantic", "pydantic_core", "annotated_types")
    runner = SandboxedWorkflowRunner(restrictions=passed)
    runner.prepare_workflow(workflow._Definition.must_from_class(CarriesATrial))
