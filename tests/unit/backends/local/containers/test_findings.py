"""What is said before a run whose steps go into containers."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.backends.local.containers.findings import of_template
from couler_py.backends.local.machine.capacity import Share, asked
from couler_py.ir.model import ContainerSet, OutputParameter, Outputs, Template, Workflow
from couler_py.ir.pod import Container, PodSettings, Resources, Templated, Volume, VolumeMount
from couler_py.ir.types import STR


def found(template: Template, *, allow_host: bool = False, **fields: Any) -> list[tuple[str, str]]:
    workflow = Workflow("w", template.name, (template,), **fields)
    return [(each.code, each.message) for each in of_template(template, workflow, allow_host=allow_host)]


def step(extra: dict[str, Any] | None = None, pod: PodSettings = PodSettings(), **fields: Any) -> Template:
    body = Container("busybox", ("true",), extra=None if extra is None else Templated(extra), **fields)
    return Template("a", body, pod=pod)


PRIVILEGED = Templated({"securityContext": {"privileged": True}})
HOST = PodSettings(volumes=(Volume("h", Templated({"hostPath": {"path": "/etc"}})),))


@pytest.mark.parametrize(
    ("template", "what"),
    [
        (step(pod=HOST, mounts=(VolumeMount("h", "/h"),)), "the path /etc of this machine"),
        (step({"securityContext": {"privileged": True}}), "to be privileged"),
        (step({"securityContext": {"capabilities": {"add": ["CAP_SYS_ADMIN"]}}}), "the capability SYS_ADMIN"),
        (step({"ports": [{"containerPort": 80, "hostPort": 8080}]}), "the port 8080 of this machine"),
        (step(pod=PodSettings(host_network=True)), "the network namespace of this machine"),
        (step(pod=PodSettings(extra=Templated({"hostPID": True}))), "the pid namespace of this machine"),
        (
            step(
                pod=PodSettings(sidecars=(Container("x", extra=Templated({"securityContext": {"privileged": True}})),))
            ),
            "to be privileged",
        ),
    ],
)
def test_what_is_wanted_of_this_machine_is_refused_unless_it_is_allowed(template: Template, what: str) -> None:
    assert found(template) == [("CLR620", f"it asks for {what}")]
    assert found(template, allow_host=True) == []


def test_what_every_container_may_have_is_not_refused() -> None:
    fields = {"securityContext": {"runAsUser": 1000, "capabilities": {"add": ["CHOWN"], "drop": ["ALL"]}}}
    assert found(step(fields | {"ports": [{"containerPort": 80}]})) == []
    assert found(step(pod=HOST)) == []  # a volume that no container mounts


def test_a_workflow_speaks_for_its_steps_unless_they_do() -> None:
    assert found(step(), pod=PodSettings(host_network=True)) == [
        ("CLR620", "it asks for the network namespace of this machine")
    ]
    assert found(step(pod=PodSettings(host_network=False)), pod=PodSettings(host_network=True)) == []


def test_other_volumes_and_fields_without_a_meaning_here_are_named() -> None:
    pod = PodSettings(volumes=(Volume("n", Templated({"nfs": {"server": "x", "path": "/"}})),))
    assert found(step(pod=pod, mounts=(VolumeMount("n", "/n"),))) == [
        ("CLR606", "the volume 'n' (nfs) can't be a folder of this machine")
    ]
    assert found(step({"lifecycle": {}})) == [("CLR610", "not used in containers of one machine: lifecycle")]


def test_the_containers_of_a_set_come_to_an_end_and_main_has_its_outputs() -> None:
    def codes(dependencies: tuple[tuple[str, tuple[str, ...]], ...], *names: str) -> list[str]:
        body = ContainerSet(tuple(Container("x", name=name) for name in names), dependencies)
        outputs = Outputs((OutputParameter("o", STR, path="/o"),))
        return [code for code, _ in found(Template("set", body, outputs=outputs))]

    assert codes((("main", ("a",)),), "a", "main") == []
    assert codes((("a", ("main",)), ("main", ("a",))), "a", "main") == ["CLR622"]
    assert codes((("main", ("none",)),), "main") == ["CLR622"]
    assert codes((), "a", "b") == ["CLR622"]


def test_a_set_asks_for_what_its_containers_ask_together() -> None:
    given = [Resources(cpu="500m", memory="1Gi"), Resources(memory="1Gi", gpu=1), Resources(cpu="1")]
    body = ContainerSet(tuple(Container("x", name=str(number), resources=each) for number, each in enumerate(given)))
    assert asked(Template("set", body)) == Share(1.5, 2.0 * 2**30, 1)
