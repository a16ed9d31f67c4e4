"""Each part gets the variables that it needs: user code finds no secret of another part, and not the user's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanista.settings import StackSettings
from lanista.stack.home import Home
from lanista.stack.parts import Parts
from lanista.stack.processes.child import ChildSpec
from lanista.stack.processes.child_environment import (
    as_environment,
    base_environment,
    storage_prefixes,
    variables_of,
)
from orchestrator.settings import ArtifactCacheSettings, CodeSettings, LanistaSettings, SettingsError, TemporalSettings
from orchestrator.temporal.deployment import Deployment
from workers.gateway.league.settings import LeagueGatewaySettings
from workers.settings import WorkerSettings

OTHERS = {
    "GITHUB_TOKEN": "of somebody else",
    "WANDB_API_KEY": "of the user",
    "AWS_SECRET_ACCESS_KEY": "of the cloud",
    "GOOGLE_APPLICATION_CREDENTIALS": "/of/the/cloud",
    "PGPASSWORD": "of Postgres",
    "LANISTA_TOKEN": "of an admin",
    "LANISTA_SESSION_SECRET": "signs the sessions of all browsers",
}
USER_CODE = ("train-worker", "ray", "gateway")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A data folder, no settings from outside, and an environment full of secrets."""
    for variable in list(os.environ):
        if variable.startswith(("LANISTA_", "RAY_")):
            monkeypatch.delenv(variable)
    for name, value in OTHERS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(tmp_path)
    made = Home(tmp_path / "home")
    made.create()
    yield made


def environments(home: Home, **settings: str) -> dict[str, dict[str, str]]:
    """What each part finds in its environment."""
    parts = Parts(StackSettings.load(home=home.root, **settings), home)
    specs: list[ChildSpec] = parts.specs(migrate=lambda: None)
    return {spec.name: {**base_environment(os.environ), **spec.environment} for spec in specs}


def test_user_code_finds_no_secret_of_another_part(home: Home) -> None:
    found = environments(home)
    password = (home.root / "postgres.password").read_text()
    for part in USER_CODE:
        text = "\n".join(found[part].values())
        assert password not in text
        assert OTHERS["LANISTA_SESSION_SECRET"] not in text
        assert not set(OTHERS) & set(found[part])
        assert "LANISTA_DATABASE_URL" not in found[part]
    assert found["train-worker"]["OMP_NUM_THREADS"] == found["ray"]["OMP_NUM_THREADS"] == "3"


def test_every_part_gets_the_machines_settings_and_no_part_the_rest(home: Home) -> None:
    found = environments(home)
    assert len(found) == 8
    for part, environment in found.items():
        assert {"PATH", "LC_ALL"} <= set(environment)
        assert not {"GITHUB_TOKEN", "WANDB_API_KEY", "LANISTA_TOKEN"} & set(environment), part
        assert ("PGPASSWORD" in environment) == (part in ("api", "store-worker"))
        assert ("LANISTA_DATABASE_URL" in environment) == (part in ("api", "store-worker"))
        assert ("OMP_NUM_THREADS" in environment) == (part in USER_CODE)


@pytest.mark.parametrize(
    ("artifacts", "expected"),
    [
        ("s3://bucket/lanista", "AWS_SECRET_ACCESS_KEY"),
        ("gs://bucket/lanista", "GOOGLE_APPLICATION_CREDENTIALS"),
        ("", None),
    ],
)
def test_credentials_of_a_cloud_go_where_its_artifact_store_is_used(
    home: Home, artifacts: str, expected: str | None
) -> None:
    for part, environment in environments(home, artifacts=artifacts).items():
        uses_it = part in (*USER_CODE, "api", "store-worker")
        passed = {"AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS"} & set(environment)
        assert passed == ({expected} if uses_it and expected else set()), part


def test_a_user_adds_variables_by_name(home: Home) -> None:
    for part, environment in environments(home, worker_env="WANDB_API_KEY, MISSING").items():
        assert ("WANDB_API_KEY" in environment) == (part in USER_CODE)
    for wrong in ("LANISTA_DATABASE_URL", "A,LANISTA_TOKEN", "no-name"):
        with pytest.raises(SettingsError, match="worker-env"):
            StackSettings.load(worker_env=wrong)


