"""Renders the subset of kustomize that deploy/ uses, so that the manifests can be read without the tool.

Resources, `namespace`, `images`, JSON patches by target, and generated ConfigMaps. Anything else is refused, so that a
kustomization never means more than the tests see; where `kubectl` is installed, a test compares the two.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]

_KNOWN = {
    "apiVersion",
    "kind",
    "resources",
    "namespace",
    "images",
    "patches",
    "generatorOptions",
    "configMapGenerator",
}
CLUSTER_WIDE = ("Namespace",)


def render(folder: Path) -> list[Manifest]:
    """The manifests of a kustomization."""
    text = yaml.safe_load((folder / "kustomization.yaml").read_text())
    unknown = set(text) - _KNOWN
    assert not unknown, f"{folder}: the tests do not know {unknown}"
    found: list[Manifest] = []
    for name in text.get("resources", []):
        path = folder / name
        found += render(path) if path.is_dir() else read(path)
    found += [_generated(folder, each) for each in text.get("configMapGenerator", [])]
    for patch in text.get("patches", []):
        _patch(found, patch["target"], yaml.safe_load((folder / patch["path"]).read_text()))
    for manifest in found:
        if "namespace" in text and manifest["kind"] not in CLUSTER_WIDE:
            manifest["metadata"]["namespace"] = text["namespace"]
        for image in text.get("images", []):
            _rename_image(manifest, image)
    return found


def read(path: Path) -> list[Manifest]:
    """The manifests of a file."""
    return [each for each in yaml.safe_load_all(path.read_text()) if each]


def _generated(folder: Path, wanted: dict[str, Any]) -> Manifest:
    data = {Path(name).name: (folder / name).read_text() for name in wanted["files"]}
    labels = wanted.get("options", {}).get("labels", {})
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": wanted["name"], "labels": labels},
        "data": data,
    }


def _patch(manifests: list[Manifest], target: dict[str, str], changes: list[dict[str, Any]]) -> None:
    matched = [
        each
        for each in manifests
        if each["kind"] == target["kind"] and re.fullmatch(target["name"], each["metadata"]["name"])
    ]
    assert matched, f"no manifest is {target}"
    for manifest in matched:
        for change in copy.deepcopy(changes):
            _apply(manifest, change)


def _apply(manifest: Manifest, change: dict[str, Any]) -> None:
    """One operation of a JSON patch (RFC 6902); what it changes or removes must exist."""
    *way, last = [part.replace("~1", "/").replace("~0", "~") for part in change["path"].split("/")[1:]]
    place: Any = manifest
    for part in way:
        place = place[int(part) if isinstance(place, list) else part]
    if isinstance(place, list):
        assert change["op"] == "add", change
        assert last == "-", change
        place.append(change["value"])
    elif change["op"] == "remove":
        del place[last]
    else:
        assert change["op"] == "add" or last in place, f"{change['path']} replaces nothing"
        place[last] = change["value"]


def _rename_image(value: Any, image: dict[str, str]) -> None:
    if isinstance(value, list):
        for item in value:
            _rename_image(item, image)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in ("containers", "initContainers"):
                for container in item:
                    if container["image"].partition(":")[0] == image["name"]:
                        container["image"] = f"{image['newName']}:{image['newTag']}"
            _rename_image(item, image)
