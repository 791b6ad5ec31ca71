from __future__ import annotations

import gzip
import json
import runpy
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from couler_py.backends.argo.schema import PLURALS, schema


@pytest.fixture(scope="module")
def validators() -> dict[str, Any]:
    return {kind: jsonschema_rs.validator_for(schema(kind)) for kind in PLURALS}


def workflow(**spec: Any) -> dict[str, Any]:
    hello = {"name": "main", "container": {"image": "busybox", "command": ["true"]}}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": "hello-"},
        "spec": {"entrypoint": "main", "templates": [hello], **spec},
    }


def problems(validators: dict[str, Any], document: dict[str, Any]) -> list[str]:
    return [
        "/".join(map(str, error.instance_path)) + ": " + error.message
        for error in validators[document["kind"]].iter_errors(document)
    ]


def test_accepts_all_of_argos_own_examples(reference_data: Path, validators: dict[str, Any]) -> None:
    files = sorted((reference_data / "argo" / "examples").rglob("*.yaml"))
    assert len(files) == 157
    documents = [
        (path, document)
        for path in files
        for document in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)
        if document and document["kind"] in PLURALS
    ]
    assert len(documents) == 162
    refused = {str(path): found for path, document in documents if (found := problems(validators, document))}
    assert refused == {}


def test_refuses_an_unknown_field_at_every_depth(validators: dict[str, Any]) -> None:
    unknown = workflow(
        templates=[{"name": "main", "container": {"image": "busybox", "comand": ["true"]}}], paralelism=3
    )
    assert problems(validators, workflow()) == []
    assert sorted(problems(validators, unknown)) == [
        "spec/templates/0/container: Additional properties are not allowed ('comand' was unexpected)",
        "spec: Additional properties are not allowed ('paralelism' was unexpected)",
    ]


def test_an_int_or_string_is_either_and_nothing_else(validators: dict[str, Any]) -> None:
    def retrying(limit: object) -> dict[str, Any]:
        return workflow(retryStrategy={"limit": limit})

    assert problems(validators, retrying(3)) == []
    assert problems(validators, retrying("{{workflow.parameters.limit}}")) == []
    assert problems(validators, retrying(1.5)) == ['spec/retryStrategy/limit: 1.5 is not of types "integer", "string"']


def test_an_integer_outside_its_format_is_refused(validators: dict[str, Any]) -> None:
    assert problems(validators, workflow(priority=2**31 - 1)) == []
    assert problems(validators, workflow(priority=2**31)) == [
        "spec/priority: 2147483648 is greater than the maximum of 2147483647"
    ]


def test_the_full_crds_bound_templates_and_the_minimal_ones_do_not(validators: dict[str, Any]) -> None:
    many = workflow(templates=[{"name": f"t{i}", "suspend": {}} for i in range(201)])
    assert len(problems(validators, many)) == 1
    assert jsonschema_rs.validator_for(schema("Workflow", "minimal")).is_valid(many)


def test_keeps_the_rules_of_the_common_expression_language() -> None:
    tasks = schema("Workflow")["properties"]["spec"]["properties"]["templates"]["items"]["properties"]["dag"]
    rules = [rule["message"] for rule in tasks["properties"]["tasks"]["items"]["x-kubernetes-validations"]]
    assert "cannot use both 'depends' and 'dependencies'" in rules


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no schema for kind 'Pod'; there is one for Workflow, WorkflowTemplate,"):
        schema("Pod")


def test_the_shipped_schemas_are_what_the_tool_makes(reference_data: Path, checkout: Path) -> None:
    strict = runpy.run_path(str(checkout / "tools" / "schemas.py"))["strict"]
    for variant in ("full", "minimal"):
        for kind in PLURALS.values():
            source = json.loads((reference_data / "argo" / "crds" / variant / f"{kind}.json").read_text())
            shipped = checkout / "couler_py" / "backends" / "argo" / "schema" / variant / f"{kind}.json.gz"
            assert json.loads(gzip.decompress(shipped.read_bytes())) == strict(source)


def test_the_shipped_schema_of_3_5_is_what_the_tool_makes(checkout: Path) -> None:
    tool = runpy.run_path(str(checkout / "tools" / "schemas.py"))
    if not (source := tool["older_crds"]()).is_dir():
        pytest.skip(f"needs the CRDs of Argo 3.5: {source} does not exist; go mod download {tool['OLDER']}")
    for kind in PLURALS.values():
        shipped = checkout / "couler_py" / "backends" / "argo" / "schema" / "full-3.5" / f"{kind}.json.gz"
        assert json.loads(gzip.decompress(shipped.read_bytes())) == tool["older"](source, kind)


def test_the_schema_of_3_5_takes_what_its_controller_takes() -> None:
    validator = jsonschema_rs.validator_for(schema("Workflow", "full-3.5"))
    tasks = [{"name": "a", "template": "main", "withItems": ["x", 1, {"y": [2]}]}]
    memoize = {"key": "k", "maxAge": "", "cache": {"configMap": {"name": "c"}}}
    loops = {"name": "loops", "dag": {"tasks": tasks}, "memoize": memoize}
    document = workflow(templateDefaults={"container": {"securityContext": {"runAsUser": 1}}})
    document["spec"]["templates"].append(loops)
    assert validator.is_valid(document)
    assert not validator.is_valid(workflow(synchronization={"mutexes": [{"name": "m"}]}))
