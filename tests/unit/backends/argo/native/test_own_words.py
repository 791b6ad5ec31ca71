"""`argo=`: fields in Argo's own words, merged into what is emitted for the rest."""

from __future__ import annotations

from typing import Any

import pytest

import couler_py as couler
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError
from couler_py.printer import print_python

JSON = dict[str, Any]


@couler.step
def plain(n: int = 1) -> int:
    return n


def emitted(workflow: Any) -> JSON:
    spec: JSON = couler.compile(workflow).documents[-1]["spec"]
    return spec


def template(workflow: Any, name: str) -> JSON:
    return next(each for each in emitted(workflow)["templates"] if each["name"] == name)


def wrong(workflow: Any) -> Diagnostic:
    with pytest.raises(DiagnosticError) as raised:
        couler.compile(workflow)
    [found] = raised.value.diagnostics
    return found


def calling(step: Any) -> Any:
    @couler.workflow
    def main() -> None:
        step()

    return main


def test_a_new_field_stands_beside_what_is_emitted() -> None:
    step = couler.container("alpine", ["true"], name="t", argo={"memoize": {"key": "k", "maxAge": "1h"}})
    found = template(calling(step), "t")
    assert found["memoize"] == {"key": "k", "maxAge": "1h"}
    assert found["container"] == {"image": "alpine", "command": ["true"]}


def test_objects_are_merged_field_by_field() -> None:
    step = couler.container(
        "alpine", name="t", retries=2, argo={"retryStrategy": {"affinity": {"nodeAntiAffinity": {}}}}
    )
    assert template(calling(step), "t")["retryStrategy"] == {
        "limit": 2,
        "retryPolicy": "Always",
        "affinity": {"nodeAntiAffinity": {}},
    }


def test_lists_of_named_objects_are_merged_by_name_and_new_ones_come_last() -> None:
    step = couler.container(
        "alpine",
        name="t",
        sidecars=[couler.Container("nginx", name="web")],
        argo={"sidecars": [{"name": "db", "image": "redis"}, {"name": "web", "mirrorVolumeMounts": True}]},
    )
    assert template(calling(step), "t")["sidecars"] == [
        {"name": "web", "image": "nginx", "mirrorVolumeMounts": True},
        {"name": "db", "image": "redis"},
    ]


def test_equal_values_are_one() -> None:
    step = couler.container("alpine", name="t", retries=2, argo={"retryStrategy": {"limit": 2}})
    assert template(calling(step), "t")["retryStrategy"]["limit"] == 2


def test_text_is_argos_text() -> None:
    step = couler.container("alpine", name="t", argo={"podSpecPatch": "{{inputs.parameters.patch}}"})
    assert template(calling(step), "t")["podSpecPatch"] == "{{inputs.parameters.patch}}"


def test_a_python_step_takes_fields_of_its_script() -> None:
    step = plain.with_options(argo={"script": {"livenessProbe": {"exec": {"command": ["true"]}}}})
    found = template(calling(step), "plain")
    assert found["script"]["livenessProbe"] == {"exec": {"command": ["true"]}}
    assert found["script"]["image"] == "python:3.11"


@pytest.mark.parametrize(
    "step",
    [
        couler.script("alpine", "true", name="t", argo={"daemon": True}),
        couler.resource({"kind": "ConfigMap"}, name="t", argo={"daemon": True}),
        couler.suspend("1m", name="t", argo={"daemon": True}),
        couler.http("https://example.com", name="t", argo={"daemon": True}),
    ],
    ids=["script", "resource", "suspend", "http"],
)
def test_every_kind_of_step_takes_them(step: Any) -> None:
    assert template(calling(step), "t")["daemon"] is True


def test_fields_of_a_task() -> None:
    @couler.workflow
    def main() -> None:
        plain.argo_task(onExit="plain", hooks={"running": {"expression": "true", "template": "plain"}})(2)
        plain(3)

    first, second = template(main, "main")["dag"]["tasks"]
    assert (first["onExit"], first["hooks"]) == ("plain", {"running": {"expression": "true", "template": "plain"}})
    assert first["arguments"] == {"parameters": [{"name": "n", "value": "2"}]}
    assert second.keys() == {"name", "template", "arguments"}


def test_a_task_keeps_its_fields_and_name_when_the_step_gets_other_options() -> None:
    @couler.workflow
    def main() -> None:
        plain.argo_task(onExit="plain").named("first").with_options(cpu=1)()

    [task] = template(main, "main")["dag"]["tasks"]
    assert (task["name"], task["onExit"]) == ("first", "plain")


