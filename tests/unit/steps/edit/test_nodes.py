"""A training on several nodes: a job of which nodes have whole replicas, between steps that carry files."""

from __future__ import annotations

import json
from typing import Any

import pytest

import couler_py as couler
from couler_py.ir.model import DistributedJob
from couler_py.steps import edit
from couler_py.steps.edit.nodes import layout

GIVEN = {"replicas": 4, "shards": 2, "nodes": 2, "shared": "s3://bucket/edit", "image": "train:1"}


def flow(**changes: Any) -> Any:
    @couler.workflow
    def main() -> Any:
        trained = edit.train(edit.prepare(), **{**GIVEN, **changes})
        return trained.loss, trained.model

    return main


def job_of(**changes: Any) -> tuple[DistributedJob, Any]:
    [found] = [each for each in couler.build(flow(**changes)).templates if isinstance(each.body, DistributedJob)]
    return found.body, found  # type: ignore[return-value]


def test_ranks_are_dealt_out_among_the_nodes() -> None:
    job, template = job_of(gpu=4, cpu=8, job={"max_restarts": 2, "queue": "team-a"})
    assert (job.nodes, job.processes_per_node, job.max_restarts, job.queue) == (2, 4, 2, "team-a")
    assert (job.container.resources.gpu, job.container.resources.cpu) == (4, "8")
    assert [each.name for each in template.outputs.parameters] == ["results"]


def test_nodes_of_a_cluster_have_their_gpus_and_files_go_by_the_shared_place() -> None:
    document = couler.compile(flow(gpu=4), to="argo").documents[0]
    templates = {each["name"]: each for each in document["spec"]["templates"]}
    text = templates["train-edit-job"]["resource"]["manifest"]
    begin, end = text.index("{{="), text.index("}}", text.index("{{=")) + 2
    spec = json.loads(text.replace(text[begin:end], "NAME"), strict=False)["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert (spec["completions"], container["resources"]["limits"]) == (2, {"nvidia.com/gpu": "4"})
    tasks = {each["name"]: each for each in templates["main"]["dag"]["tasks"]}
    assert list(tasks) == ["edit-prepare", "train-edit-publish", "train-edit", "train-edit-collect"]


@pytest.mark.parametrize(("replicas", "shards", "nodes", "processes"), [(4, 2, 2, 4), (2, 8, 4, 4), (3, 1, 3, 1)])
def test_a_node_has_whole_replicas_or_a_replica_whole_nodes(
    replicas: int, shards: int, nodes: int, processes: int
) -> None:
    assert layout(replicas, shards, nodes) == processes


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"nodes": 3}, "4 replicas of 2 shards are 8 ranks: no same number on each of 3 nodes"),
        ({"replicas": 3, "shards": 4, "nodes": 2, "batch": 8}, "6 ranks on each of 2 nodes cut replicas of 4 shards"),
        ({"shared": ""}, "several nodes need shared="),
        ({"nodes": 1}, "shared= and job= are for several nodes"),
        ({"packages": ["einops"]}, "packages= doesn't go with several nodes"),
        ({"job": {"elastic": (1, 2)}}, "needs save_every="),
    ],
)
def test_what_nodes_can_not_be_is_said_where_it_is_written(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        couler.build(flow(**changes))


def test_an_image_is_needed() -> None:
    with pytest.raises(ValueError, match="several nodes need an image="):
        edit.train("corpus", replicas=2, nodes=2, shared="/shared")
