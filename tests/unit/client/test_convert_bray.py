"""Configurations of Bray become trial files; what has no equal is listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from lanista.cli import app
from lanista.cli.local.bray_config import NotBray, convert_bray
from orchestrator.spec.reading.loading import parse_trial

CONFIG: dict[str, Any] = {
    "project": "Arena_1",
    "trial": "sl_rl_v0",
    "mode": "train",
    "net": {"kind": "model", "module": "arena.nets", "checkpoint_interval": 500},
    "demos": {"kind": "source", "module": "arena.demos", "func": "build_source", "epoch": 100},
    "held_out": {"kind": "source", "module": "arena.demos", "func": "build_eval"},
    "demo_buffer": {"kind": "buffer", "sources": ["demos"], "batch_size": 64, "size": 8},
    "eval_buffer": {"kind": "buffer", "sources": ["held_out"], "batch_size": 64},
    "replay": {"kind": "buffer", "batch_size": 64},
    "hero": {"kind": "agent", "module": "arena.agents", "class": "Hero"},
    "hall": {"kind": "actor", "agents": ["hero"], "num_workers": 2, "actors_per_worker": 8, "port": 8000}
    | {"episode_length": 128, "episode_save_interval": 1000},
    "picture": {"kind": "render", "module": "arena.pictures", "func": "draw"},
    "teacher": {
        "kind": "trainer",
        "module": "arena.training",
        "class": "Teacher",
        "model": "net",
        "buffers": ["demo_buffer", "replay"],
        "buffer_weights": [0.25, 0.75],
        "eval": {"buffer": "eval_buffer", "interval": 200},
        "batch_size": 2,
        "max_reuse": 3,
        "learning_rate": None,
        "clip_grad_max_norm": 1.0,
        "num_steps": 1000,
    },
    "spaces": {"kind": "config", "state_space": [4, 8, 8], "action_space": 9},
}


def changed(**parts: Any) -> dict[str, Any]:
    return {**CONFIG, **parts}


def test_a_template_becomes_a_trial_that_is_valid() -> None:
    made = convert_bray(CONFIG)
    assert made.trial["game"]["agent"] == "arena.agents:Hero"
    assert made.trial["game"]["spec"] == {
        "observation": {"type": "box", "shape": [4, 8, 8]},
        "action": {"type": "discrete", "n": 9},
        "seats": 1,
    }
    assert made.trial["model"] == {"id": "arena.nets:build_model"}
    assert made.trial["algorithm"] == {
        "id": "sl_rl",
        "learning_rate": 5e-4,
        "gradient_clip": 1.0,
        "minibatch": 128,
        "epochs": 3,
        "rollout_steps": 16,
        "dataset": ["arena.demos:build_source"],
        "imitation": 0.25,
        "validation_dataset": ["arena.demos:build_eval"],
        "validation_every": 200,
    }
    assert made.trial["generation"]["rollout_actors"] == 2 and made.trial["budget"] == {"steps": 128_000}
    trial = parse_trial(made.text)
    assert (trial.project, trial.trial) == ("arena-1", "sl-rl-v0")


def test_what_has_no_equal_is_listed_with_what_to_do() -> None:
    made = convert_bray(CONFIG)
    listed = {line.partition(":")[0] for line in made.left}
    assert {"net.checkpoint_interval", "hall.port", "teacher.class", "demos.epoch", "demo_buffer.size"} < listed
    assert "game.spec.seats" in listed and len(listed) == 6
    assert "# - hall.port: 8000: the gateway has ports of its own" in made.text


def test_several_agents_get_every_tick_and_episodes_are_cut() -> None:
    meter = {"kind": "agent", "module": "arena.agents", "class": "Meter"}
    made = convert_bray(changed(meter=meter, hall={**CONFIG["hall"], "episode_length": 128}))
    assert made.trial["game"]["agent"] == ["arena.agents:Hero", "arena.agents:Meter"]
    assert made.trial["game"]["episode_length"] == 128


def test_components_that_are_not_enabled_are_left_out_and_listed() -> None:
    on = {"enable": "train"}
    meter = {"kind": "agent", "module": "arena.agents", "class": "Meter", "enable": False}
    parts = {"hero": {**CONFIG["hero"], **on}, "meter": meter}
    parts |= {name: {**CONFIG[name], "enable": False} for name in ("demo_buffer", "eval_buffer", "demos", "picture")}
    made = convert_bray(
        changed(**parts, net={**CONFIG["net"], **on}, held_out={**CONFIG["held_out"], "enable": "serve"})
    )
    assert made.trial["game"]["agent"] == "arena.agents:Hero" and made.trial["game"]["dump"] == {"every": 1000}
    assert made.trial["algorithm"]["id"] == "ppo" and "validation_dataset" not in made.trial["algorithm"]
    assert "meter: left out, since it says enable: false" in made.left
    assert "held_out: left out, since it says enable: serve" in made.left
    listed = [line.partition(":")[0] for line in made.left]
    assert {"demo_buffer", "eval_buffer", "demos", "picture"} < set(listed) and "hero.enable" not in listed
    with pytest.raises(NotBray, match="enabled in training"):
        convert_bray({"net": {"kind": "model", "enable": False}})


def test_weights_of_buffers_that_are_left_out_go_with_them() -> None:
    other = {"kind": "buffer", "sources": ["held_out"], "batch_size": 64, "enable": False}
    teacher = {**CONFIG["teacher"], "buffers": ["other", "demo_buffer", "replay"], "buffer_weights": [9, 0.25, 0.75]}
    made = convert_bray(changed(other=other, teacher=teacher))
    assert made.trial["algorithm"]["imitation"] == 0.25
    assert made.trial["algorithm"]["dataset"] == ["arena.demos:build_source"]


@pytest.mark.parametrize(("buffers", "algorithm"), [(["demo_buffer"], "bc"), (["replay"], "ppo")])
def test_the_buffers_say_which_algorithm_it_is(buffers: list[str], algorithm: str) -> None:
    made = convert_bray(changed(teacher={"kind": "trainer", "buffers": buffers, "use_gpu": True, "num_workers": 2}))
    assert made.trial["algorithm"]["id"] == algorithm
    assert made.trial["generation"]["device"] == "cuda" and made.trial["generation"]["trainers"] == 2


@pytest.mark.parametrize(
    ("config", "why"),
    [([], "a mapping of components"), ({"game": {"id": "x"}}, "no component"), ({"a": {"kind": "b"}}, "kind 'b'")],
)
def test_other_files_are_refused(config: Any, why: str) -> None:
    with pytest.raises(NotBray, match=why):
        convert_bray(config)


def test_the_command_writes_the_file_and_lists_the_rest(tmp_path: Path) -> None:
    config, made = tmp_path / "config.yaml", tmp_path / "trial.yaml"
    config.write_text(yaml.safe_dump(CONFIG))
    done = CliRunner().invoke(app, ["convert", "bray", str(config), "-o", str(made)], catch_exceptions=False)
    assert done.exit_code == 0 and "6 fields were not converted" in done.stdout and "hall.port" in done.stdout
    assert made.read_text().startswith("# Converted from a configuration of Bray")
    config.write_text("game: {id: x}")
    assert CliRunner().invoke(app, ["convert", "bray", str(config)]).exit_code == 1


def test_buffers_renders_and_publication_have_equals() -> None:
    teacher = {**CONFIG["teacher"], "buffers": ["demo_buffer", "other"], "buffer_weights": [3, 1], "prefetch_size": 2}
    teacher |= {"weights_publish_interval": 4, "eval": {"buffer": "eval_buffer", "interval": 200, "steps": 10}}
    other = {"kind": "buffer", "sources": ["held_out"], "batch_size": 64}
    second = {"kind": "render", "module": "arena.pictures", "func": "graph"}
    made = convert_bray(changed(teacher=teacher, other=other, second=second))
    algorithm = made.trial["algorithm"]
    assert (algorithm["id"], algorithm["dataset_weights"], algorithm["prefetch"]) == ("bc", [3.0, 1.0], 2)
    assert algorithm["validation_batches"] == 10
    assert made.trial["game"]["dump"]["render"] == ["arena.pictures:draw", "arena.pictures:graph"]
    assert made.trial["generation"]["publish_every"] == 4 and made.trial["generation"]["topology"] == "asynchronous"


def test_every_trainer_is_a_player_with_its_own_model() -> None:
    rival = {"kind": "model", "module": "arena.rivals"}
    pupil = {"kind": "trainer", "model": "rival", "buffers": ["replay"], "learning_rate": 1e-3, "num_steps": 9}
    made = convert_bray(changed(rival=rival, pupil=pupil))
    first, second = made.trial["league"]["players"]
    assert first == {"name": "net", "role": "main"}
    assert (second["name"], second["model"]) == ("rival", {"id": "arena.rivals:build_model"})
    assert (second["algorithm"]["id"], second["algorithm"]["learning_rate"]) == ("ppo", 1e-3)
    assert not [line for line in made.left if line.startswith("rival")]
    assert "pupil.num_steps: 9: all players of a trial share the first trainer's" in made.left
    assert [player.name for player in parse_trial(made.text).league.players] == ["net", "rival"]


def test_a_configuration_that_serves_is_served() -> None:
    made = convert_bray(changed(mode="serve"))
    assert parse_trial(made.text).mode == "serve" and not [line for line in made.left if line.startswith("mode")]
    assert [line for line in convert_bray(changed(mode="test")).left if line.startswith("mode: test")]
