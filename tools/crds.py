"""Reduced definitions of the objects that launchers and built-in steps make: `tests/data/crds/NAME.json`.

    .venv/bin/python tools/crds.py

They come from the operators' own Go modules, so `go` has to be there. Left out are descriptions, and of pods all that
our manifests never say; a field that isn't named is refused.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).parents[1] / "tests" / "data" / "crds"
OPERATOR = "github.com/kubeflow/training-operator@v1.8.1"
SPARK = "github.com/kubeflow/spark-operator/v2@v2.3.0"
KATIB = ("github.com/kubeflow/katib@v0.19.0", "pkg/apis/v1beta1/swagger.json")
DEFINED = {
    "jobset": ("sigs.k8s.io/jobset@v0.10.1", "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"),
    "pytorchjob": (OPERATOR, "manifests/base/crds/kubeflow.org_pytorchjobs.yaml"),
    "tfjob": (OPERATOR, "manifests/base/crds/kubeflow.org_tfjobs.yaml"),
    "trainjob": ("github.com/kubeflow/trainer/v2@v2.0.0", "manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml"),
    "mpijob": ("github.com/kubeflow/mpi-operator@v0.6.0", "manifests/base/kubeflow.org_mpijobs.yaml"),
    "rayjob": ("github.com/ray-project/kuberay/ray-operator@v1.4.2", "config/crd/bases/ray.io_rayjobs.yaml"),
    "sparkapplication": (SPARK, "config/crd/bases/sparkoperator.k8s.io_sparkapplications.yaml"),
}
POD = frozenset(
    {"containers", "volumes", "nodeSelector", "tolerations", "serviceAccountName", "restartPolicy", "subdomain"}
    | {"priorityClassName", "schedulerName", "hostNetwork", "imagePullSecrets", "template"}
)
CONTAINER = frozenset(
    {"name", "image", "command", "args", "env", "envFrom", "resources", "volumeMounts", "workingDir"}
    | {"imagePullPolicy", "ports"}
)
VOLUME = frozenset({"name", "persistentVolumeClaim", "emptyDir", "configMap", "secret"})
DROPPED = frozenset({"description", "default", "format", "title"})


def source(module: str, path: str) -> str:
    """The text of a file of a Go module."""
    done = subprocess.run(["go", "mod", "download", "-json", module], capture_output=True, text=True, check=True)
    return (Path(json.loads(done.stdout)["Dir"]) / path).read_text(encoding="utf-8")


def reduced(name: str) -> dict[str, Any]:
    """What is kept of a definition: where it is from, group, kind, and the schema of each version."""
    module, path = DEFINED[name]
    spec = yaml.safe_load(source(module, path))["spec"]
    versions = {each["name"]: strict(each["schema"]["openAPIV3Schema"]) for each in spec["versions"]}
    return {
        "source": f"{module}/{path}",
        "group": spec["group"],
        "kind": spec["names"]["kind"],
        "versions": versions,
    }


def katib() -> dict[str, Any]:
    """The definition of an Experiment: the one of the cluster takes everything, that of its API says what there is."""
    known = json.loads(source(*KATIB))["definitions"]
    experiment = strict(known["v1beta1.Experiment"], known)
    versions = {"v1beta1": experiment}
    return {"source": "/".join(KATIB), "group": "kubeflow.org", "kind": "Experiment", "versions": versions}


def strict(schema: Any, known: dict[str, Any] | None = None) -> Any:
    """A schema of Kubernetes as one that refuses the fields that it doesn't name."""
    if isinstance(schema, list):
        return [strict(each, known) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target = schema["$ref"].rpartition("/")[2]
        return strict((known or {}).get(target, {}), known) if target.startswith("v1beta1.") else {}
    found: dict[str, Any] = {}
    names = schema.get("properties")
    for key, inner in schema.items():
        if key == "properties":
            found[key] = {name: strict(each, known) for name, each in inner.items() if _kept(name, names)}
        elif key == "x-kubernetes-int-or-string":
            found["type"] = ["integer", "string"]
        elif not (key in DROPPED and isinstance(inner, str | int | dict | list)) and not key.startswith("x-"):
            found[key] = inner if key in ("enum", "required") else strict(inner, known)
    if schema.get("x-kubernetes-int-or-string"):
        found.pop("anyOf", None)
    if names and not schema.get("x-kubernetes-preserve-unknown-fields"):
        found.setdefault("additionalProperties", False)
        if "apiVersion" in names and "metadata" in names:
            found["properties"]["metadata"] = {}
    return found


def _kept(name: str, beside: dict[str, Any]) -> bool:
    """Whether a field is said by any manifest of ours: in pods, containers and volumes few are."""
    if {"containers", "nodeSelector"} <= beside.keys():
        return name in POD
    if {"image", "envFrom", "volumeMounts"} <= beside.keys() and "livenessProbe" in beside:
        return name in CONTAINER
    return not {"persistentVolumeClaim", "hostPath"} <= beside.keys() or name in VOLUME


def main() -> None:
    """Write all of them anew."""
    DATA.mkdir(parents=True, exist_ok=True)
    for name, found in {**{name: reduced(name) for name in DEFINED}, "experiment": katib()}.items():
        (DATA / f"{name}.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
