"""Make the schemas in couler_py/backends/argo/schema/ from Argo's CRDs: `make schemas`, or with a FOLDER as argument.

FOLDER holds `full/` and `minimal/`, each with the `openAPIV3Schema` of the four kinds a person writes, as JSON. The
schemas of Argo 3.5 are made from its Go module, where Go's cache has it. A structural schema of Kubernetes becomes a
JSON schema that refuses what the API server refuses or drops in silence:

- a typed object takes no other field than its own (`additionalProperties: false`), except where Kubernetes keeps them;
- `x-kubernetes-int-or-string` becomes a type; integer formats become ranges, as the API server checks them;
- descriptions and merge hints go; CEL rules, keys of lists and defaults that say something stay.

`tools/descriptions.json.gz` holds, by the name that the API gives an object, what it says about it and its fields, in
short. It is made from Argo's `api/jsonschema/schema.json`, where the Go module of Argo is at hand, and else left as it
is.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "couler_py" / "backends" / "argo" / "schema"
OLDER = "github.com/argoproj/argo-workflows/v3@v3.5.14"
"""The Go module with the CRDs of Argo 3.5: `go mod download` fetches it."""
KINDS = ("workflows", "workflowtemplates", "clusterworkflowtemplates", "cronworkflows")
KEPT = (
    "type",
    "required",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "x-kubernetes-validations",
    "x-kubernetes-list-map-keys",
)
DESCRIBED = "v4.0.7"
"""The version of Argo's module that says what the fields are for."""
RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
KNOWN = {
    *KEPT,
    "properties",
    "items",
    "additionalProperties",
    "default",
    "format",
    "description",
    "anyOf",  # only beside x-kubernetes-int-or-string
    "nullable",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
}


