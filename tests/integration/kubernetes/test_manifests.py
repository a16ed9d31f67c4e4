"""The Kubernetes manifests hold together: there is no cluster here, so all that can be known without one is."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
import yaml

from lanista.cli import app
from tests.integration.compose_file import commands
from tests.integration.kubernetes.conftest import Secrets
from tests.integration.kubernetes.kustomize import CLUSTER_WIDE, Manifest
from tests.integration.kubernetes.manifests import FOLDER, OVERLAYS, ROOT, Pod, of_kind, pods, selects
from tests.integration.kubernetes.schemas import CUSTOM

KUBERNETES = "1.34"
"""The release whose schemas the manifests are checked against."""
PODS = [(name, pod) for name, manifests in OVERLAYS.items() for pod in pods(manifests)]
each_overlay = pytest.mark.parametrize("manifests", OVERLAYS.values(), ids=OVERLAYS.keys())
each_pod = pytest.mark.parametrize("pod", [pod for _, pod in PODS], ids=[f"{name}: {pod}" for name, pod in PODS])


def by_name(manifests: list[Manifest]) -> dict[tuple[str, str], Manifest]:
    return {(each["kind"], each["metadata"]["name"]): each for each in manifests}


@pytest.mark.parametrize("name", OVERLAYS)
def test_the_real_tool_renders_what_these_tests_read(name: str) -> None:
    tool = shutil.which("kubectl")
    if tool is None:
        pytest.skip("kubectl is not installed: the overlays were rendered by the tests' own renderer only")
    done = subprocess.run([tool, "kustomize", FOLDER / "overlays" / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert by_name(list(yaml.safe_load_all(done.stdout))) == by_name(OVERLAYS[name])


@each_overlay
def test_every_manifest_follows_its_schema(manifests: list[Manifest]) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="it comes with the extra `test`")
    for manifest in manifests:
        spec = CUSTOM.get((manifest["apiVersion"], manifest["kind"]))
        if spec is None:
            validator.validate(manifest, KUBERNETES, strict=True)
        else:
            jsonschema.validate(manifest["spec"], spec)
    for pod in pods(manifests):
        as_pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod", **pod.template["metadata"]}}
        validator.validate({**as_pod, "spec": pod.spec}, KUBERNETES, strict=True)


def test_a_wrong_field_is_found() -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="it comes with the extra `test`")
    broken = of_kind(OVERLAYS["single"], "Service")["lanista-api"] | {"spec": {"portz": []}}
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(broken, KUBERNETES, strict=True)
    cluster = of_kind(OVERLAYS["gpu"], "RayCluster")["lanista"]
    with pytest.raises(jsonschema.ValidationError, match="rayVersions"):
        jsonschema.validate(cluster["spec"] | {"rayVersions": "2"}, CUSTOM["ray.io/v1", "RayCluster"])


@each_overlay
def test_names_are_unique_and_everything_is_in_the_namespace(manifests: list[Manifest]) -> None:
    assert len(by_name(manifests)) == len(manifests)
    for manifest in manifests:
        if manifest["kind"] not in CLUSTER_WIDE:
            assert manifest["metadata"]["namespace"] == "lanista", manifest["metadata"]["name"]
    assert not of_kind(manifests, "Secret"), "values are never committed"


@each_pod
def test_pods_may_do_no_more_than_they_need(pod: Pod) -> None:
    container, spec = pod.container, pod.spec
    assert spec["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "runAsGroup": 1000,
        "fsGroup": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    autoscales = pod.part == "head" and pod.owner["spec"].get("enableInTreeAutoscaling")
    assert spec.get("automountServiceAccountToken") is (None if autoscales else False)
    assert spec["enableServiceLinks"] is False, "a Service's variables begin with LANISTA_ and would be refused"
    assert container["resources"]["requests"].keys() >= {"cpu", "memory"}
    assert "memory" in container["resources"]["limits"]
    assert not {"hostNetwork", "hostPID", "hostPath"} & set(str(spec).replace("'", " ").split())


@each_pod
def test_volumes_accounts_and_probes_of_pods_exist(pod: Pod) -> None:
    manifests = next(all_of for name, all_of in OVERLAYS.items() if (name, pod) in PODS)
    volumes = {volume["name"]: volume for volume in pod.spec["volumes"]}
    assert {mount["name"] for mount in pod.container["volumeMounts"]} == set(volumes)
    for volume in volumes.values():
        claim = volume.get("persistentVolumeClaim")
        assert claim is None or claim["claimName"] in of_kind(manifests, "PersistentVolumeClaim")
    account = pod.spec.get("serviceAccountName")
    assert account is None or account in of_kind(manifests, "ServiceAccount")
    ports = {port["name"] for port in pod.container.get("ports", [])}
    ends = pod.owner["kind"] in ("Job", "CronJob")
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert (probe in pod.container) != ends, f"{pod}: {probe}"
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        action = pod.container.get(probe, {})
        for kind in ("httpGet", "tcpSocket"):
            assert kind not in action or action[kind]["port"] in ports, f"{pod}: {probe}"


def test_probes_of_workers_find_a_file_that_is_written_and_touched(tmp_path: Path) -> None:
    ready = tmp_path / "ready"

    def passes(command: list[str]) -> bool:
        here = [word.replace("/run/lanista/ready", str(ready)) for word in command]
        return subprocess.run(here, capture_output=True).returncode == 0

    commands_of = {
        str(pod.container[probe]["exec"]["command"]): pod.container[probe]["exec"]["command"]
        for _, pod in PODS
        for probe in ("startupProbe", "livenessProbe", "readinessProbe")
        if "exec" in pod.container.get(probe, {})
    }
    (command,) = commands_of.values()
    assert not passes(command), "the worker has not begun to serve"
    ready.write_text("")
    assert not passes(command), "what an earlier process announced was taken back"
    ready.write_text("17")
    assert passes(command)
    old = time.time() - 90
    os.utime(ready, (old, old))
    assert not passes(command), "its event loop stands still"


@each_overlay
def test_selectors_find_pods_and_ports_are_open(manifests: list[Manifest]) -> None:
    all_pods = list(pods(manifests))
    for name, service in of_kind(manifests, "Service").items():
        behind = [pod for pod in all_pods if selects({"matchLabels": service["spec"]["selector"]}, pod.labels)]
        assert len(behind) == 1, name
        open_ports = {port["name"]: port["containerPort"] for port in behind[0].container["ports"]}
        for port in service["spec"]["ports"]:
            assert open_ports[port["targetPort"]] == port["port"], f"{name}: {port}"
    for name, budget in of_kind(manifests, "PodDisruptionBudget").items():
        assert any(selects(budget["spec"]["selector"], pod.labels) for pod in all_pods), name
    for deployment in of_kind(manifests, "Deployment").values():
        assert selects(deployment["spec"]["selector"], deployment["spec"]["template"]["metadata"]["labels"])
    budgeted = {budget["metadata"]["name"] for budget in of_kind(manifests, "PodDisruptionBudget").values()}
    lasting = {f"lanista-{pod.component}" for pod in all_pods if pod.owner["kind"] not in ("Job", "CronJob")}
    assert budgeted == lasting


@each_overlay
def test_monitors_find_what_they_scrape(manifests: list[Manifest], secrets: Secrets) -> None:
    for name, monitor in of_kind(manifests, "ServiceMonitor").items():
        found = [
            service
            for service in of_kind(manifests, "Service").values()
            if selects(monitor["spec"]["selector"], service["metadata"]["labels"])
        ]
        assert len(found) == 1, name
        for endpoint in monitor["spec"]["endpoints"]:
            assert endpoint["port"] in {port["name"] for port in found[0]["spec"]["ports"]}
            if credentials := endpoint.get("authorization", {}).get("credentials"):
                assert credentials["key"] in secrets[credentials["name"]]
    for name, monitor in of_kind(manifests, "PodMonitor").items():
        found_pods = [pod for pod in pods(manifests) if selects(monitor["spec"]["selector"], pod.labels)]
        assert {pod.component for pod in found_pods} == {"store-worker", "train-worker"}, name
        for pod in found_pods:
            assert "metrics" in {port["name"] for port in pod.container["ports"]}


@each_overlay
def test_every_port_that_is_called_is_allowed(manifests: list[Manifest]) -> None:
    """Who calls whom, against the policies: every pod is closed, and these are the openings."""
    policies = list(of_kind(manifests, "NetworkPolicy").values())
    labels = {pod.component: pod.labels for pod in pods(manifests)}

    def allowed(caller: str, called: str, port: int) -> bool:
        return any(
            _lets_in(rule, labels[caller], port)
            for policy in policies
            if "Ingress" in policy["spec"]["policyTypes"] and selects(policy["spec"]["podSelector"], labels[called])
            for rule in policy["spec"].get("ingress", [])
        )

    closing = [
        policy["spec"]["podSelector"]
        for policy in policies
        if policy["spec"]["policyTypes"] == ["Ingress"] and "ingress" not in policy["spec"]
    ]
    assert all(any(selects(each, its) for each in closing) for its in labels.values()), "closed by default"
    assert allowed("api", "ray-head", 6379)
    assert allowed("train-worker", "ray-head", 6379)
    assert allowed("ray-worker", "ray-worker", 45678)
    assert allowed("ray-worker", "gateway", 8820)
    assert allowed("train-worker", "gateway", 8820)
    assert not allowed("api", "gateway", 8820)
    assert not allowed("gateway", "ray-head", 6379)
    assert not allowed("ray-worker", "api", 8800), "user code does not reach the API"


def _lets_in(rule: dict[str, Any], caller: dict[str, str], port: int) -> bool:
    ports = rule.get("ports")
    if ports is not None and port not in [each["port"] for each in ports]:
        return False
    callers = rule.get("from")
    return callers is None or any("podSelector" in each and selects(each["podSelector"], caller) for each in callers)


@each_pod
def test_commands_are_those_of_the_command_line(pod: Pod) -> None:
    from ray.scripts.scripts import start

    flags = {option for parameter in start.params for option in parameter.opts}
    if pod.owner["kind"] == "RayCluster":
        spec = pod.owner["spec"]
        groups = {group["groupName"]: group for group in spec["workerGroupSpecs"]} | {"head": spec["headGroupSpec"]}
        assert {f"--{name}" for name in groups[pod.part]["rayStartParams"]} <= flags
        return
    lines = commands({"command": pod.command})
    assert lines[-1][0] == "lanista"
    command: Any = typer.main.get_command(app)
    for word in lines[-1][1:]:
        if not hasattr(command, "commands"):
            break  # an argument
        assert word in command.commands, lines
        command = command.commands[word]
    assert not hasattr(command, "commands"), lines
    for line in lines[:-1]:
        assert line[:2] == ["ray", "start"]
        assert {word.split("=")[0] for word in line[2:]} <= flags


def test_ray_offers_what_its_pods_may_use() -> None:
    for name, manifests in OVERLAYS.items():
        spec = of_kind(manifests, "RayCluster")["lanista"]["spec"]
        assert spec["rayVersion"] == version("ray")
        assert spec["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0", "user code never runs on the head"
        most = 0
        for group in spec["workerGroupSpecs"]:
            limits = group["template"]["spec"]["containers"][0]["resources"]["limits"]
            assert group["rayStartParams"]["num-cpus"] == limits["cpu"]
            assert group["rayStartParams"].get("num-gpus") == limits.get("nvidia.com/gpu")
            assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
            most += group["maxReplicas"] * int(limits["cpu"])
        told = of_kind(manifests, "ConfigMap")["lanista-settings"]["data"]["ray-max-cpus"]
        assert told == (str(most) if spec.get("enableInTreeAutoscaling") else "0"), name


def test_the_guide_names_every_secret_and_setting(secrets: Secrets) -> None:
    guide = (ROOT / "docs" / "guides" / "kubernetes.md").read_text()
    for name, values in secrets.items():
        assert f"`{name}`" in guide
        for key in values:
            assert f"`{key}`" in guide, f"{name}: {key}"
    for key in of_kind(OVERLAYS["single"], "ConfigMap")["lanista-settings"]["data"]:
        assert f"`{key}`" in guide, key
