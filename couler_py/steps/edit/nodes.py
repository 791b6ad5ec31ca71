"""A training on several nodes: a job between two steps, one that brings the corpus and one that fetches the results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from couler_py.dsl.jobs import distributed_job
from couler_py.dsl.placeholder import Placeholder
from couler_py.dsl.templates import argument

BESIDE = (
    *("image", "env", "env_from", "secrets", "volumes", "mounts", "service_account"),
    *("image_pull_policy", "image_pull_secrets"),
)
"""Options that the steps beside the job get too: what reaches the shared place. They need none of its devices."""
NOT_OF_JOBS = ("packages", "include", "command")


class Nodes(TypedDict, total=False):
    """Of `couler.distributed_job`."""

    elastic: tuple[int, int] | None
    max_restarts: int
    launcher: str
    queue: str


def layout(replicas: int, shards: int, nodes: int) -> int:
    """The processes of each node. Raises `ValueError` where replicas don't fit nodes.

    >>> layout(replicas=4, shards=2, nodes=2)
    4
    """
    ranks = replicas * shards
    if nodes < 1 or ranks % nodes:
        raise ValueError(
            f"{replicas} replicas of {shards} shards are {ranks} ranks: no same number on each of {nodes} nodes"
        )
    each = ranks // nodes
    if each % shards and shards % each:
        raise ValueError(
            f"{each} ranks on each of {nodes} nodes cut replicas of {shards} shards in unequal parts: "
            "let a node have whole replicas, or a replica whole nodes"
        )
    return each


def on_nodes(
    data: Any, task: str, name: str, shared: str, checkpoints: str, processes: int, nodes: int, job: Nodes,
    options: Mapping[str, Any],
) -> Any:  # fmt: skip
    """The calls of the three steps; gives those of the last. Raises `ValueError` for options that no job has."""
    from couler_py.steps.edit.step import collect, publish

    if wrong := [each for each in NOT_OF_JOBS if each in options]:
        raise ValueError(f"{', '.join(wrong)}= doesn't go with several nodes: an image= has what they need")
    if "image" not in options:
        raise ValueError('several nodes need an image= with couler-py[train], as image="registry/train:1"')
    beside = {each: options[each] for each in BESIDE if each in options}
    published = publish.named(f"{name}-publish").with_options(**beside)(data, shared)
    words = ["python", "-m", "couler_py.steps.edit", argument("task"), "--data", argument("corpus")]
    words += ["--out", argument("folder"), "--checkpoints", argument("checkpoints")]
    words += ["--elastic"] if job.get("elastic") else []
    train = distributed_job(
        options["image"],
        words,
        name=name,
        nodes=nodes,
        processes=processes,
        inputs={"task": str, "corpus": str, "folder": str, "checkpoints": str},
        outputs={"results": str},
        **job,
        **{each: value for each, value in options.items() if each != "image"},
    )
    kept: str | Placeholder = checkpoints or published.checkpoints
    results = train(task, published.corpus, published.folder, kept)
    return collect.named(f"{name}-collect").with_options(**beside)(results)
