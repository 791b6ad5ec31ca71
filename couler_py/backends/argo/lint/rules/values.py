"""Parameters and artifacts as they are declared: where their values come from, and which they can be."""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import GRAPHS, Flow, Template

_OUTPUT_SOURCES = ("path", "jqFilter", "jsonPath", "parameter", "expression", "supplied")


def arguments(flow: Flow) -> Iterator[Finding]:
    """Arguments of the workflow and of calls have values, from where values can come."""
    yield from _arguments(
        flow,
        flow.spec.get("arguments", {}),
        (*flow.path, "arguments"),
        "the workflow",
        empty=flow.kind != "CronWorkflow",
    )
    for template in flow.all_templates:
        for call in template.calls:
            if "arguments" in call.data:
                yield from _arguments(flow, call.data["arguments"], (*call.path, "arguments"), call.where, empty=False)


def _arguments(flow: Flow, data: JSON, path: Path, where: str, *, empty: bool) -> Iterator[Finding]:
    for index, each in enumerate(data.get("parameters", ())):
        at = (*path, "parameters", index)
        yield from _parameter(each, at, where, empty or flow.is_written((*at, "value")))
    for index, each in enumerate(data.get("artifacts", ())):
        at = (*path, "artifacts", index)
        if not each.get("from") and not each.get("fromExpression") and not has_location(each):
            yield Finding(
                "CLR456",
                f"the artifact {each.get('name', '')!r} of {where} has no source",
                at,
                why="an argument says which artifact is meant, or where one lies",
                help="give it `from`, or a location with its key",
            )
        elif each.get("fromExpression") and not each.get("from") and not has_location(each):
            yield Finding(
                "CLR456",
                f"the artifact {each.get('name', '')!r} of {where} has only a `fromExpression`",
                (*at, "fromExpression"),
                on="key",
                why="Argo refuses expressions in arguments; it takes them in the outputs of `steps` and `dag`",
                help="choose in the outputs of a template around the two, or give `from`",
            )
        elif each.get("from") and each.get("fromExpression"):
            yield _both(each, at)


def _both(artifact: JSON, path: Path) -> Finding:
    return Finding(
        "CLR456",
        f"the artifact {artifact.get('name', '')!r} has both `from` and `fromExpression`",
        (*path, "fromExpression"),
        on="key",
        why="it has one source",
        help="keep one of them",
    )


def _parameter(parameter: JSON, path: Path, where: str, empty: bool) -> Iterator[Finding]:
    name, source = parameter.get("name", ""), parameter.get("valueFrom")
    if "value" not in parameter and source is None and not empty:
        yield Finding(
            "CLR450",
            f"the parameter {name!r} of {where} has no value",
            path,
            why="an argument is a value; `default` counts only in the inputs of a template"
            if "default" in parameter
            else "an argument is a value",
            help="add `value`",
        )
    if source is not None:
        foreign = next((each for each in ("path", "jsonPath", "parameter", "expression") if source.get(each)), None)
        known = any(source.get(each) not in (None, "") for each in ("configMapKeyRef", "event", "supplied"))
        if foreign is not None or not known:
            yield Finding(
                "CLR451",
                f"the parameter {name!r} of {where} can't have its value from `{foreign or 'nothing'}`",
                (*path, "valueFrom", foreign) if foreign else (*path, "valueFrom"),
                on="key" if foreign else "value",
                why="arguments take theirs from `configMapKeyRef`, with a `default` beside it, or are `supplied`",
                help="give `value`, or one of these",
            )
    if "enum" in parameter:
        yield from _enum(parameter, path, where, empty)


def _enum(parameter: JSON, path: Path, where: str, empty: bool) -> Iterator[Finding]:
    name, allowed = parameter.get("name", ""), [as_text(each) for each in parameter["enum"]]
    if "value" not in parameter:
        if not empty and parameter.get("valueFrom") is not None:
            yield Finding(
                "CLR450",
                f"the parameter {name!r} of {where} has an `enum` and no value",
                path,
                why="Argo asks for a value that it can look up in the list",
                help="add `value`",
            )
    elif allowed and as_text(parameter["value"]) not in allowed:
        yield Finding(
            "CLR452",
            f"the value of the parameter {name!r} of {where} is none of its `enum`",
            (*path, "value"),
            why=f"it can be {', '.join(map(repr, allowed[:8]))}" + (", …" if len(allowed) > 8 else ""),
            help="choose one of these, or add it to the list",
            related=(("the list", (*path, "enum")),),
        )


