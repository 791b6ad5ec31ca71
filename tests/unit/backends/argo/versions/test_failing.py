"""What fails in an argument fails on Argo 3.5 too."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.backends.argo.versions import lowered


def calling(value: str, **call: Any) -> dict[str, Any]:
    task = {"name": "a", "template": "one", "arguments": {"parameters": [{"name": "x", "value": value}]}, **call}
    return {"kind": "Workflow", "spec": {"templates": [{"name": "all", "dag": {"tasks": [task]}}]}}


def when(document: dict[str, Any]) -> str | None:
    [made], found = lowered([document], "3.5", emitted=True)
    assert found == []
    found_when: str | None = made["spec"]["templates"][0]["dag"]["tasks"][0].get("when")
    return found_when


def test_what_may_fail_is_evaluated_in_the_condition_too() -> None:
    assert when(calling("{{=toJson(fromJSON(inputs.parameters.a)[3])}}")) == (
        "{{= type(toJson(fromJSON(inputs.parameters.a)[3])) != '' }}"
    )


def test_it_is_evaluated_after_the_condition_that_is_there() -> None:
    risky = "{{=1 / asInt(inputs.parameters.a)}}"
    guard = "type(1 / asInt(inputs.parameters.a)) != ''"
    assert when(calling(risky, when="{{= a || b }}")) == "{{= (a || b) && " + guard + " }}"
    assert when(calling(risky, when="{{inputs.parameters.b}} == x")) == (
        "({{inputs.parameters.b}} == x) && {{= " + guard + " }}"
    )
    assert when(calling(risky, when="false")) == "false"


@pytest.mark.parametrize("value", ["plain", "{{inputs.parameters.a}}", "{{=inputs.parameters['a'] + toBase64(b)}}"])
def test_what_cannot_fail_stays(value: str) -> None:
    assert when(calling(value)) is None


def test_what_a_person_wrote_stays() -> None:
    document = calling("{{=asInt(inputs.parameters.a)}}")
    assert lowered([document], "3.5") == ([document], [])
