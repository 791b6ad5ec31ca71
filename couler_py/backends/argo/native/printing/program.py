"""A whole program: one `with` block a document."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from couler_py.backends.argo.document.structure import MAX_DEPTH, depth
from couler_py.backends.argo.names import name_of
from couler_py.backends.argo.native.printing.literals import keywords, named, value
from couler_py.backends.argo.native.printing.members import members
from couler_py.backends.argo.native.printing.proof import built
from couler_py.backends.argo.native.printing.scope import Scope, Variables, wished
from couler_py.backends.argo.native.printing.templates import template_lines, with_line
from couler_py.backends.argo.vocabulary import API, KINDS
from couler_py.ir.diagnostics import DiagnosticError, error
from couler_py.printer.layout import Doc, call, statement
from couler_py.printer.literal import quoted

HEAD = "from couler_py import argo_native as argo\n"
MARGIN = 4


class Printed(msgspec.Struct, frozen=True):
    """A document to print: its JSON data, and the documents that stand before and behind it in its file."""

    data: Mapping[str, Any]
    before: tuple[Mapping[str, Any], ...] = ()
    after: tuple[Mapping[str, Any], ...] = ()


def print_documents(documents: Sequence[Printed]) -> str:
    """Python source that writes the documents, formatted, the same for the same documents.

    Raises `DiagnosticError` (CLR195) for a document that no program can write.
    """
    names = Variables({"argo"})
    parts: list[str] = []
    for document in documents:
        parts.append(_proved(document, names))
    return HEAD + "".join(f"\n{part}" for part in parts)


def _proved(document: Printed, names: Variables) -> str:
    """The shortest block that is proved to write the document: its templates as statements, else all as data.

    What Argo's schema refuses is written unchecked.
    """
    problem: Exception | None = None
    if depth([document.data, *document.before, *document.after]) > MAX_DEPTH + 1:
        raise _unwritable(document, f"it is nested deeper than {MAX_DEPTH} collections")
    for checked, writer in itertools.product((True, False), (_as_statements, _as_data)):
        before = names.copy()
        try:
            found = writer(document, names, checked)
            if same(built(HEAD + found), document):
                return found
        except (TypeError, DiagnosticError) as raised:
            problem = problem or raised
        names.restore(before)
    said = problem.diagnostics[0].message if isinstance(problem, DiagnosticError) else str(problem or "")
    raise _unwritable(document, said or "the program would write another one") from problem


def _unwritable(document: Printed, why: str) -> DiagnosticError:
    name = name_of(document.data.get("metadata"), "")
    said = "no program writes this document"
    return DiagnosticError([error("CLR195", said, step=name, why=why, help="see what `couler lint` says")])


def same(written: Any, document: Printed) -> bool:
    """Whether one document was written, and this one."""
    if len(written) != 1:
        return False
    data, before, after = written[0]
    return exactly(data, document.data) and exactly(before, document.before) and exactly(after, document.after)


def exactly(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, their kinds too: 1 is neither 1.0 nor True."""
    return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")


def _as_statements(document: Printed, names: Variables, checked: bool) -> str:
    data = document.data
    inner = _templates_home(data)
    templates = inner.get("templates") or []
    if not isinstance(templates, list) or not all(_is_template(each) for each in templates):
        raise TypeError("templates without names")
    if len({each["name"] for each in templates}) < len(templates):
        raise TypeError("two templates of one name")
    order = _callees_first(templates)
    variable = names.free(*wished(name_of(data.get("metadata"), "w"), "workflow"))
    outset = names.copy()
    # Variables get their names on the first way through, and only those that are read on the second.
    used: frozenset[str] = frozenset()
    for _ in range(2):
        names.restore(outset)
        scope = Scope(names)
        lines = [line for each in order for line in template_lines(each, scope, used)]
        used = frozenset(scope.used)
    first = _first([each["name"] for each in templates], [each["name"] for each in order])
    if first:
        arranged = statement("", call(f"{variable}.arrange", *map(quoted, first)), MARGIN)
        lines += [" " * MARGIN + line for line in arranged.split("\n")]
    left = "templates" if templates else None
    head = call(f"argo.{data['kind']}", *_fields(document, left, scope, checked))
    if not lines:
        return statement(f"{variable} = ", head) + "\n"
    return "\n".join([with_line(head, f" as {variable}", 0), *lines]) + "\n"


