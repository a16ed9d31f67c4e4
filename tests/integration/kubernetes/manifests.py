"""The rendered overlays, and what is inside them: pods, containers, references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.kubernetes.kustomize import Manifest, render

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy" / "kubernetes"
OVERLAYS = {name: render(FOLDER / "overlays" / name) for name in ("single", "gpu")}
SETTINGS = "lanista-settings"


@dataclass(frozen=True)
class Pod:
    """A pod that a manifest makes."""

    owner: Manifest
    part: str
    template: Manifest

    @property
    def spec(self) -> dict[str, Any]:
        return dict(self.template["spec"])

    @property
    def labels(self) -> dict[str, str]:
        return dict(self.template["metadata"]["labels"])

    @property
    def container(self) -> dict[str, Any]:
        (only,) = self.spec["containers"]
        return dict(only)

    @property
    def component(self) -> str:
        return self.labels["app.kubernetes.io/component"]

    @property
    def command(self) -> list[str]:
        return [*self.container.get("command", []), *self.container.get("args", [])]

    def __str__(self) -> str:
        return f"{self.owner['kind']} {self.owner['metadata']['name']} {self.part}"


def pods(manifests: list[Manifest]) -> Iterator[Pod]:
    """Every pod template of the manifests."""
    for manifest in manifests:
        spec = manifest.get("spec", {})
        if manifest["kind"] in ("Deployment", "Job"):
            yield Pod(manifest, "", spec["template"])
        elif manifest["kind"] == "CronJob":
            yield Pod(manifest, "", spec["jobTemplate"]["spec"]["template"])
        elif manifest["kind"] == "RayCluster":
            yield Pod(manifest, "head", spec["headGroupSpec"]["template"])
            for group in spec["workerGroupSpecs"]:
                yield Pod(manifest, group["groupName"], group["template"])


def of_kind(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    """The manifests of a kind by name."""
    return {each["metadata"]["name"]: each for each in manifests if each["kind"] == kind}


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Whether a label selector matches."""
    plain = all(labels.get(name) == value for name, value in selector.get("matchLabels", {}).items())
    return plain and all(
        rule["operator"] == "In" and labels.get(rule["key"]) in rule["values"]
        for rule in selector.get("matchExpressions", [])
    )


def environment(pod: Pod, manifests: list[Manifest], secrets: dict[str, dict[str, str]]) -> dict[str, str]:
    """The variables of a pod's container with the values that the cluster would fill in."""
    settings = of_kind(manifests, "ConfigMap")[SETTINGS]["data"]
    found: dict[str, str] = {}
    for variable in pod.container["env"]:
        source = variable.get("valueFrom")
        if source is None:
            found[variable["name"]] = variable["value"]
        elif "configMapKeyRef" in source:
            ref = source["configMapKeyRef"]
            assert ref["name"] == SETTINGS, ref
            assert ref.get("optional") or ref["key"] in settings, f"{pod}: {ref}"
            if ref["key"] in settings:
                found[variable["name"]] = settings[ref["key"]]
        else:
            ref = source["secretKeyRef"]
            assert ref["key"] in secrets[ref["name"]], f"{pod}: {ref}"
            found[variable["name"]] = secrets[ref["name"]][ref["key"]]
    return found
