"""Variables of the pods are settings that exist, with values that are accepted; secrets reach only who needs them."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path

import pytest
from sqlalchemy import make_url

from api.settings import ApiSettings, StoreSettings
from api.web.middleware.host_and_size import allowed_hosts
from lanista.settings import INTERNAL, known_settings
from orchestrator.settings import LanistaSettings, TraceSettings
from tests.integration.kubernetes.conftest import Secrets
from tests.integration.kubernetes.manifests import OVERLAYS, ROOT, Pod, environment, of_kind, pods
from workers.gateway.auth import Access, check_exposure
from workers.gateway.league.settings import LeagueGatewaySettings
from workers.settings import WorkerSettings

CLASSES: dict[str, type[LanistaSettings]] = {
    "api": ApiSettings,
    "store-worker": StoreSettings,
    "migrate": StoreSettings,
    "backup": StoreSettings,
    "prune": StoreSettings,
    "train-worker": WorkerSettings,
    "ray-head": WorkerSettings,
    "ray-worker": WorkerSettings,
    "gateway": LeagueGatewaySettings,
}
DATABASE = "LANISTA_DATABASE_URL"
OTHERS = {"HOME", "PGPASSWORD", "RAY_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"}
PODS = [(name, pod) for name, manifests in OVERLAYS.items() for pod in pods(manifests)]


@pytest.mark.parametrize(("overlay", "pod"), PODS, ids=[f"{name}: {pod}" for name, pod in PODS])
def test_variables_of_a_pod_are_settings_that_it_accepts(
    overlay: str, pod: Pod, secrets: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = environment(pod, OVERLAYS[overlay], secrets)
    for name in given:
        if name.startswith("LANISTA_"):
            assert name in known_settings() or name in INTERNAL, name
        else:
            assert name in OTHERS or name.startswith(("AWS_", "RAY_gcs_", "RAY_health_")), name
        monkeypatch.setenv(name, given[name])
    settings = CLASSES[pod.component].load().model_dump()
    own = {f"LANISTA_{name.upper()}" for name in settings} | INTERNAL
    # Ray's processes and commands that open the store read no others, but write logs as all do
    assert {name for name in given if name.startswith("LANISTA_")} - own <= {"LANISTA_LOG_LEVEL", "LANISTA_LOG_FORMAT"}


def test_secrets_reach_only_the_parts_that_need_them() -> None:
    readers: dict[str, set[str]] = {}
    for _, pod in PODS:
        for variable in pod.container["env"]:
            if ref := variable.get("valueFrom", {}).get("secretKeyRef"):
                readers.setdefault(f"{ref['name']}/{ref['key']}", set()).add(pod.component)
    store = {"api", "store-worker"}
    assert readers["lanista-store/temporal-key"] == store
    assert readers["lanista-store/session-secret"] == {"api"}
    assert readers["lanista-store/database-password"] == store | {"backup", "prune"}
    assert readers["lanista-migrate/database-password"] == {"migrate"}, "only it may change the schema"
    assert readers["lanista-train/temporal-train-key"] == store | {"train-worker"}
    assert readers["lanista-gateway/control-key"] == {"gateway", "train-worker"}
    assert readers["lanista-gateway/token"] == {"gateway"}
    assert readers["lanista-ray/auth_token"] == {"train-worker"}, "KubeRay gives it to Ray's own pods"
    assert readers["lanista-tracing/headers"] == store | {"train-worker"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_only_the_migration_connects_as_the_owner_of_the_tables(overlay: str, secrets: Secrets) -> None:
    manifests = OVERLAYS[overlay]
    by_part = {pod.component: environment(pod, manifests, secrets) for pod in pods(manifests)}
    urls = {part: make_url(given[DATABASE]) for part, given in by_part.items() if DATABASE in given}
    owner, role = urls.pop("migrate"), by_part["migrate"]["LANISTA_DATABASE_APP_ROLE"]
    assert urls.keys() == {"api", "store-worker", "backup", "prune"}
    assert {url.username for url in urls.values()} == {role} != {owner.username}
    assert {url.set(username=owner.username) for url in urls.values()} == {owner}, "the same database"
    assert by_part["migrate"]["PGPASSWORD"] != by_part["api"]["PGPASSWORD"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_addresses_name_services_that_exist(overlay: str, secrets: Secrets) -> None:
    manifests = OVERLAYS[overlay]
    by_part = {pod.component: environment(pod, manifests, secrets) for pod in pods(manifests)}
    services = of_kind(manifests, "Service")
    (ray,) = of_kind(manifests, "RayCluster").values()
    head = f"{ray['metadata']['name']}-head-svc:6379"  # KubeRay's name for it
    assert ray["spec"]["authOptions"] == {"mode": "token", "secretName": "lanista-ray"}
    for part in ("api", "train-worker"):
        assert by_part[part]["RAY_ADDRESS"] == head
    (train,) = (pod for pod in pods(manifests) if pod.component == "train-worker")
    assert f"--address={head}" in train.command[2]
    host, _, port = by_part["train-worker"]["LANISTA_GATEWAYS"].partition(":")
    assert int(port) in {each["port"] for each in services[host]["spec"]["ports"]}
    assert by_part["gateway"]["LANISTA_GATEWAY_CONTROL_PORT"] == port
    for part in ("store-worker", "train-worker"):
        (metrics,) = (value for name, value in by_part[part].items() if name.endswith("METRICS_ADDRESS"))
        (pod,) = (each for each in pods(manifests) if each.component == part)
        assert int(metrics.rpartition(":")[2]) == pod.container["ports"][0]["containerPort"]


def test_the_api_answers_to_its_probes_and_to_prometheus(secrets: Secrets) -> None:
    manifests = OVERLAYS["gpu"]
    (api,) = (pod for pod in pods(manifests) if pod.component == "api")
    given = environment(api, manifests, secrets)
    hosts = allowed_hosts(given["LANISTA_HOST"], given["LANISTA_ALLOWED_HOSTS"])
    assert hosts is not None
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        (header,) = api.container[probe]["httpGet"]["httpHeaders"]
        assert header["value"] in hosts
    (endpoint,) = of_kind(manifests, "ServiceMonitor")["lanista-api"]["spec"]["endpoints"]
    (relabeling,) = endpoint["relabelings"]
    service = of_kind(manifests, "Service")["lanista-api"]["metadata"]
    scraped = relabeling["replacement"].replace("$1", f"{service['name']}.{service['namespace']}")
    assert scraped.partition(":")[0] in hosts


def test_games_need_a_token_at_the_gateway(secrets: Secrets, monkeypatch: pytest.MonkeyPatch) -> None:
    manifests = OVERLAYS["single"]
    (gateway,) = (pod for pod in pods(manifests) if pod.component == "gateway")
    for name, value in environment(gateway, manifests, secrets).items():
        monkeypatch.setenv(name, value)
    options = LeagueGatewaySettings.load().gateway_options
    assert options.tokens == (secrets["lanista-gateway"]["token"],)
    check_exposure(options.host, Access(options.tokens, options.trusted))


OPTIONAL = {
    "tracing": "otlp",
    "trace-endpoint": "http://collector:4318/v1/traces",
    "trace-folder": "/traces",
    "artifact-cache-mb": "500",
    "retain-newest": "20",
    "retain-every": "100",
    "retain-matches-days": "90",
    "install-packages": "true",
    "temporal-tls": "true",
    "temporal-tls-ca": __file__,
    "temporal-tls-server-name": "temporal.example",
    "temporal-tls-cert": __file__,
    "temporal-tls-key": __file__,
    "temporal-api-key-file": __file__,
    "temporal-deployment": "leagues",
    "temporal-build-id": "2",
    "temporal-promote": "true",
}
"""Settings that the ConfigMap may have, with a value of each; this file stands for those of the Secret."""


def test_tracing_reaches_the_parts_that_write_spans(secrets: Secrets, monkeypatch: pytest.MonkeyPatch) -> None:
    manifests = deepcopy(OVERLAYS["single"])
    of_kind(manifests, "ConfigMap")["lanista-settings"]["data"].update(OPTIONAL)
    for pod in pods(manifests):
        given = environment(pod, manifests, secrets)
        traces = pod.component in ("api", "store-worker", "train-worker")
        assert ("LANISTA_TRACING" in given) == traces, pod
        if not traces:
            continue
        for name in ("LANISTA_TRACING", "LANISTA_TRACE_ENDPOINT", "LANISTA_TRACE_FOLDER", "LANISTA_TRACE_HEADERS"):
            monkeypatch.setenv(name, given[name])
        settings = TraceSettings.load()
        assert (settings.tracing, settings.trace_endpoint) == ("otlp", OPTIONAL["trace-endpoint"])
        assert settings.trace_folder == "/traces"
        assert settings.headers_of_traces == {"x-api-key": "a=b", "other": "c d"}


def test_optional_settings_of_nodes_and_of_the_store_reach_those_who_read_them(
    secrets: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifests = deepcopy(OVERLAYS["gpu"])
    of_kind(manifests, "ConfigMap")["lanista-settings"]["data"].update(OPTIONAL)
    run_code = {"train-worker", "ray-worker", "gateway"}
    for pod in pods(manifests):
        given = environment(pod, manifests, secrets)
        assert ("LANISTA_INSTALL_PACKAGES" in given) == (pod.component in run_code), pod
        assert ("LANISTA_RETAIN_NEWEST" in given) == (pod.component == "store-worker"), pod
        with monkeypatch.context() as process:
            for name, value in given.items():
                process.setenv(name, value)
            settings = CLASSES[pod.component].load().model_dump()
            if pod.component in run_code:
                assert settings["install_packages"] and settings["artifact_cache_mb"] == 500, pod
                (mount,) = (each["mountPath"] for each in pod.container["volumeMounts"] if each["name"] == "cache")
                # below the volume: the cache must belong to the process, and an emptyDir belongs to root
                assert settings["artifact_cache"].parent == Path(mount)
            if pod.component == "store-worker":
                assert (settings["retain_newest"], settings["retain_every"]) == (20, 100)
                assert settings["retain_matches_days"] == 90


def test_all_that_speak_to_temporal_take_the_settings_of_its_connection(
    secrets: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifests = deepcopy(OVERLAYS["gpu"])
    of_kind(manifests, "ConfigMap")["lanista-settings"]["data"].update(OPTIONAL)
    for pod in pods(manifests):
        given = environment(pod, manifests, secrets)
        speaks = "LANISTA_TEMPORAL_ADDRESS" in given
        assert speaks == (pod.component in ("api", "store-worker", "train-worker"))
        volumes = {volume["name"]: volume.get("secret") for volume in pod.spec["volumes"]}
        assert speaks == (volumes.get("temporal") is not None), pod
        if not speaks:
            assert not any(name.startswith("LANISTA_TEMPORAL_") for name in given), pod
            continue
        assert volumes["temporal"]["optional"], "a server may ask for nothing"
        (mount,) = (each for each in pod.container["volumeMounts"] if each["name"] == "temporal")
        guide = (ROOT / "docs" / "guides" / "kubernetes.md").read_text()
        assert f"`{mount['mountPath']}/ca.pem`" in guide and mount["readOnly"]
        with monkeypatch.context() as process:
            for name, value in given.items():
                process.setenv(name, value)
            settings = CLASSES[pod.component].load().model_dump()
        assert settings["temporal_tls"] and settings["temporal_tls_server_name"] == "temporal.example"
        for name in ("tls_ca", "tls_cert", "tls_key", "api_key_file"):
            assert settings[f"temporal_{name}"] == Path(__file__), f"{pod}: {name}"
        upgraded = ("leagues", "2", True) if pod.component != "api" else ("", "", False)
        found = tuple(settings[f"temporal_{name}"] for name in ("deployment", "build_id", "promote"))
        assert found == upgraded, pod


def test_optional_settings_are_those_of_the_guide() -> None:
    read = {
        variable["valueFrom"]["configMapKeyRef"]["key"]
        for _, pod in PODS
        for variable in pod.container["env"]
        if variable.get("valueFrom", {}).get("configMapKeyRef", {}).get("optional")
    }
    guide = (ROOT / "docs" / "guides" / "kubernetes.md").read_text()
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \| optional: ", guide, re.MULTILINE)) == read
    assert read == {*OPTIONAL, "s3-endpoint"}
