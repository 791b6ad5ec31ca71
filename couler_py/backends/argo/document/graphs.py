"""Graphs: the tasks of a dag, and steps in their groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from couler_py.argolang import depends as language
from couler_py.argolang.problems import SyntaxProblem
from couler_py.backends.argo.document.artifacts import artifact_argument
from couler_py.backends.argo.document.artifacts import written_argument as written_artifact_argument
from couler_py.backends.argo.document.items import items, written_items
from couler_py.backends.argo.document.lens import (
    JSON,
    Field,
    Table,
    as_it_is,
    extra,
    flag,
    strings,
    with_extra,
    word_field,
)
from couler_py.backends.argo.document.parameters import argument, written_argument
from couler_py.backends.argo.document.texts import UNSAID, Root, text, word, written
from couler_py.ir.expr import Condition, Expr, Raw
from couler_py.ir.model import (
    After,
    Call,
    Depends,
    DependsAll,
    DependsAny,
    DependsNot,
    DependsOn,
    External,
    Graph,
    Hook,
    Inline,
    Task,
    Template,
)

ReadTemplate = Callable[[Any, Root], Any]
"""Reads a template that is written in the task itself; `UNSAID` where it is no template."""

# ---- which tasks a task waits for


def depends(given: Any, root: Root) -> Any:
    """The tree of a `depends`."""
    if type(given) is not str:
        return UNSAID
    try:
        return _tree(language.parse_depends(given))
    except SyntaxProblem:
        return UNSAID


def _tree(node: language.Depends) -> Depends:
    match node:
        case language.DependsOn():
            return DependsOn(node.task, node.result or "")  # type: ignore[arg-type]
        case language.NotDepends():
            return DependsNot(_tree(node.operand))
        case language.AllDepend():
            return DependsAll(tuple(_tree(each) for each in node.operands))
        case _:
            return DependsAny(tuple(_tree(each) for each in node.operands))


def written_depends(given: Depends, root: Root) -> str:
    """The shortest text of the tree."""
    return language.print_depends(_node(given))


def _node(tree: Depends) -> language.Depends:
    match tree:
        case DependsOn():
            return language.DependsOn(tree.task, tree.state or None)
        case DependsNot():
            return language.NotDepends(_node(tree.operand))
        case DependsAll():
            return language.AllDepend(tuple(_node(each) for each in tree.operands))
        case _:
            return language.AnyDepend(tuple(_node(each) for each in tree.operands))


def _after(given: Any, root: Root) -> Any:
    names = strings(word)(given, root)
    return UNSAID if names is UNSAID else tuple(After(name) for name in names)


# ---- conditions, failures that don't count, what is called


def condition(given: Any, root: Root) -> Any:
    """A `when`: text that is filled in first and read then."""
    found = text(given, root)
    return UNSAID if found is UNSAID or found == "" else Condition(found)  # type: ignore[arg-type]


def written_condition(given: Expr, root: Root) -> str:
    """The `when` again; an expression of Argo's own in its tag."""
    if isinstance(given, Condition):
        return written(given.text, root)
    from couler_py.backends.argo.document.texts import tagged

    return tagged(given, root)


def _continue_on(given: Any, root: Root) -> Any:
    if not isinstance(given, dict) or given.keys() - {"failed", "error"}:
        return UNSAID
    if any(type(value) is not bool for value in given.values()):
        return UNSAID
    return tuple(key for key in ("failed", "error") if given.get(key))


def _call(rest: JSON, root: Root, read_template: ReadTemplate) -> Call:
    name = word(rest.get("template"), root)
    if isinstance(name, str) and name:
        del rest["template"]
        return name
    if (found := external(rest.get("templateRef"), root)) is not UNSAID:
        del rest["templateRef"]
        return found  # type: ignore[no-any-return]
    if rest.get("inline") is not None and (inline := read_template(rest["inline"], root)) is not UNSAID:
        del rest["inline"]
        return Inline(inline)
    return ""


def external(given: Any, root: Root) -> Any:
    """A template of another document."""
    if not isinstance(given, dict) or given.keys() - {"name", "template", "clusterScope"}:
        return UNSAID
    name, template = word(given.get("name"), root), word(given.get("template"), root)
    scope = given.get("clusterScope", False)
    if not isinstance(name, str) or not isinstance(template, str) or type(scope) is not bool:
        return UNSAID
    return External(name, template, "ClusterWorkflowTemplate" if scope else "WorkflowTemplate")


def written_external(given: External) -> JSON:
    """The `templateRef` again."""
    found: JSON = {"name": given.name, "template": given.template}
    return found | ({"clusterScope": True} if given.kind == "ClusterWorkflowTemplate" else {})


# ---- arguments


def arguments(rest: JSON, root: Root) -> JSON:
    """The attributes `arguments` and `artifacts`, taken out of the remaining fields."""
    given = rest.get("arguments")
    if not isinstance(given, dict) or given.keys() - {"parameters", "artifacts"}:
        return {}
    del rest["arguments"]
    return {
        "arguments": tuple(argument(each, root) for each in given.get("parameters") or ()),
        "artifacts": tuple(artifact_argument(each, root) for each in given.get("artifacts") or ()),
    }


def written_arguments(given: Any, root: Root) -> JSON:
    """The `arguments` again."""
    found: JSON = {}
    if given.arguments:
        found["parameters"] = [written_argument(each, root) for each in given.arguments]
    if given.artifacts:
        found["artifacts"] = [written_artifact_argument(each, root) for each in given.artifacts]
    return {"arguments": found} if found else {}


# ---- hooks


