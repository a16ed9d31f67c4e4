"""The cluster's files hold together: there is no Docker engine here, so all that can be known without one is."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from api.settings import ApiSettings, StoreSettings
from lanista.cli import app
from lanista.settings import INTERNAL, known_settings
from orchestrator.settings import ArtifactCacheSettings, CodeSettings, LanistaSettings
from tests.integration.compose_file import FILE, ROOT, SECRETS, commands, compose_tool, services, uses
from workers.cluster.labels import parse_labels
from workers.gateway.auth import Access, check_exposure
from workers.gateway.league.settings import LeagueGatewaySettings
from workers.settings import WorkerSettings

TEXT = FILE.read_text()
SERVICES = services(SECRETS)
OURS = {name for name, service in SERVICES.items() if "build" in service}
FINISH = {
    name
    for service in SERVICES.values()
    for name, need in service.get("depends_on", {}).items()
    if need["condition"] == "service_completed_successfully"
}
"""Services that run once and end."""


@pytest.fixture
def tool() -> list[str]:
    found = compose_tool()
    if found is None:
        pytest.skip("docker-compose is not installed: docker-compose.yml was read as YAML only")
    return found


def config(tool: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [*tool, "--file", str(FILE), "config"]
    path = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"}
    return subprocess.run(command, capture_output=True, text=True, env={**path, **environment})


def test_the_real_tool_reads_the_file_as_these_tests_do(tool: list[str]) -> None:
    done = config(tool, SECRETS)
    assert done.returncode == 0, done.stderr
    read = yaml.safe_load(done.stdout)
    assert read["services"].keys() == SERVICES.keys()
    for name, service in SERVICES.items():
        assert read["services"][name].get("command") == service.get("command"), name
        for key, value in (read["services"][name].get("environment") or {}).items():
            # the tool doubles a dollar in what it prints, so that it could read it again
            assert (None if value is None else str(value).replace("$$", "$")) == service["environment"][key], key


@pytest.mark.parametrize("missing", SECRETS)
def test_the_real_tool_refuses_to_go_on_without_a_secret_and_names_it(tool: list[str], missing: str) -> None:
    done = config(tool, {name: value for name, value in SECRETS.items() if name != missing})
    assert done.returncode != 0
    assert f"{missing} is not set, see docs/guides/cluster.md" in done.stderr


def test_no_secret_has_a_default() -> None:
    secret = [use for use in uses(TEXT) if re.search("PASSWORD|TOKEN|SECRET|KEY", use.name)]
    assert {use.name for use in secret if use.required} == set(SECRETS)
    assert [use for use in secret if use.default is not None] == []
    for name, service in SERVICES.items():
        for key, value in service.get("environment", {}).items():
            if re.search("PASSWORD|PWD|TOKEN$|SECRET", key):
                assert value is None or value in SECRETS.values(), f"{name}: {key}"


def test_every_variable_is_explained_and_none_that_is_not_there() -> None:
    guide = (ROOT / "docs" / "guides" / "cluster.md").read_text()
    example = (ROOT / ".env.example").read_text()
    used = {use.name: use for use in uses(TEXT)}
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", guide, re.MULTILINE)) == set(used)
    assert set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE)) == set(used)
    for name, use in used.items():
        if use.default is not None:
            shown = f"`{use.default}` |" if use.default else "|"
            assert f"| `{name}` | {shown}" in guide
            assert f"\n#{name}={use.default}\n" in example


def test_a_variable_has_the_same_default_everywhere() -> None:
    assert len(set(uses(TEXT))) == len({use.name for use in uses(TEXT)})


def test_ports_are_published_on_loopback_by_default() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert sorted(port.rsplit(":", 1)[1] for port in ports) == ["8080", "8800", "8810", "8811", "8812"]
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []
    opened = services({**SECRETS, "LANISTA_BIND": "10.0.0.5"})
    assert opened["api"]["ports"] == ["10.0.0.5:8800:8800"]
    assert opened["temporal-ui"]["ports"] == ["127.0.0.1:8233:8080"], "it has no password: an address of its own"


def test_temporals_web_ui_cannot_change_anything() -> None:
    assert SERVICES["temporal-ui"]["environment"]["TEMPORAL_DISABLE_WRITE_ACTIONS"] == "true"


def test_only_the_store_and_the_api_have_the_leagues_key() -> None:
    environments = {name: service.get("environment", {}) for name, service in SERVICES.items()}
    assert {name for name, given in environments.items() if "LANISTA_TEMPORAL_KEY" in given} == {"api", "store-worker"}
    trains = {name for name, given in environments.items() if "LANISTA_TEMPORAL_TRAIN_KEY" in given}
    assert trains == {"api", "store-worker", "train-worker"}


def test_parts_that_run_user_code_have_no_secret_of_the_store() -> None:
    for name in ("train-worker", "ray-worker", "ray-head", "gateway", "tensorboard"):
        given = set(SERVICES[name].get("environment", {}))
        assert not given & {"LANISTA_DATABASE_URL", "PGPASSWORD", "LANISTA_SESSION_SECRET", "LANISTA_TEMPORAL_KEY"}, (
            name
        )


def test_images_are_pinned() -> None:
    others = {service["image"] for name, service in SERVICES.items() if name not in OURS}
    base = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert len(others) == 4
    for image in [*others, *base]:
        assert re.fullmatch(r"[a-z/-]+:\d+\.\d+(\.\d+)?(-[a-z]+)*", image), image


def test_every_service_has_a_health_check_or_ends() -> None:
    assert {"migrate", "temporal-schema", "temporal-namespace"} == FINISH
    for name, service in SERVICES.items():
        assert bool(service.get("healthcheck", {}).get("test")) != (name in FINISH), name
        assert service["restart"] == ("on-failure" if name in FINISH else "unless-stopped"), name


def test_services_wait_for_services_that_can_become_ready() -> None:
    for name, service in SERVICES.items():
        for other, need in service.get("depends_on", {}).items():
            ready = other in FINISH or "healthcheck" in SERVICES[other]
            assert ready, f"{name} waits for {other}"
            assert (need["condition"] == "service_completed_successfully") == (other in FINISH), f"{name}: {other}"


def test_nothing_starts_before_the_schema_is_there() -> None:
    for name in ("api", "store-worker"):
        assert "migrate" in SERVICES[name]["depends_on"]


def test_volumes_and_mounted_folders_exist() -> None:
    declared = set(yaml.safe_load(TEXT)["volumes"])
    used = set()
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("./"):
                assert (ROOT / source).is_dir(), source
            else:
                used.add(source)
    assert used == declared


def test_every_lanista_command_is_one_of_the_command_line() -> None:
    root = typer.main.get_command(app)
    lines = [line for name in OURS for line in commands(SERVICES[name]) if line[0] == "lanista"]
    assert len(lines) == 5
    for line in lines:
        command: Any = root
        for word in line[1:]:
            assert word in getattr(command, "commands", {}), line
            command = command.commands[word]
        assert not hasattr(command, "commands"), line


def test_every_ray_flag_exists() -> None:
    from ray.scripts.scripts import start

    known = {option for parameter in start.params for option in parameter.opts}
    lines = [line for name in OURS for line in commands(SERVICES[name]) if line[0] == "ray"]
    assert len(lines) == 3
    for line in lines:
        assert line[1] == "start"
        assert {word.split("=")[0] for word in line[2:]} <= known


TENSORBOARD_FLAGS = """
import argparse, sys
from tensorboard.plugins.core.core_plugin import CorePluginLoader
parser = argparse.ArgumentParser()
CorePluginLoader().define_flags(parser)
flags = parser.parse_args(sys.argv[1:])
print(flags.host, flags.port, flags.logdir)
"""


def test_tensorboard_takes_its_arguments() -> None:
    (line,) = commands(SERVICES["tensorboard"])
    assert (Path(sys.executable).parent / line[0]).exists()
    # in a process of its own: it warns of its own parts while it is imported
    done = subprocess.run([sys.executable, "-c", TENSORBOARD_FLAGS, *line[1:]], capture_output=True, text=True)
    assert done.stdout.split() == ["0.0.0.0", "6006", "/var/lib/lanista/tensorboard"], done.stderr


def test_health_checks_in_python_are_python() -> None:
    checks = [SERVICES[name]["healthcheck"]["test"] for name in OURS - FINISH]
    snippets = [check[3] for check in checks if check[1:3] == ["python", "-c"]]
    assert len(snippets) == 5
    for snippet in snippets:
        ast.parse(snippet)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("api", ApiSettings),
        ("store-worker", StoreSettings),
        ("train-worker", WorkerSettings),
        ("gateway", LeagueGatewaySettings),
    ],
)
def test_settings_of_each_role_are_known_and_accepted(
    name: str, kind: type[LanistaSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {key: value for key, value in SERVICES[name]["environment"].items() if value is not None}
    for key, value in given.items():
        monkeypatch.setenv(key, value)
    unknown = {key for key in given if key.startswith("LANISTA_")} - set(known_settings()) - INTERNAL
    assert unknown == set()
    settings = kind.load().model_dump()
    assert settings.get("temporal_address", "temporal:7233") == "temporal:7233"
    assert settings.get("artifacts", "/var/lib/lanista/artifacts") == "/var/lib/lanista/artifacts"


def test_ray_workers_and_trainers_find_the_head_and_share_checkpoints() -> None:
    for name in ("ray-worker", "train-worker"):
        service = SERVICES[name]
        assert any("--address=ray-head:6379" in line for line in commands(service))
        assert service["environment"]["RAY_AUTH_TOKEN"] == SERVICES["ray-head"]["environment"]["RAY_AUTH_TOKEN"]
        assert "artifacts:/var/lib/lanista/artifacts" in service["volumes"]
        assert "container_name" not in service
        assert "ports" not in service


def test_rays_workers_have_the_labels_that_the_train_worker_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from ray._private.label_utils import parse_node_labels_string

    for asked in ("", "pool=training,disk=ssd"):
        given = services({**SECRETS, "LANISTA_RAY_LABELS": asked})
        (line,) = commands(given["ray-worker"])
        (labels,) = (word.partition("=")[2] for word in line if word.startswith("--labels="))
        monkeypatch.setenv("LANISTA_RAY_LABELS", given["train-worker"]["environment"]["LANISTA_RAY_LABELS"])
        assert parse_node_labels_string(labels) == parse_labels(WorkerSettings.load().ray_labels)


TRACED = {"api", "store-worker", "train-worker"}


def test_tracing_reaches_the_parts_that_write_spans_and_they_share_the_files() -> None:
    environments = {name: service.get("environment", {}) for name, service in SERVICES.items()}
    for variable in ("LANISTA_TRACING", "LANISTA_TRACE_ENDPOINT", "LANISTA_TRACE_HEADERS", "LANISTA_TRACE_FOLDER"):
        assert {name for name, given in environments.items() if variable in given} == TRACED, variable
    for name in TRACED:
        assert environments[name]["LANISTA_TRACING"] is None, "off, unless it is set"
        assert f"traces:{environments[name]['LANISTA_TRACE_FOLDER']}" in SERVICES[name]["volumes"]


def test_parts_that_run_user_code_share_what_they_pull_and_may_install_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = services({**SECRETS, "LANISTA_INSTALL_PACKAGES": "true", "LANISTA_ARTIFACT_CACHE_MB": "500"})
    run_code = {"train-worker", "ray-worker", "gateway"}
    assert {
        name for name, service in given.items() if "LANISTA_INSTALL_PACKAGES" in service.get("environment", {})
    } == run_code
    for name in run_code:
        for key in ("LANISTA_INSTALL_PACKAGES", "LANISTA_ARTIFACT_CACHE", "LANISTA_ARTIFACT_CACHE_MB"):
            monkeypatch.setenv(key, given[name]["environment"][key])
        cache = ArtifactCacheSettings.load()
        assert CodeSettings.load().install_packages and cache.artifact_cache_mb == 500
        # others than the store's parts: a folder that user code writes to is none that they may trust
        assert f"cache:{cache.artifact_cache.parent if cache.artifact_cache else ''}" in given[name]["volumes"]
    assert {name for name, service in given.items() if "cache:" in str(service.get("volumes"))} == run_code


def test_retention_is_the_store_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"LANISTA_RETAIN_NEWEST": "20", "LANISTA_RETAIN_EVERY": "100", "LANISTA_RETAIN_MATCHES_DAYS": "90"}
    given = services({**SECRETS, **chosen})
    assert {name for name, service in given.items() if "LANISTA_RETAIN_NEWEST" in service.get("environment", {})} == {
        "store-worker"
    }
    for key, value in given["store-worker"]["environment"].items():
        if value is not None:
            monkeypatch.setenv(key, value)
    settings = StoreSettings.load()
    assert settings.retention is not None
    assert (settings.retention.newest, settings.retention.every, settings.retain_matches_days) == (20, 100, 90)


def test_the_image_has_the_extras_and_the_folders_of_the_volumes() -> None:
    image = (ROOT / "Dockerfile").read_text()
    assert set(re.findall(r"extras\['(\w+)'\]", image)) == {"stack", "s3", "tracing"}
    mounted = {volume.split(":")[1] for name in OURS for volume in SERVICES[name].get("volumes", [])}
    made = re.search(r"install --directory[^&]+", image)
    assert made is not None and mounted <= set(made[0].split()), "a volume belongs to whom its folder in the image does"


def test_crews_find_the_gateway_and_games_need_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway, worker = (SERVICES[name]["environment"] for name in ("gateway", "train-worker"))
    assert gateway["LANISTA_GATEWAY_CONTROL_KEY"] == worker["LANISTA_GATEWAY_CONTROL_KEY"]
    assert worker["LANISTA_GATEWAYS"] == f"gateway:{gateway['LANISTA_GATEWAY_CONTROL_PORT']}"
    assert not any(port.endswith(":8820") for port in SERVICES["gateway"]["ports"]), "the control port is not published"
    for key, value in gateway.items():
        if value is not None:
            monkeypatch.setenv(key, value)
    options = LeagueGatewaySettings.load().gateway_options
    assert options.tokens == (SECRETS["LANISTA_GATEWAY_TOKEN"],)
    check_exposure(options.host, Access(options.tokens, options.trusted))


def test_the_image_gets_every_package_and_nothing_secret() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = {name.rstrip("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]}
    ignored, *allowed = [
        line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")
    ]
    kept = {line[1:] for line in allowed if line.startswith("!")}
    assert ignored == "*"
    assert packages | {"pyproject.toml", "constraints.txt"} <= kept
    assert [name for name in kept if not (ROOT / name).exists()] == []
    assert not any(name.startswith(".env") for name in kept)


def test_the_image_runs_as_an_ordinary_user() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("USER")] == ["USER lanista"]
    assert lines.index("USER lanista") > max(index for index, line in enumerate(lines) if line.startswith("RUN"))
