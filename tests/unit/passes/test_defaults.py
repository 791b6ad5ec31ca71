"""Settings fill in what a workflow leaves open, and never change what it says."""

from __future__ import annotations

import pytest

from couler_py.ir.model import ContainerSet, DistributedJob, Function, Graph, Piece, Script, Suspend, Template, Workflow
from couler_py.ir.pod import Container, PodSettings, Resources, Toleration
from couler_py.passes.defaults import Filled, fill
from couler_py.settings import ResourceDefaults, Settings
from couler_py.settings import Toleration as Tolerated

RESOURCES = Settings(resources=ResourceDefaults(cpu="500m", memory="2Gi", gpu=1))


def workflow(*templates: Template, **more: object) -> Workflow:
    return Workflow("w", templates[0].name if templates else "main", templates, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        Container("alpine"),
        Script("python:3.11", "1"),
        Function("f", (Piece("def f(): ..."),)),
        DistributedJob("torch", Container("torch")),
        ContainerSet((Container("alpine", name="main"),)),
    ],
)
def test_steps_of_every_kind_ask_for_what_they_say_nothing_of(body: object) -> None:
    filled, said = fill(workflow(Template("main", body)), RESOURCES)  # type: ignore[arg-type]
    made = filled.templates[0].body
    inner = getattr(made, "container", made)
    inner = inner.containers[0] if isinstance(inner, ContainerSet) else inner
    assert inner.resources == Resources("500m", "2Gi", gpu=1)
    assert {each.key: each.places for each in said} == {"resources.cpu": 1, "resources.memory": 1, "resources.gpu": 1}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Resources(cpu="2", memory="1Gi", gpu=4), Resources(cpu="2", memory="1Gi", gpu=4)),
        (Resources(cpu_limit="1"), Resources(cpu_limit="1", memory="2Gi", gpu=1)),
        (Resources(memory_limit=""), Resources(cpu="500m", memory_limit="", gpu=1)),
    ],
)
def test_what_a_step_asks_for_stays(given: Resources, expected: Resources) -> None:
    filled, _ = fill(workflow(Template("main", Container("alpine", resources=given))), RESOURCES)
    assert filled.templates[0].body == Container("alpine", resources=expected)


def test_surroundings_are_filled_in_key_by_key() -> None:
    settings = Settings(
        service_account="runner",
        labels={"team": "ml", "tier": "1"},
        annotations={"note": "x"},
        node_selector={"zone": "a"},
        tolerations=(Tolerated(key="gpu", operator="Exists"),),
        image_pull_secrets=("registry",),
        origins={"service_account": "couler.toml:1", "labels.team": "couler.toml:2", "labels.tier": "couler.toml:3"},
    )
    filled, said = fill(workflow(Template("main", Suspend()), labels=(("team", "own"),)), settings)
    assert filled.labels == (("team", "own"), ("tier", "1"))
    assert filled.annotations == (("note", "x"),)
    assert filled.pod == PodSettings(
        labels=(("team", "ml"), ("tier", "1")),
        annotations=(("note", "x"),),
        node_selector=(("zone", "a"),),
        tolerations=(Toleration("gpu", "Exists"),),
        service_account="runner",
        image_pull_secrets=("registry",),
    )
    assert Filled("labels", 1, "couler.toml:2") in said
    assert Filled("service_account", 1, "couler.toml:1") in said


def test_surroundings_that_a_workflow_has_stay() -> None:
    own = PodSettings(
        service_account="mine",
        tolerations=(Toleration("a"),),
        image_pull_secrets=("b",),
        node_selector=(("zone", "c"),),
    )
    settings = Settings(
        service_account="runner",
        tolerations=(Tolerated(key="gpu"),),
        image_pull_secrets=("registry",),
        node_selector={"zone": "a"},
    )
    filled, said = fill(workflow(Template("main", Suspend()), pod=own), settings)
    assert (filled.pod, said) == (own, ())


def test_images_are_mapped_everywhere_by_name_and_by_the_longest_pattern() -> None:
    settings = Settings(images={"docker.io/*": "mirror/hub/*", "docker.io/team/*": "mirror/team/*", "alpine": "a:3"})
    pod = PodSettings(init_containers=(Container("docker.io/x", name="i"),), sidecars=(Container("alpine", name="s"),))
    filled, said = fill(workflow(Template("main", Container("docker.io/team/y:1"), pod=pod)), settings)
    template = filled.templates[0]
    assert template.body == Container("mirror/team/y:1")
    assert [each.image for each in (*template.pod.init_containers, *template.pod.sidecars)] == ["mirror/hub/x", "a:3"]
    assert said == (Filled("images", 3),)


def test_filling_twice_is_filling_once() -> None:
    settings = Settings(images={"*": "mirror/*"}, labels={"a": "b"}, resources=ResourceDefaults(memory="1Gi"))
    once, _ = fill(workflow(Template("main", Container("alpine"))), settings)
    assert fill(once, settings) == (once, ())


def test_without_settings_the_workflow_is_the_same() -> None:
    given = workflow(Template("main", Graph(())))
    assert fill(given, Settings()) == (given, ())


def test_argos_own_words_stay_as_they_are() -> None:
    given = workflow(Template("main", Container("alpine")), dialect="argo")
    assert fill(given, RESOURCES) == (given, ())