def test_the_train_worker_gets_its_settings_by_value_and_reads_no_file(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lanista.toml").write_text('train_slots = 3\nlog_level = "debug"\ntensorboard_dir = "elsewhere"\n')
    found = environments(home)["train-worker"]
    assert found["LANISTA_CONFIG"] == os.devnull
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    settings = WorkerSettings.load()
    assert (settings.train_slots, settings.log_level) == (3, "debug")
    assert settings.tensorboard_dir == str(home.tensorboard)


def test_workers_of_the_stack_make_their_build_the_current_one(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a league on one host would wait for a build that is gone."""
    monkeypatch.setenv("LANISTA_TEMPORAL_DEPLOYMENT", "leagues")
    monkeypatch.setenv("LANISTA_TEMPORAL_BUILD_ID", "2")
    found = environments(home)
    for part, role in (("store-worker", "store"), ("train-worker", "train")):
        with monkeypatch.context() as process:
            for name, value in found[part].items():
                process.setenv(name, value)
            settings = TemporalSettings.load()
        assert settings.temporal_promote, part
        assert Deployment.of(settings, role) == Deployment(name=f"leagues-{role}", build_id="2")


def test_settings_survive_the_way_through_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "client.pem").write_text("")
    given = WorkerSettings.load(
        temporal_tls=True,
        temporal_api_key="secret",
        temporal_tls_cert=tmp_path / "client.pem",
        temporal_tls_key=tmp_path / "client.pem",
        crew_idle_seconds=2.5,
    )
    for name, value in as_environment(given).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LANISTA_CONFIG", os.devnull)
    assert WorkerSettings.load() == given


def test_a_folder_needs_no_credentials() -> None:
    assert storage_prefixes("/data/artifacts") == ()
    assert storage_prefixes("memory://here") == ("FSSPEC_",)


STARTED_BY_HAND = """
import os, sys
from pathlib import Path
from lanista.stack.processes.child_environment import forget_secrets_of_others, hide_own_secrets
from workers.settings import WorkerSettings
settings = WorkerSettings.load()
forget_secrets_of_others(WorkerSettings)
hide_own_secrets(WorkerSettings)
assert settings.temporal_train_key.get_secret_value() == "k" * 32
print(os.getpid(), *(each.partition("=")[0] for each in Path("/proc/self/environ").read_text().split(chr(0))))
print(*os.environ, *sys.argv[1:])
"""


def test_a_train_worker_that_is_started_by_hand_forgets_what_is_not_its_own() -> None:
    foreign = {"LANISTA_DATABASE_URL": "postgresql://x", "LANISTA_SESSION_SECRET": "s" * 32, "PGPASSWORD": "p"}
    own = {"LANISTA_TRAIN_SLOTS": "2", "LANISTA_READY_FILE": "/r", "OWN": "o"}
    secrets = {"LANISTA_TEMPORAL_TRAIN_KEY": "k" * 32, "LANISTA_GATEWAY_CONTROL_KEY": "c" * 32}
    command = [sys.executable, "-c", STARTED_BY_HAND, "an argument"]
    with subprocess.Popen(
        command, env={**os.environ, **foreign, **own, **secrets}, stdout=subprocess.PIPE, text=True
    ) as process:
        said, _ = process.communicate(timeout=60)
    for line in said.splitlines():
        assert not set(foreign) & set(line.split())
        assert {*own, "PATH"} <= set(line.split())
    assert not set(secrets) & set(said.splitlines()[1].split()), "user code finds the worker's own keys neither"
    assert said.startswith(f"{process.pid} "), "it is the same process"
    assert said.endswith(" an argument\n")


@pytest.mark.parametrize("role", [WorkerSettings, LeagueGatewaySettings])
def test_roles_that_run_own_code_keep_the_settings_of_their_node(role: type[LanistaSettings]) -> None:
    assert variables_of(CodeSettings, ArtifactCacheSettings) <= variables_of(role), "all others are forgotten"