def _as_data(document: Printed, names: Variables, checked: bool) -> str:
    variable = names.free(*wished(name_of(document.data.get("metadata"), "w"), "workflow"))
    head = call(f"argo.{document.data['kind']}", *_fields(document, None, Scope(names), checked))
    return statement(f"{variable} = ", head) + "\n"


def _templates_home(data: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = data.get("spec")
    inner = spec.get("workflowSpec") if data.get("kind") == "CronWorkflow" and isinstance(spec, dict) else spec
    return inner if isinstance(inner, dict) else {}


def _fields(document: Printed, left: str | None, scope: Scope, checked: bool) -> list[Doc]:
    """The arguments of a document: metadata, then `spec` but for the templates that statements write."""
    data = document.data
    if data.get("kind") not in KINDS or data.keys() - {"apiVersion", "kind", "metadata", "spec"}:
        raise TypeError("it is no document of Argo's, or holds more than metadata and spec")
    if data.get("apiVersion") != API:
        raise TypeError(f"its apiVersion isn't {API}")
    spec = data.get("spec")
    if not isinstance(spec, dict):
        raise TypeError("it has no spec")
    found = _metadata(data.get("metadata"), data["kind"], scope)
    for key, item in spec.items():
        if key == left and data["kind"] != "CronWorkflow":
            continue
        if key == "arguments":
            found.append(named(key, members(item, scope)))
        elif key == "workflowSpec" and isinstance(item, dict):
            rest = {name: each for name, each in item.items() if name != left}
            found.append(named(key, value(rest, scope)))
        else:
            found += keywords({key: item}, scope)
    for key, around in (("before", document.before), ("after", document.after)):
        if around:
            found.append(named(key, value(list(around), scope)))
    if not checked:
        found.append(named("check", "False"))
    return found


def _metadata(given: Any, kind: str, scope: Scope) -> list[Doc]:
    if not isinstance(given, dict):
        raise TypeError("it has no metadata")
    typed = {"generateName": str, "namespace": str, "labels": dict, "annotations": dict}
    if kind == "ClusterWorkflowTemplate":  # which is in no namespace, whatever its document says
        del typed["namespace"]
    found: list[Doc] = []
    rest = dict(given)
    if isinstance(rest.get("name"), str):
        found.append(quoted(rest.pop("name")))
    for key in list(rest):
        if key in typed and isinstance(rest[key], typed[key]):
            found.append(named(key, value(rest.pop(key), scope)))
    if rest:
        found.append(named("metadata", value(rest, scope)))
    return found


def _is_template(given: Any) -> bool:
    return isinstance(given, dict) and isinstance(given.get("name"), str)


def _callees_first(templates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The templates in their order, but each behind those that it calls, where no ring forbids it."""
    by_name = {each["name"]: each for each in templates}
    found: dict[str, dict[str, Any]] = {}
    begun: set[str] = set()
    for start in by_name:
        stack = [(start, iter(_callees(by_name[start])))] if start not in begun else []
        begun.add(start)
        while stack:
            name, callees = stack[-1]
            following = next((each for each in callees if each in by_name and each not in begun), None)
            if following is None:
                found[name] = by_name[name]
                stack.pop()
            else:
                begun.add(following)
                stack.append((following, iter(_callees(by_name[following]))))
    return list(found.values())


def _callees(template: dict[str, Any]) -> Iterable[str]:
    dag = template.get("dag")
    groups = template.get("steps")
    tasks = dag.get("tasks") if isinstance(dag, dict) else None
    listed = list(tasks) if isinstance(tasks, list) else []
    for group in groups if isinstance(groups, list) else []:
        listed += group if isinstance(group, list) else []
    return [each["template"] for each in listed if isinstance(each, dict) and isinstance(each.get("template"), str)]


def _first(wanted: list[str], written: list[str]) -> list[str]:
    """The fewest names to put first so that the rest follow as they were written."""
    for count in range(len(wanted) + 1):
        first = wanted[:count]
        taken = set(first)
        if first + [name for name in written if name not in taken] == wanted:
            return first
    return wanted