def as_text(value: object) -> str:
    """A scalar as Argo's strings hold it: `1.0` is `1`, and truth is written as YAML does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def has_location(artifact: JSON) -> bool:
    """Whether an artifact says where it lies, or at least its key in the store."""
    for kind, whole, key in LOCATIONS:
        data = artifact.get(kind)
        if data is not None:
            return all(data.get(each) for each in whole) or bool(key and data.get(key))
    return False


LOCATIONS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("artifactory", ("url", "usernameSecret"), "url"),
    ("azure", ("endpoint", "container", "blob"), "blob"),
    ("git", ("repo",), ""),
    ("gcs", ("bucket", "key"), "key"),
    ("hdfs", ("addresses",), "path"),
    ("http", ("url",), "url"),
    ("oss", ("bucket", "endpoint", "key"), "key"),
    ("raw", (), ""),
    ("s3", ("endpoint", "bucket", "key"), "key"),
    ("plugin", ("name", "configuration", "key"), "key"),
)
"""The stores in the order in which Argo looks, what makes a place in them whole, and their key."""


def outputs(flow: Flow) -> Iterator[Finding]:
    """Each output parameter has one source, of a sort that its template can give."""
    for template in flow.all_templates:
        for index, each in enumerate(template.data.get("outputs", {}).get("parameters", ())):
            yield from _output(template, each, (*template.path, "outputs", "parameters", index))


def _output(template: Template, parameter: JSON, path: Path) -> Iterator[Finding]:
    name, source = parameter.get("name", ""), parameter.get("valueFrom")
    what = f"the output {name!r} of {template.where}"
    if "value" in parameter:
        if source is not None:
            yield Finding(
                "CLR458", f"{what} has both `value` and `valueFrom`", (*path, "valueFrom"), on="key", help="keep one"
            )
        elif template.type in (*GRAPHS, "suspend"):
            yield Finding(
                "CLR458",
                f"{what} can't have a `value`",
                (*path, "value"),
                on="key",
                why=f"Argo ends a `{template.type}` in Error that doesn't say where its output comes from",
                help=_fitting(template),
            )
        return
    if source is None:
        yield Finding(
            "CLR458", f"{what} has no source", path, why="an output comes from somewhere", help=_fitting(template)
        )
        return
    given = [
        each for each in _OUTPUT_SOURCES if (source.get(each) is not None if each == "supplied" else source.get(each))
    ]
    if len(given) != 1:
        yield Finding(
            "CLR458",
            f"{what} has {'no source' if not given else 'two sources'}: " + " and ".join(f"`{each}`" for each in given)
            if given
            else f"{what} has no source",
            (*path, "valueFrom", given[1]) if len(given) > 1 else (*path, "valueFrom"),
            on="key" if len(given) > 1 else "value",
            why="an output comes from exactly one place",
            help=_fitting(template),
        )
        return
    fitting = _SOURCES.get(template.type)
    if fitting is not None and given[0] not in fitting:
        yield Finding(
            "CLR458",
            f"{what} can't come from `{given[0]}`",
            (*path, "valueFrom", given[0]),
            on="key",
            why=f"the template is `{template.type}`",
            help=_fitting(template),
        )


_SOURCES = {
    "container": ("path",),
    "containerSet": ("path",),
    "script": ("path",),
    "resource": ("jsonPath", "jqFilter"),
    "steps": ("parameter", "expression"),
    "dag": ("parameter", "expression"),
}


def _fitting(template: Template) -> str:
    kinds = _SOURCES.get(template.type, ("supplied",) if template.type == "suspend" else ())
    return "give `valueFrom` with " + " or ".join(f"`{each}`" for each in kinds) if kinds else "give `valueFrom`"
