"""Make the schemas in couler_py/backends/argo/schema/ from Argo's CRDs: `make schemas`, or with a FOLDER as argument.

FOLDER holds `full/` and `minimal/`, each with the `openAPIV3Schema` of the four kinds a person writes, as JSON. The
schemas of Argo 3.5 are made from its Go module, where Go's cache has it. A structural schema of Kubernetes becomes a
JSON schema that refuses what the API server refuses or drops in silence:

- a typed object takes no other field than its own (`additionalProperties: false`), except where Kubernetes keeps them;
- `x-kubernetes-int-or-string` becomes a type; integer formats become ranges, as the API server checks them;
- descriptions and merge hints go; CEL rules, keys of lists and defaults that say something stay.
"""

from __future__ import annotations

import gzip
import json
import os
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
    return strict(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


def write(variant: str, kind: str, schema: dict[str, Any]) -> None:
    (OUTPUT / variant).mkdir(parents=True, exist_ok=True)
    target = OUTPUT / variant / f"{kind}.json.gz"
    target.write_bytes(compressed(schema))
    print(f"{target.relative_to(ROOT)}  {target.stat().st_size} bytes")


def main(arguments: list[str]) -> int:
    source = Path(arguments[0]) if arguments else reference_crds()
    if not source.is_dir():
        print(f"{source} does not exist; name the folder of the CRDs, or set COULER_REFERENCE_DATA", file=sys.stderr)
        return 2
    for variant in ("full", "minimal"):
        for kind in KINDS:
            write(variant, kind, strict(json.loads((source / variant / f"{kind}.json").read_text())))
    if not (before := older_crds()).is_dir():
        print(f"full-3.5 stays as it is: {before} does not exist; go mod download {OLDER}", file=sys.stderr)
        return 0
    for kind in KINDS:
        write("full-3.5", kind, older(before, kind))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
