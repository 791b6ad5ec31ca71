"""Mistakes in edges, loops and conditions."""

from __future__ import annotations

from collections.abc import Iterator

from tests.strategies.mutations import JSON, MISSING, Change, calls, graphs, kind, tasks


def _text(task: JSON) -> str:
    """Where the finding about a task's edges belongs."""
    return "depends" if task.get("depends") else "dependencies"


@kind
def unknown_dependency(document: JSON) -> Iterator[Change]:
    for path, task, _ in tasks(document):
        if task.get("dependencies"):
            yield Change((*path, "dependencies", 0), "nobody-knows")


@kind
def unknown_task_in_depends(document: JSON) -> Iterator[Change]:
    for path, task, _ in tasks(document):
        if task.get("depends"):
            yield Change((*path, "depends"), f"{task['depends']} && nobody-knows")


@kind
def words_for_signs_in_depends(document: JSON) -> Iterator[Change]:
    for path, task, _ in tasks(document):
        if "&&" in task.get("depends", ""):
            yield Change((*path, "depends"), task["depends"].replace("&&", "and"))


@kind
def unknown_result(document: JSON) -> Iterator[Change]:
    for path, task, _ in tasks(document):
        if task.get("depends"):
            first = task["depends"].split(".")[0].strip("(!").split(" ")[0]
            yield Change((*path, "depends"), f"{first}.Finished")


@kind
def result_of_items_without_items(document: JSON) -> Iterator[Change]:
    for path, task, everyone in tasks(document):
        plain = [each["name"] for each in everyone if not any(key.startswith("with") for key in each)]
        if task.get("depends") and plain and plain[0] != task["name"]:
            yield Change((*path, "depends"), f"{plain[0]}.AnySucceeded")


@kind
def depends_without_an_operator(document: JSON) -> Iterator[Change]:
    for path, task, _ in tasks(document):
        if task.get("depends"):
            yield Change((*path, "depends"), f"({task['depends']}")


@kind
def ring(document: JSON) -> Iterator[Change]:
    for path, task, everyone in tasks(document):
        for other in everyone:
            if other.get("dependencies") and task["name"] in other["dependencies"] and not task.get("depends"):
                yield Change((*path, "dependencies"), [other["name"]])
                break


@kind
def task_that_waits_for_itself(document: JSON) -> Iterator[Change]:
    for path, task, _ in tasks(document):
        yield Change((*path, _text(task)), task["name"] if task.get("depends") else [task["name"]])


@kind
def dependencies_in_a_graph_of_depends(document: JSON) -> Iterator[Change]:
    for path, task, everyone in tasks(document):
        with_depends = [each for each in everyone if each.get("depends") and each is not task]
        if with_depends and not task.get("depends") and everyone[0] is not task:
            yield Change((*path, "dependencies"), [everyone[0]["name"]])


@kind
def unknown_target(document: JSON) -> Iterator[Change]:
    for path, template in graphs(document):
        if "dag" in template:
            yield Change((*path, "dag", "target"), "nobody-knows")


@kind
def digit_before_depends(document: JSON) -> Iterator[Change]:
    for path, template in graphs(document):
        everyone = template.get("dag", {}).get("tasks", ())
        if any(each.get("depends") for each in everyone):
            more = {**everyone[0], "name": "1st"}
            more.pop("depends", None)
            yield Change((*path, "dag", "tasks", len(everyone)), more, (*path, "dag", "tasks", len(everyone), "name"))


@kind
def two_sources_of_items(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if call.get("withItems") or call.get("withSequence"):
            yield Change((*path, "withParam"), "[1]", (*path, "withParam" if "withItems" in call else "withSequence"))


@kind
def items_that_are_no_list(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if call.get("withParam"):
            yield Change((*path, "withParam"), '{"a": 1}')


@kind
def items_that_are_no_json(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if call.get("withParam"):
            yield Change((*path, "withParam"), "a, b")


@kind
def sequence_with_two_ends(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if "count" in call.get("withSequence", {}):
            yield Change((*path, "withSequence", "end"), "9")


@kind
def sequence_without_an_end(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if call.get("withSequence"):
            yield Change((*path, "withSequence"), {"start": "1"})


@kind
def sequence_of_words(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if call.get("withSequence"):
            yield Change((*path, "withSequence"), {"count": "ten"}, (*path, "withSequence", "count"))


@kind
def item_without_a_key(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for index, item in enumerate(call.get("withItems", ())):
            for key in item if isinstance(item, dict) and len(call["withItems"]) > 1 else ():
                if "{{item." + key + "}}" in str(call.get("arguments")):
                    yield Change((*path, "withItems", index, key), MISSING, (*path, "withItems", index))


@kind
def condition_with_a_lone_sign(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if call.get("when"):
            yield Change((*path, "when"), f"{call['when']} ==")


@kind
def condition_with_an_open_quote(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if call.get("when"):
            yield Change((*path, "when"), f"'a == {call['when']}")
