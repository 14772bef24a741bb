"""The clusters that the guide describes: held against Ray's own check and KubeRay's own schema."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests import real_data
from tests.guide import paper

Manifest = dict[str, Any]
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)
RENTED, KUBERNETES = (yaml.safe_load(one) for one in BLOCK.findall(paper.page("cluster")))


def ray_allows(manifest: Manifest) -> None:
    """As `ray up` looks at a file before it rents anything."""
    from workers import cluster

    cluster.prepare("local")  # Ray reads when it is imported how others here will start it
    from ray.autoscaler._private import util

    util.validate_config(util.prepare_config(copy.deepcopy(manifest)))


def kuberay_allows(manifest: Manifest) -> None:
    """As the API server looks at it where fields that are unknown are refused."""
    crd = definition(crds() / "ray.io_rayclusters.yaml")
    schema = next(
        version["schema"]["openAPIV3Schema"]
        for version in crd["spec"]["versions"]
        if manifest["apiVersion"].endswith(f"/{version['name']}")
    )
    jsonschema.validate(manifest, strict(schema))


@cache
def definition(path: Path) -> Manifest:
    """It is long: read once."""
    return yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)  # type: ignore[no-any-return]


def crds() -> Path:
    try:
        return real_data.unpacked("kuberay")
    except real_data.Missing as missing:
        pytest.skip(str(missing))


def strict(schema: Any) -> Any:
    """The schema without room for unknown fields, and with Kubernetes' own kind of value."""
    if not isinstance(schema, dict):
        return schema
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    made = {name: strict(each) for name, each in schema.items()}
    known = schema.get("properties")
    if schema.get("type") == "object" and isinstance(known, dict):
        made["additionalProperties"] = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    return made


CHECKS: Mapping[str, tuple[Manifest, Callable[[Manifest], None]]] = {
    "ray up": (RENTED, ray_allows),
    "KubeRay": (KUBERNETES, kuberay_allows),
}
FAULTS: Mapping[str, Mapping[str, Callable[[Manifest], Any]]] = {
    "ray up": {
        "a typo": lambda it: it.update(idle_timeout_minute=it.pop("idle_timeout_minutes")),
        "a wrong type": lambda it: it.update(max_workers="four"),
        "a missing head": lambda it: it["available_node_types"].pop("head"),
    },
    "KubeRay": {
        "a typo": lambda it: it["spec"].update(
            enableInTreeAutoscalin=it["spec"].pop("enableInTreeAutoscaling")
        ),
        "a wrong type": lambda it: it["spec"]["workerGroupSpecs"][0].update(maxReplicas="four"),
        "a missing head": lambda it: it["spec"].pop("headGroupSpec"),
    },
}


@pytest.mark.parametrize("way", CHECKS)
def test_the_cluster_of_the_guide_is_one_that_its_maker_takes(way: str) -> None:
    manifest, allow = CHECKS[way]
    allow(manifest)


@pytest.mark.parametrize("fault", ["a typo", "a wrong type", "a missing head"])
@pytest.mark.parametrize("way", CHECKS)
def test_a_cluster_with_a_fault_is_refused(way: str, fault: str) -> None:
    manifest, allow = CHECKS[way]
    wrong = copy.deepcopy(manifest)
    FAULTS[way][fault](wrong)
    with pytest.raises((jsonschema.ValidationError, ValueError)):
        allow(wrong)


def test_both_start_nodes_with_cards_and_none_before_they_are_asked_for() -> None:
    rented = RENTED["available_node_types"]["with_gpu"]
    (pods,) = KUBERNETES["spec"]["workerGroupSpecs"]
    assert rented["min_workers"] == pods["minReplicas"] == pods["replicas"] == 0
    assert rented["max_workers"] == pods["maxReplicas"] > 0


def test_kubernetes_is_told_the_version_of_ray_that_is_installed() -> None:
    assert KUBERNETES["spec"]["rayVersion"] == metadata.version("ray")
