"""What Argo takes and people regret: values that become program text, values that may be absent."""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.argolang import Tag, tags_in
from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding
from couler_py.backends.argo.lint.rules.depends import words
from couler_py.backends.argo.lint.rules.flow import Call, Flow, Template

_BY_A_USER = ("inputs.parameters.", "workflow.parameters.", "steps.", "tasks.")
_BY_ARGO = ("steps.name", "tasks.name")
LONGEST = 128 * 1024
"""Characters of an argument or a variable; Linux counts bytes."""


def spliced_source(flow: Flow) -> Iterator[Finding]:
    """A value inside a script is program text: whoever sets it writes the program."""
    for template in flow.all_templates:
        source = (template.data.get("script") or {}).get("source", "")
        found = [tag for tag in tags_in(source) if not tag.expression and _is_users(tag.name)]
        if found:
            yield Finding(
                "CLR485",
                f"{found[0].name} becomes part of the program of {template.where}",
                (*template.path, "script", "source"),
                severity="warning",
                offset=found[0].start,
                why="a value with a quote or a line break in it breaks the program, or says what it does",
                help="give it as a variable (`env`) or an argument, and read it there",
            )


def _is_users(name: str) -> bool:
    return name.startswith(_BY_A_USER) and name not in _BY_ARGO


def absent(flow: Flow) -> Iterator[Finding]:
    """An output of something that may be skipped or fail has a value to fall back on; Argo 3.5 takes an empty text."""
    for template in flow.all_templates if flow.context.engine == "4" else ():
        for call in template.calls:
            yield from _reads(template, call)


def _reads(template: Template, call: Call) -> Iterator[Finding]:
    taken = call.target.parameters if call.target is not None else {}
    for index, each in enumerate(call.data.get("arguments", {}).get("parameters", ())):
        value = each.get("value")
        if not isinstance(value, str) or "{{" not in value:
            continue
        for tag in tags_in(value):
            other = _source(tag, template)
            if other is None or other is call or not _may_be_absent(other, call):
                continue
            whole = tag.start == 0 and tag.end == len(value)
            if whole and "default" in taken.get(each.get("name", ""), {}):
                continue
            if _has_default(other, tag.name) or call.data.get("when"):
                continue
            yield Finding(
                "CLR486",
                f"{call.where} reads {tag.name}, which may never be there",
                (*call.path, "arguments", "parameters", index, "value"),
                severity="warning",
                offset=tag.start,
                why=f"{other.where} can be skipped: then this call ends in Error",
                help="give the input a `default`, the output a `valueFrom.default`, or write {{=… ?? 'a value'}}",
            )


def absent_outputs(flow: Flow) -> Iterator[Finding]:
    """An output of a graph that comes from a call with a condition has a value to fall back on."""
    for template in flow.all_templates if flow.context.engine == "4" else ():
        for index, each in enumerate(template.data.get("outputs", {}).get("parameters", ())):
            source = each.get("valueFrom") or {}
            for tag in tags_in(source.get("parameter", "")):
                other = _source(tag, template)
                if other is None or not other.data.get("when") or "default" in source or _has_default(other, tag.name):
                    continue
                yield Finding(
                    "CLR486",
                    f"the output {each.get('name', '')!r} of {template.where} comes from {tag.name}, "
                    "which may never be there",
                    (*template.path, "outputs", "parameters", index, "valueFrom", "parameter"),
                    severity="warning",
                    offset=tag.start,
                    why=f"{other.where} can be skipped: the template ends in Error then, and a graph around it may be "
                    "called Succeeded or never end",
                    help="add `default` beside `parameter`",
                )


def large_values(flow: Flow) -> Iterator[Finding]:
    """A text that is longer than a program can be given."""
    for path, text in flow.context.strings:
        if len(text) > LONGEST and path[-1] not in ("source", "manifest", "data"):
            yield Finding(
                "CLR489",
                f"a text of {len(text) // 1024} KiB",
                path,
                severity="warning",
                why="programs take arguments and variables of at most 128 KiB each",
                help="give it as an artifact",
            )


def _source(tag: Tag, template: Template) -> Call | None:
    parts = tag.name.split(".")
    if tag.expression or len(parts) < 4 or parts[0] not in ("tasks", "steps") or parts[2] != "outputs":
        return None
    return template.by_name.get(parts[1])


def _may_be_absent(other: Call, reader: Call) -> bool:
    """Whether the reader can begin although the other one was skipped."""
    if not other.data.get("when"):
        return False
    depends = reader.data.get("depends", "")
    if depends:
        asked = [result for name, result, _ in words(depends) if name == other.name]
        return not asked or any(result != "Succeeded" for result in asked)
    return True


def _has_default(other: Call, name: str) -> bool:
    if other.target is None:
        return True
    declared: JSON = other.target.output_parameters.get(name.split(".")[-1], {})
    return "default" in (declared.get("valueFrom") or {})
