"""`run_container`: a command in a container."""

from __future__ import annotations

from typing import Any

from couler_py.dsl.problems import fail
from couler_py.dsl.verbs import settings
from couler_py.dsl.verbs.calls import declared, forward, name_of, record
from couler_py.dsl.verbs.inputs import CallInputs, flat
from couler_py.dsl.verbs.outputs import FileValue, OutputEmpty
from couler_py.ir import pod
from couler_py.ir.expr import TextLike


def run_container(
    image: Any,
    command: Any = None,
    args: Any = None,
    output: Any = None,
    input: Any = None,  # noqa: A002  Couler's own name for it
    env: Any = None,
    env_from: Any = None,
    secret: Any = None,
    resources: Any = None,
    timeout: Any = None,
    retry: Any = None,
    step_name: str | None = None,
    image_pull_policy: Any = None,
    pool: Any = None,
    enable_ulogfs: bool = True,
    daemon: bool = False,
    volume_mounts: Any = None,
    working_dir: Any = None,
    node_selector: Any = None,
    cache: Any = None,
    parallelism: Any = None,
) -> list[Any]:
    """Run a command in a container, and return its outputs: one for each of `output`, else one that is empty.

    `args` are given to the task, not written into its template: calls that differ in them only share one.
    An output that is a file stands among `args` or in `input`, and lies in the container at its path.
    `timeout` is in seconds, or a text such as "10m"; `retry` is how often more after the first attempt.
    `resources` is a dict such as {"cpu": 1, "memory": "2Gi", "nvidia.com/gpu": 1}. `secret` is what
    `create_secret` returned: each key an environment variable. `enable_ulogfs` has no effect, as in Couler
    without a cluster config.

    Raises `RecordingError` for what can't be honoured.

    >>> hello = run_container("alpine:3.20", ["echo"], ["hello"], step_name="hello")  # doctest: +SKIP
    """
    settings.refuse(pool=pool, parallelism=parallelism)
    name = name_of(step_name, "container")
    inputs = CallInputs("run_container")
    values = gather(inputs, args, input)
    body = pod.Container(
        image=inputs.text(need_image(image), "image"),
        command=words(inputs, command),
        args=tuple(inputs.argument(value) for value in values),
        env=settings.environment(inputs, env, secret),
        env_from=settings.environment_from(env_from, secret),
        working_dir=inputs.text(working_dir, "working-dir") if working_dir is not None else "",
        pull_policy=settings.pull_policy(image_pull_policy),
        mounts=settings.mounts(volume_mounts),
        resources=settings.resources(resources),
    )
    policies = settings.policies(inputs, retry=retry, timeout=timeout, cache=cache)
    return record(
        name,
        body,
        inputs,
        declared(output),
        retry=policies.retry,
        timeout=policies.timeout,
        cache=policies.cache,
        pod=settings.pod_settings(inputs, node_selector),
        daemon=bool(daemon),
    )


def gather(inputs: CallInputs, args: Any, files: Any) -> list[Any]:
    """Sort what a step is given: files become its input artifacts, empty outputs an order; the values are returned."""
    values, found = flat(args), flat(files)
    forward(values, found)
    for value in found:
        inputs.file(value)
    rest = []
    for value in values:
        if isinstance(value, FileValue):
            inputs.file(value)
        elif isinstance(value, OutputEmpty):
            inputs.wait_for(value)
        else:
            rest.append(value)
    return rest


def words(inputs: CallInputs, command: Any) -> tuple[TextLike, ...]:
    """A command as a list of words: one text is one word, as in Couler."""
    if command is None:
        return ()
    given = list(command) if isinstance(command, list | tuple) else [command]
    for word in given:
        if word is None or (callable(word) and not hasattr(word, "_couler_expr")):
            fail("CLR181", f"{word!r} is no word of a command", help="give texts and values of the workflow")
    return tuple(inputs.text(word, "command") for word in given)


def need_image(image: Any) -> Any:
    """The image. Raises `RecordingError` where there is none."""
    if image is None or image == "":
        fail("CLR181", "the step has no image", help='give one, as image="python:3.11"')
    return image
