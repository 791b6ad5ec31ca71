"""Steps with a cache on Argo: keys, the ConfigMaps that hold results, and where files lie."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from couler_py.backends.argo import compile_workflow
from couler_py.backends.argo.options import Options
from couler_py.ir.expr import Literal
from couler_py.ir.model import (
    Argument,
    Cache,
    Graph,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container
from couler_py.ir.types import INT

STEP = Template(
    "step",
    Container("alpine"),
    Inputs((Parameter("x", INT),)),
    Outputs((OutputParameter("out", path="/out"),), (OutputArtifact("file", "/file"),)),
    cache=Cache(max_age=3600.0),
)


def emitted(step: Template, **options: Any) -> dict[str, Any]:
    """The template of a step."""
    workflow = Workflow(
        "w", "main", (Template("main", Graph((Task("a", "step", (Argument("x", Literal(1)),)),))), step)
    )
    document = compile_workflow(workflow, Options(**options)).documents[0]
    return next(each for each in document["spec"]["templates"] if each["name"] == "step")


def test_a_key_is_hexadecimal_whatever_the_inputs_hold() -> None:
    key = emitted(STEP)["memoize"]["key"]
    assert key.startswith("{{=sprig.sha256sum(toJson(['")
    assert key.endswith("inputs.parameters.x]))}}")


def test_results_are_spread_over_sixteen_config_maps_by_the_first_digit_of_their_key() -> None:
    memoize = emitted(STEP)["memoize"]
    key = memoize["key"].removeprefix("{{=").removesuffix("}}")
    assert memoize["cache"] == {"configMap": {"name": f"couler-cache-step-{{{{=sprig.substr(0, 1, {key})}}}}"}}
    assert memoize["maxAge"] == "1h"


def test_a_config_map_that_the_workflow_names_holds_all() -> None:
    named = replace(STEP, cache=Cache(key="mine", store="results"))
    assert emitted(named)["memoize"] == {"key": "mine", "cache": {"configMap": {"name": "results"}}, "maxAge": ""}


@pytest.mark.parametrize(("repository", "field"), [("s3", "key"), ("gcs", "key"), ("azure", "blob"), ("hdfs", "path")])
def test_files_of_cached_steps_lie_at_a_place_of_their_key_and_outlive_their_run(repository: str, field: str) -> None:
    made = emitted(STEP, repository=repository)
    (file,) = made["outputs"]["artifacts"]
    assert file[repository] == {field: f"couler-cache/step/{made['memoize']['key']}/file"}
    assert file["artifactGC"] == {"strategy": "Never"}


def test_other_files_lie_where_argo_puts_them() -> None:
    (file,) = emitted(replace(STEP, cache=None))["outputs"]["artifacts"]
    assert file == {"name": "file", "path": "/file"}