def hook(name: str, data: JSON, root: Root) -> Hook:
    """A template at a moment of a task's life."""
    rest = {key: value for key, value in data.items() if value is not None}
    found = arguments(rest, root)
    if isinstance(called := word(rest.get("template"), root), str):
        found["call"] = called
        del rest["template"]
    if isinstance(moment := word(rest.get("expression"), root), str):
        found["when"] = Raw("argo", moment)
        del rest["expression"]
    attributes: JSON = {"call": ""} | found | extra(rest, root)
    return Hook(name=name, **attributes)


def written_hook(given: Any, root: Root) -> JSON:
    """The hook again."""
    found: JSON = {}
    if given.call:
        found["template"] = given.call
    if given.when is not None:
        found["expression"] = given.when.text if isinstance(given.when, Raw) else written_condition(given.when, root)
    return with_extra(found | written_arguments(given, root), given.extra, root)


ON_EXIT = "onExit"
"""The name of the hook that a task's or a run's `onExit` is."""


def hooks(rest: JSON, root: Root) -> tuple[Hook, ...]:
    """`onExit` and `hooks`, taken out of the remaining fields."""
    found = []
    if isinstance(last := word(rest.get("onExit"), root), str) and last:
        found.append(Hook(ON_EXIT, last))
        del rest["onExit"]
    given = rest.get("hooks")
    # A hook that is called "onExit" itself would be taken for the other.
    if (
        isinstance(given, dict)
        and given
        and ON_EXIT not in given
        and all(isinstance(each, dict) for each in given.values())
    ):
        found += [hook(name, each, root) for name, each in given.items()]
        del rest["hooks"]
    return tuple(found)


def written_hooks(given: tuple[Hook, ...], root: Root) -> JSON:
    """`onExit` and `hooks` again."""
    found: JSON = {}
    for each in given:
        if each.name == ON_EXIT and each.when is None and not (each.arguments or each.artifacts or each.extra):
            found["onExit"] = each.call
        else:
            found.setdefault("hooks", {})[each.name] = written_hook(each, root)
    return found


# ---- tasks

_TASK = Table(
    Task,
    word_field("name", "name"),
    Field("depends", "depends", depends, written_depends),
    Field("dependencies", "after", _after, lambda value, root: [each.task for each in value], ()),
    Field("when", "when", condition, written_condition),
    Field(
        "continueOn",
        "continue_on",
        _continue_on,
        lambda value, root: dict.fromkeys(value, True),
        (),
    ),
)


def task(data: JSON, root: Root, read_template: ReadTemplate) -> Task:
    """A task of a dag, or a step."""
    attributes, rest = _TASK.taken(data, root)
    if rest:
        attributes["call"] = _call(rest, root, read_template)
        attributes |= arguments(rest, root)
        if rest:
            if (each := items(rest, root)) is not None:
                attributes["each"] = each
            attributes["hooks"] = hooks(rest, root)
    found: JSON = {"name": "", "call": ""} | attributes | extra(rest, root)
    return Task(**found)


def written_task(given: Task, root: Root, write_template: Callable[[Template, Root], JSON]) -> JSON:
    """The task again."""
    fields = _TASK.write(given, root)
    found: JSON = {"name": fields.pop("name")} if "name" in fields else {}
    if isinstance(given.call, str):
        if given.call:
            found["template"] = given.call
    elif isinstance(given.call, External):
        found["templateRef"] = written_external(given.call)
    else:
        found["inline"] = write_template(given.call.template, root)
    last = {"continueOn": fields.pop("continueOn")} if "continueOn" in fields else {}
    found |= fields
    if given.arguments or given.artifacts:
        found |= written_arguments(given, root)
    if given.each is not None:
        found |= written_items(given.each, root)
    if given.hooks:
        found |= written_hooks(given.hooks, root)
    return with_extra(found | last, given.extra, root)


# ---- graphs


def _targets(given: Any, root: Root) -> Any:
    found = word(given, root)
    return tuple(found.split()) if isinstance(found, str) else UNSAID


_DAG = Table(
    Graph,
    Field("target", "targets", _targets, lambda value, root: " ".join(value), ()),
    Field("failFast", "fail_fast", flag, as_it_is, True),
)


def graph(rest: JSON, read_template: ReadTemplate) -> Graph | None:
    """The graph of a template, taken out of its remaining fields; None where it has none."""
    dag, groups = rest.get("dag"), rest.get("steps")
    if isinstance(groups, list):
        del rest["steps"]
        tasks = tuple(tuple(task(each, "steps", read_template) for each in group) for group in groups)
        names = tuple(tuple(each.name for each in group) for group in tasks)
        return Graph(tuple(each for group in tasks for each in group), "steps", names, fail_fast=True)
    if not isinstance(dag, dict):
        return None
    del rest["dag"]
    attributes, further = _DAG.taken(dag, "tasks")
    tasks = further.pop("tasks", ())
    return Graph(
        tuple(task(each, "tasks", read_template) for each in tasks),
        **({"fail_fast": True} | attributes | extra(further, "tasks")),
    )


def written_graph(given: Graph, write_template: Callable[[Template, Root], JSON]) -> JSON:
    """The graph again; the groups of steps are taken in their order, whatever the steps are called."""
    if given.form == "steps":
        tasks = iter(given.tasks)
        return {
            "steps": [[written_task(next(tasks), "steps", write_template) for _ in group] for group in given.groups]
        }
    found = _DAG.write_all(given, "tasks")
    found["tasks"] = [written_task(each, "tasks", write_template) for each in given.tasks]
    return {"dag": found}