def strict(node: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of one node of a structural schema; raises ValueError at a keyword with no translation here."""
    if unknown := node.keys() - KNOWN:
        raise ValueError(f"no translation for {sorted(unknown)}")
    if "anyOf" in node and not node.get("x-kubernetes-int-or-string"):
        raise ValueError("anyOf is translated only beside x-kubernetes-int-or-string")
    made = {key: node[key] for key in KEPT if key in node}
    if node.get("default") not in (None, ""):
        made["default"] = node["default"]
    if node.get("x-kubernetes-int-or-string"):
        made["type"] = ["integer", "string"]
    if node.get("x-kubernetes-list-type") == "set":
        made["uniqueItems"] = True
    if node.get("nullable"):
        made["type"] = [made["type"], "null"]
    if node.get("type") == "integer" and (limits := RANGES.get(node.get("format", ""))):
        low, high = limits
        made["minimum"] = max(node.get("minimum", low), low)
        made["maximum"] = min(node.get("maximum", high), high)
    if "properties" in node:
        made["properties"] = {name: strict(child) for name, child in node["properties"].items()}
        if not node.get("x-kubernetes-preserve-unknown-fields"):
            made["additionalProperties"] = False
    elif isinstance(node.get("additionalProperties"), dict):
        made["additionalProperties"] = strict(node["additionalProperties"])
    if "items" in node:
        made["items"] = strict(node["items"])
    return made


def compressed(schema: dict[str, Any]) -> bytes:
    """The file's bytes: without a time stamp, so that equal schemas are equal files."""
    text = json.dumps(schema, sort_keys=True, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def reference_crds() -> Path:
    """The CRDs of the reference data: $COULER_REFERENCE_DATA, else a folder beside the checkout."""
    data = Path(os.environ.get("COULER_REFERENCE_DATA") or ROOT.parent / "shared" / "data")
    return data / "argo" / "crds"


def older_crds() -> Path:
    """The full CRDs of Argo 3.5, YAML files, in Go's cache of modules."""
    cache = os.environ.get("GOMODCACHE") or Path(os.environ.get("GOPATH") or Path.home() / "go") / "pkg" / "mod"
    return Path(cache) / OLDER / "manifests" / "base" / "crds" / "full"


def older(source: Path, kind: str) -> dict[str, Any]:
    """The JSON schema of a kind of Argo 3.5 from the folder of its CRDs."""
    import yaml

    crd = yaml.load((source / f"argoproj.io_{kind}.yaml").read_text(), Loader=yaml.CSafeLoader)
    made = strict(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    as_the_controller_reads(made)
    return made


def as_the_controller_reads(schema: dict[str, Any]) -> None:
    """Mend, in place, what the CRDs of 3.5 refuse although its controller takes it; 4 says it right.

    They want objects as items of a loop, a key beside the name of a cache's ConfigMap, and a name and an image in the
    container that templates have by default.
    """
    for name, child in schema.get("properties", {}).items():
        if name == "withItems":
            child.pop("items", None)
        elif name == "memoize":
            child["properties"]["cache"]["properties"]["configMap"].pop("required", None)
        elif name == "templateDefaults":
            for body in ("container", "script"):
                child["properties"][body].pop("required", None)
        as_the_controller_reads(child)
    if "items" in schema:
        as_the_controller_reads(schema["items"])


def write(variant: str, kind: str, schema: dict[str, Any]) -> None:
    (OUTPUT / variant).mkdir(parents=True, exist_ok=True)
    target = OUTPUT / variant / f"{kind}.json.gz"
    target.write_bytes(compressed(schema))
    print(f"{target.relative_to(ROOT)}  {target.stat().st_size} bytes")


def short(text: str) -> str:
    """The first sentence of a description."""
    plain = " ".join(text.split())
    end = re.search(r"(?<!e\.g)(?<!i\.e)\.( |$)(?=[A-Z]|$)", plain)
    return plain[: end.start() + 1] if end else plain


def described(definitions: dict[str, Any]) -> dict[str, Any]:
    """By definition: what it is, and for each field what that is and the definition of what it holds."""
    prefix = "#/definitions/"
    found: dict[str, Any] = {}
    for name, node in definitions.items():
        if not name.startswith(("io.k8s.", "io.argoproj.workflow.")) or "properties" not in node:
            continue
        fields = {}
        for field, child in node["properties"].items():
            inner = child
            while "$ref" not in inner and (step := inner.get("items") or inner.get("additionalProperties")):
                inner = step if isinstance(step, dict) else {}
            fields[field] = [short(child.get("description", "")), inner.get("$ref", "").removeprefix(prefix)]
            ref = fields[field][1]
            if "properties" not in definitions.get(ref, {}) and (items := definitions.get(ref, {}).get("items")):
                fields[field][1] = items.get("$ref", "").removeprefix(prefix)
        found[name] = {"about": short(node.get("description", "")), "fields": fields}
    return found


def api_schema() -> Path | None:
    """Argo's own JSON schema, from the Go module that the tests' cluster is built of."""
    modules = Path(os.environ.get("GOMODCACHE") or Path.home() / "go" / "pkg" / "mod") / "github.com" / "argoproj"
    found = modules / f"argo-workflows/v4@{DESCRIBED}" / "api" / "jsonschema" / "schema.json"
    return found if found.is_file() else None


def main(arguments: list[str]) -> int:
    source = Path(arguments[0]) if arguments else reference_crds()
    if not source.is_dir():
        print(f"{source} does not exist; name the folder of the CRDs, or set COULER_REFERENCE_DATA", file=sys.stderr)
        return 2
    for variant in ("full", "minimal"):
        for kind in KINDS:
            write(variant, kind, strict(json.loads((source / variant / f"{kind}.json").read_text())))
    if (before := older_crds()).is_dir():
        for kind in KINDS:
            write("full-3.5", kind, older(before, kind))
    else:
        print(f"full-3.5 stays as it is: {before} does not exist; go mod download {OLDER}", file=sys.stderr)
    if (api := api_schema()) is not None:
        target = ROOT / "tools" / "descriptions.json.gz"
        target.write_bytes(compressed(described(json.loads(api.read_text())["definitions"])))
        print(f"{target.relative_to(ROOT)}  {target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
