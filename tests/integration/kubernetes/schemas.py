"""Schemas of the custom resources, written from the documented fields that deploy/ uses: an unknown field is refused.

The real ones are large and come with KubeRay and the Prometheus operator. Pods inside are checked as pods.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string", "minLength": 1}
COUNT: Schema = {"type": "integer", "minimum": 0}
TEXTS: Schema = {"type": "object", "additionalProperties": TEXT}


def closed(properties: dict[str, Schema], *required: str) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items, "minItems": 1}


_SELECTOR = closed(
    {
        "matchLabels": TEXTS,
        "matchExpressions": list_of(
            closed({"key": TEXT, "operator": {"enum": ["In", "NotIn", "Exists"]}, "values": list_of(TEXT)}, "key")
        ),
    }
)
_RELABELING = closed(
    {
        "sourceLabels": list_of(TEXT),
        "separator": TEXT,
        "regex": TEXT,
        "replacement": TEXT,
        "targetLabel": TEXT,
        "action": TEXT,
    }
)
_ENDPOINT = closed(
    {
        "port": TEXT,
        "path": TEXT,
        "interval": {"type": "string", "pattern": r"^\d+(s|m)$"},
        "relabelings": list_of(_RELABELING),
        "authorization": closed({"credentials": closed({"name": TEXT, "key": TEXT}, "name", "key")}),
    },
    "port",
)
# Ray reads its parameters as strings
_GROUP: dict[str, Schema] = {"rayStartParams": TEXTS, "template": {"type": "object"}}
_RAY_CLUSTER = closed(
    {
        "rayVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        "authOptions": closed({"mode": {"enum": ["disabled", "token"]}, "secretName": TEXT}),
        "enableInTreeAutoscaling": {"type": "boolean"},
        "autoscalerOptions": closed(
            {"idleTimeoutSeconds": COUNT, "resources": {"type": "object"}, "securityContext": {"type": "object"}}
        ),
        "headGroupSpec": closed({**_GROUP}, "rayStartParams", "template"),
        "workerGroupSpecs": list_of(
            closed(
                {**_GROUP, "groupName": TEXT, "replicas": COUNT, "minReplicas": COUNT, "maxReplicas": COUNT},
                "groupName",
                "rayStartParams",
                "template",
            )
        ),
    },
    "headGroupSpec",
)

CUSTOM: dict[tuple[str, str], Schema] = {
    ("ray.io/v1", "RayCluster"): _RAY_CLUSTER,
    ("monitoring.coreos.com/v1", "ServiceMonitor"): closed(
        {"selector": _SELECTOR, "endpoints": list_of(_ENDPOINT)}, "selector", "endpoints"
    ),
    ("monitoring.coreos.com/v1", "PodMonitor"): closed(
        {"selector": _SELECTOR, "podMetricsEndpoints": list_of(_ENDPOINT)}, "selector"
    ),
}
"""The schema of `spec`, by apiVersion and kind."""