def test_fields_of_a_workflow() -> None:
    @couler.workflow(
        ttl=60,
        argo={
            "artifactGC": {"strategy": "OnWorkflowDeletion"},
            "ttlStrategy": {"secondsAfterFailure": 90},
            "templates": [{"name": "main", "failFast": True}, {"name": "own", "container": {"image": "alpine"}}],
            "synchronization": {"mutexes": [{"name": "m", "database": True}]},
        },
    )
    def main() -> None:
        plain()

    spec = emitted(main)
    assert spec["artifactGC"] == {"strategy": "OnWorkflowDeletion"}
    assert spec["ttlStrategy"] == {"secondsAfterCompletion": 60, "secondsAfterFailure": 90}
    assert spec["synchronization"] == {"mutexes": [{"name": "m", "database": True}]}
    assert [each["name"] for each in spec["templates"]] == ["main", "plain", "own"]
    assert spec["templates"][0]["failFast"] is True


def test_a_workflow_in_progress_takes_them_too() -> None:
    with couler.Workflow("w", argo={"volumeClaimGC": {"strategy": "OnWorkflowCompletion"}}) as w:
        plain()
    assert emitted(w)["volumeClaimGC"] == {"strategy": "OnWorkflowCompletion"}


def test_another_value_for_what_is_said_already_is_an_error_that_names_both() -> None:
    step = couler.container("alpine", name="t", retries=2, argo={"retryStrategy": {"limit": 5}})
    found = wrong(calling(step))
    assert (found.code, found.step) == ("CLR194", "t")
    assert found.message == "argo= says retryStrategy.limit is 5, and it is 2"
    assert found.source is not None
    assert found.source.file.endswith("test_own_words.py")


def test_a_second_body_is_an_error() -> None:
    step = plain.with_options(argo={"container": {"image": "alpine"}})
    assert wrong(calling(step)).message == "argo= gives the template a container, and it is a script"


def test_a_clash_in_a_workflow() -> None:
    @couler.workflow(parallelism=2, argo={"parallelism": 3})
    def main() -> None:
        plain()

    found = wrong(main)
    assert (found.code, found.message) == ("CLR194", "argo= says parallelism is 3, and it is 2")


def test_a_field_that_argo_does_not_have_and_a_wrong_value() -> None:
    unknown = wrong(calling(couler.container("alpine", name="t", argo={"memoise": {}})))  # type: ignore[typeddict-unknown-key]
    assert (unknown.code, unknown.message, unknown.help) == (
        "CLR190",
        "argo=: it has no field 'memoise'",
        "did you mean 'memoize'?",
    )
    value = wrong(calling(couler.container("alpine", name="t", argo={"parallelism": "2"})))  # type: ignore[typeddict-item]
    assert (value.code, value.message) == ("CLR191", "argo=: parallelism is '2', and takes a whole number")


def test_what_json_can_not_say_is_an_error_where_it_is_written() -> None:
    with pytest.raises(DiagnosticError, match=r"CLR130.*argo: Object of type set is not JSON serializable"):
        couler.container("alpine", argo={"volumes": {1}})  # type: ignore[typeddict-item]
    with pytest.raises(DiagnosticError, match="CLR130"):
        plain.argo_task(withItems=[{1}])


def test_they_are_given_once() -> None:
    with pytest.raises(DiagnosticError, match=r"CLR160.*given twice"):

        @couler.workflow(argo={"priority": 1}, engines={"argo": {"priority": 1}})
        def main() -> None:
            plain()


def test_other_engines_read_nothing_of_them() -> None:
    @couler.workflow(argo={"podGC": {"strategy": "OnPodSuccess"}})
    def main() -> int:
        return plain.argo_task(onExit="plain").with_options(argo={"daemon": True})(2)

    assert couler.run(main).outputs == {"result": 2}


def test_they_are_printed_as_they_were_written() -> None:
    step = couler.container("alpine", name="t", argo={"memoize": {"key": "k", "maxAge": "1h"}})

    @couler.workflow(argo={"podGC": {"strategy": "OnPodSuccess"}})
    def main() -> None:
        step()

    source = print_python(couler.build(main))
    assert 'argo={"memoize": {"key": "k", "maxAge": "1h"}}' in source
    assert '@couler.workflow(argo={"podGC": {"strategy": "OnPodSuccess"}})' in source
