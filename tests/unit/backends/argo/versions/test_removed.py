"""Documents of Argo 3.5 in the words of 4."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.versions import raised


def raised_spec(kind: str = "Workflow", **spec: Any) -> dict[str, Any]:
    [made], found = raised([{"kind": kind, "spec": spec}])
    assert found == []
    result: dict[str, Any] = made["spec"]
    return result


def test_the_singular_becomes_a_list_at_its_place() -> None:
    made = raised_spec("CronWorkflow", suspend=True, schedule="@daily", timezone="UTC")
    assert list(made.items()) == [("suspend", True), ("schedules", ["@daily"]), ("timezone", "UTC")]


def test_an_old_word_beside_the_new_one_joins_its_list_once() -> None:
    assert raised_spec("CronWorkflow", schedule="@daily", schedules=["@hourly"]) == {"schedules": ["@daily", "@hourly"]}
    assert raised_spec("CronWorkflow", schedule="@daily", schedules=["@daily"]) == {"schedules": ["@daily"]}


def test_a_mutex_and_a_semaphore_become_lists_wherever_they_stand() -> None:
    old = {"mutex": {"name": "m"}, "semaphore": {"configMapKeyRef": {"name": "c", "key": "k"}}}
    new = {"mutexes": [old["mutex"]], "semaphores": [old["semaphore"]]}
    inline = {"name": "s", "inline": {"synchronization": old}}
    made = raised_spec(templates=[{"name": "t", "steps": [[inline]]}], templateDefaults={"synchronization": old})
    assert made["templateDefaults"]["synchronization"] == new
    assert made["templates"][0]["steps"][0][0]["inline"]["synchronization"] == new


def test_what_was_never_read_of_a_caches_config_map_goes() -> None:
    memoize = {"key": "k", "cache": {"configMap": {"name": "c", "key": "x", "optional": True}}}
    made = raised_spec(templates=[{"name": "t", "memoize": memoize}])
    assert made["templates"][0]["memoize"] == {"key": "k", "cache": {"configMap": {"name": "c"}}}


def test_a_priority_by_number_has_no_one_right_replacement() -> None:
    document = {
        "kind": "Workflow",
        "spec": {"priority": 1, "podPriority": 5, "templates": [{"name": "t", "priority": 7}]},
    }
    made, found = raised([document])
    assert made == [document]
    assert [(each.code, each.step, each.message) for each in found] == [
        ("CLR416", "", "Argo 4 has no podPriority"),
        ("CLR416", "t", "Argo 4 has no priority"),
    ]


def test_a_users_own_names_and_other_documents_stay() -> None:
    labels = {"metadata": {"labels": {"synchronization": "x"}}}
    assert raised_spec(templates=[{"name": "t", **labels, "plugin": {"synchronization": {"mutex": 1}}}])[
        "templates"
    ] == [{"name": "t", **labels, "plugin": {"synchronization": {"mutex": 1}}}]
    other = {"kind": "Schedule", "spec": {"schedule": "@daily"}}
    assert raised([other]) == ([other], [])
