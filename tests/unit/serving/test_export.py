"""Exports compute what torch does: every kind of policy, as ONNX and as an exported program, whatever the batch."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from orchestrator.catalog import Component
from tests.unit.serving.made_versions import made_version
from workers.serving.export import errors, folder
from workers.serving.export.errors import ExportError, MissingExtra, NotExportable, TooDifferent
from workers.serving.export.folder import ExportOptions, export_version
from workers.serving.export.graph import Inputs, PolicyGraph
from workers.serving.export.onnx_backend import on_onnx
from workers.serving.export.onnx_file import to_onnx
from workers.serving.export.verification import Difference, check, compare
from workers.serving.loaded import LoadedActor

PENDULUM = {"game": "gymnasium", "game_options": {"env": "Pendulum-v1"}}
RECURRENT = {"model": "gru", "options": {"hidden": 8}}
KINDS: dict[str, dict[str, Any]] = {
    "convolutions": {"game": "connect_four", "model": "conv", "options": {}},
    "quantiles": {"algorithm": Component(id="qrdqn")},
    "sac": PENDULUM | {"algorithm": Component(id="sac")},
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_onnx_model_acts_as_torch_does(kind: str) -> None:
    version = made_version(**KINDS[kind])
    graph = PolicyGraph(version.actor, version.spec)
    _, difference = to_onnx(graph, tolerance=1e-4)
    assert difference.largest < 1e-4 and difference.equal_actions == 1.0 and difference.rows == 72


def test_an_exported_program_acts_as_torch_does(tmp_path: Path) -> None:
    version = made_version(**RECURRENT)
    written = export_version(version, tmp_path / "out", ExportOptions(format="torch"))
    assert written.files == ("model.pt2", "spec.json") and written.difference is not None
    assert written.difference.largest < 1e-5
    graph = PolicyGraph(version.actor, version.spec)
    inputs = graph.example(5)
    program = torch.export.load(tmp_path / "out" / "model.pt2").module()
    np.testing.assert_array_equal(program(*graph.tensors(inputs))[0], graph.run(inputs)["action"])


def test_the_folder_plays_without_lanista(tmp_path: Path) -> None:
    version = made_version("main:7", model="gru", options={"hidden": 8})
    written = export_version(version, tmp_path / "main-7", ExportOptions(agent="json:loads"))
    assert written.files == ("agent.py", "model.onnx", "runner.py", "spec.json")
    spec = json.loads((tmp_path / "main-7" / "spec.json").read_text())
    assert (spec["version"], spec["sha256"], spec["agent"]) == ("main:7", version.record.sha256, "agent.py")
    assert spec["difference_from_torch"]["largest"] < 1e-4
    code = (
        "import json, sys; sys.path[:0] = [sys.argv[1]]\n"
        "import numpy, runner\n"
        "player, shape = runner.Runner(), json.loads(sys.argv[2])\n"
        "masks = [None, [0] * 8 + [1]]\n"
        "print(json.dumps([int(player.act(numpy.full(shape, n / 3), masks[n % 2])) for n in range(6)]))\n"
        "loaded = [name for name in ('torch', 'lanista', 'workers') if name in sys.modules]\n"
        "sys.exit(', '.join(loaded) or None)\n"
    )
    shape = list(version.spec.observation_shape)
    arguments = [sys.executable, "-P", "-c", code, str(tmp_path / "main-7"), json.dumps(shape)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    actor = LoadedActor(version)
    masks = [None, [0] * 8 + [1]]
    assert json.loads(done.stdout) == [actor.act(np.full(shape, n / 3), masks[n % 2]) for n in range(6)]
    assert len((tmp_path / "main-7" / "runner.py").read_text().splitlines()) < 45


def test_quantised_weights_are_smaller_and_compared() -> None:
    version = made_version(options={"hidden": [256, 256]})
    data, difference = to_onnx(PolicyGraph(version.actor, version.spec), tolerance=0.1, quantise=True)
    assert len(data) < version.actor.size / 2 and 0 < difference.largest <= 0.1
    with pytest.raises(TooDifferent, match=r"it differs from torch by up to .*, the tolerance is 1e-09: not written"):
        check(difference, 1e-9, "it")


def test_what_differs_too_much_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far = Difference(largest=0.5, equal_actions=0.9, rows=72)
    monkeypatch.setattr(folder, "compare", lambda graph, run: far)
    with pytest.raises(TooDifferent, match=r"by up to 0.5, the tolerance is 0\.0001"):
        export_version(made_version(), tmp_path / "out", ExportOptions(format="torch"))
    assert list(tmp_path.iterdir()) == []


def test_numbers_are_compared_by_shape_value_and_mask() -> None:
    graph = PolicyGraph(made_version().actor, made_version().spec)

    def off(inputs: Inputs) -> Inputs:
        found = graph.run(inputs)
        found["value"] = found["value"] + 0.25
        return found

    def unmasked(inputs: Inputs) -> Inputs:
        found = graph.run(inputs)
        return found | {"outputs": np.maximum(found["outputs"], -1.0)}

    def cut(inputs: Inputs) -> Inputs:
        found = graph.run(inputs)
        return found | {"outputs": found["outputs"][:, :-1]}

    assert compare(graph, graph.run).largest == 0
    assert compare(graph, off).largest == pytest.approx(0.25)
    assert compare(graph, unmasked).largest == compare(graph, cut).largest == float("inf")


def test_onnx_runtime_decides_for_a_served_version_as_torch_does() -> None:
    version = made_version(**RECURRENT)
    served, difference = on_onnx(version)
    assert difference.largest < 1e-4 and served.actor is not version.actor
    rows = PolicyGraph(version.actor, version.spec).example(9)
    for draws in (None, np.random.default_rng(1).random(9, np.float32)):
        wanted, found = version.actor.act(rows, draws), served.actor.act(rows, draws)
        assert wanted.keys() == found.keys()
        for name in wanted:
            np.testing.assert_allclose(found[name], wanted[name], atol=1e-4)


def test_weights_alone_and_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = made_version()
    written = export_version(version, tmp_path / "out", ExportOptions(format="safetensors"))
    assert written.files == ("model.safetensors", "spec.json") and written.difference is None
    with pytest.raises(ExportError, match="exists already"):
        export_version(version, tmp_path / "out", ExportOptions(format="safetensors"))
    with pytest.raises(ExportError, match="only ONNX models are quantised"):
        export_version(version, tmp_path / "more", ExportOptions(format="torch", quantise=True))
    with pytest.raises(ExportError, match="its source is not found here"):
        export_version(version, tmp_path / "more", ExportOptions(format="safetensors", agent="nowhere_at_all:Agent"))
    monkeypatch.setattr(errors, "find_spec", lambda name: None if name == "onnxscript" else object())
    with pytest.raises(MissingExtra, match=r"ONNX needs onnxscript, not installed here: pip install 'lanista\[onnx\]'"):
        export_version(version, tmp_path / "more", ExportOptions())


def test_a_policy_whose_rows_depend_on_each_other_is_refused_by_name() -> None:
    version = made_version()
    version.actor.placed = True
    with pytest.raises(NotExportable, match="mates of a team talk"):
        PolicyGraph(version.actor, replace(version).spec)
