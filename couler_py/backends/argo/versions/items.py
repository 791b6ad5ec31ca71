"""Items of loops as Argo 3.5 has them.

When it expands a loop, 3.5 knows nothing but the item, and before that it doesn't know the item; 4 knows the run and
the inputs beside it. (Seen on 3.5.14: "failed to evaluate expression: unknown name inputs".) So a template is put
around each item: the item and what the expressions read come in as its inputs, and inside they are all known.

A text among the items is the text itself in 4. In 3.5 it is what stands between its quotes in JSON, escapes and all;
in the loops that we emit, whose items are all texts, it is read as JSON first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from couler_py.argolang.chains import Path, Reference, chain, references, replaced
from couler_py.argolang.problems import SyntaxProblem
from couler_py.argolang.tags import Tag, scan, tags_in
from couler_py.argolang.tags import written as written_part
from couler_py.backends.argo.emission import ROLE
from couler_py.backends.argo.references import in_json
from couler_py.backends.argo.vocabulary import LOOPS
from couler_py.ir.diagnostics import Diagnostic, error

JSON = dict[str, Any]
ITEM = "couler-item"
RUN = "run"
READ = r"fromJSON('\u0022' + item + '\u0022')"
"""The text of an item that stands escaped."""
_OTHERS = frozenset(("inputs", "workflow", "tasks", "steps"))


def items_apart(spec: JSON) -> tuple[JSON, list[Diagnostic]]:
    """The `spec` of a workflow without expressions over an item and more, and those that can't be said otherwise."""
    templates: list[Any] = []
    found: list[Diagnostic] = []
    names = {each.get("name") for each in spec.get("templates") or () if isinstance(each, dict)}
    for template in spec.get("templates") or ():
        added: list[JSON] = []
        templates.append(_without(template, names, added, found) if isinstance(template, dict) else template)
        templates += added
    return ({**spec, "templates": templates} if "templates" in spec else spec), found


def _without(template: JSON, names: set[Any], added: list[JSON], found: list[Diagnostic]) -> JSON:
    if isinstance(template.get("dag"), dict):
        tasks = [_call(template, each, "tasks", names, added, found) for each in template["dag"].get("tasks") or ()]
        return {**template, "dag": {**template["dag"], "tasks": tasks}}
    if isinstance(template.get("steps"), list):
        groups = [
            [_call(template, each, "steps", names, added, found) for each in group]
            if isinstance(group, list)
            else group
            for group in template["steps"]
        ]
        return {**template, "steps": groups}
    return template


def _call(template: JSON, call: Any, kind: str, names: set[Any], added: list[JSON], found: list[Diagnostic]) -> Any:
    """The call, or that of a template around it, which is added."""
    if not isinstance(call, dict) or not any(each in call for each in LOOPS):
        return call
    arguments = call.get("arguments") or {}
    parameters: list[JSON] = arguments.get("parameters") or []
    if not all(
        isinstance(each, dict) and "name" in each
        for each in (template, call, *parameters, *(arguments.get("artifacts") or ()))
    ):
        return call  # which no Argo takes, and the linter says
    about = template.get("metadata") or {}
    if (about.get("annotations") or {}).get(ROLE) == "fan-out":
        parameters = [{**each, "value": _unescaped(each["value"])} if "value" in each else each for each in parameters]
        call = {**call, "arguments": {**arguments, "parameters": parameters}} if parameters else call
    mixed = [each for each in parameters if _mixed(each.get("value"))]
    unsaid = [each["name"] for each in mixed if _roots(each["value"]) & {"tasks", "steps"}]
    if _mixed(call.get("when")):
        unsaid.append("when")
    if unsaid:
        found.append(
            error(
                "CLR415",
                f"{' and '.join(unsaid)} of {call.get('name')} is an expression over its item and something else",
                step=str(template.get("name", "")),
                why="when Argo 3.5 expands a loop it knows the item alone",
                help="give the rest to the called template as arguments of their own, and compute it there",
            )
        )
    if not mixed or unsaid:
        return call
    around = _Around(template, call, kind)
    name = _new(f"{template['name']}-{call['name']}-one", names)
    added.append(around.template(name))
    return around.call(name)


class _Around:
    """The template around one item, and its call."""

    def __init__(self, template: JSON, call: JSON, kind: str):
        self.outer, self.inner, self.kind = template, call, kind
        self.given: list[JSON] = []
        self.taken: dict[tuple[str, str], str] = {}
        self.arguments: list[JSON] = []
        for each in call["arguments"]["parameters"]:
            value = each.get("value")
            if _mixed(value):
                self.arguments.append({**each, "value": _changed(value, lambda text: replaced(text, self._inner))})
            else:
                known = self._passed("argument", each["name"], {key: each[key] for key in each if key != "name"})
                self.arguments.append({"name": each["name"], "value": _tag(known)})

    def _inner(self, reference: Reference) -> Path | None:
        """A reference as one to an input of the new template."""
        path = reference.path
        if path[:2] == ("inputs", "parameters") and len(path) > 2:
            return ("inputs", "parameters", self._passed("input", path[2], {"value": _tag(path[2])}), *path[3:])
        if path[0] == "item":
            value = "{{=" + chain(path) + "}}"
            return ("inputs", "parameters", self._passed("item", "-".join((ITEM, *path[1:])), {"value": value}))
        return None

    def _passed(self, what: str, name: str, given: JSON) -> str:
        """The name of the new template's input that gets what is given."""
        known = self.taken.get((what, name))
        if known is None:
            known = name
            while known in self.taken.values():
                known += "-of-one"
            self.taken[what, name] = known
            self.given.append({"name": known, **given})
        return known

    def template(self, name: str) -> JSON:
        artifacts: list[JSON] = self.inner["arguments"].get("artifacts") or []
        inputs: JSON = {"parameters": [{"name": each["name"]} for each in self.given]}
        arguments: JSON = {"parameters": self.arguments}
        if artifacts:
            inputs["artifacts"] = [_optional({"name": each["name"]}, each) for each in artifacts]
            arguments["artifacts"] = [
                _optional({"name": each["name"], "from": "{{inputs.artifacts." + each["name"] + "}}"}, each)
                for each in artifacts
            ]
        call = {key: self.inner[key] for key in ("template", "templateRef", "inline") if key in self.inner}
        made: JSON = {"name": name, "metadata": {"annotations": {ROLE: "item"}}, "inputs": inputs}
        if outputs := self._outputs():
            made["outputs"] = outputs
        made["dag"] = {"failFast": False, "tasks": [{"name": RUN, **call, "arguments": arguments}]}
        return made

    def call(self, name: str) -> JSON:
        arguments = {**self.inner["arguments"], "parameters": self.given}
        kept = {key: value for key, value in self.inner.items() if key not in ("template", "templateRef", "inline")}
        return {**kept, "template": name, "arguments": arguments}

    def _outputs(self) -> JSON:
        """What the graph around reads of the call."""
        found: dict[str, dict[str, None]] = {"parameters": {}, "artifacts": {}}

        def look(path: tuple[str, ...]) -> None:
            if path[:3] == (self.kind, self.inner["name"], "outputs"):
                if path[3:4] == ("result",):
                    found["parameters"]["result"] = None
                elif len(path) > 4 and path[3] in found:
                    found[path[3]][path[4]] = None

        in_json(self.outer, look)
        made: JSON = {}
        if found["parameters"]:
            ways = {each: each if each == "result" else f"parameters.{each}" for each in found["parameters"]}
            made["parameters"] = [
                {"name": each, "valueFrom": {"parameter": "{{" + f"tasks.{RUN}.outputs.{way}" + "}}"}}
                for each, way in ways.items()
            ]
        if found["artifacts"]:
            made["artifacts"] = [
                {"name": each, "from": "{{" + f"tasks.{RUN}.outputs.artifacts.{each}" + "}}"}
                for each in found["artifacts"]
            ]
        return made


def _unescaped(value: Any) -> Any:
    """A text whose item, escaped as 3.5 has it, is read as JSON."""
    if not isinstance(value, str):
        return value
    return _changed(value.replace("{{item}}", "{{=item}}"), _read)


def _read(expression: str) -> str:
    for reference in reversed(references(expression)):
        if reference.path[0] == "item":
            start, end = reference.places[0]
            expression = expression[:start] + READ + expression[end:]
    return expression


def _optional(entry: JSON, given: JSON) -> JSON:
    return {**entry, "optional": True} if given.get("optional") else entry


def _tag(name: str) -> str:
    return "{{=" + chain(("inputs", "parameters", name)) + "}}"


def _new(wish: str, names: set[Any]) -> str:
    number, name = 1, wish
    while name in names:
        number += 1
        name = f"{wish}-{number}"
    names.add(name)
    return name


def _mixed(value: Any) -> bool:
    """Whether a text has an expression over an item and something else."""
    return isinstance(value, str) and any("item" in roots and roots & _OTHERS for roots in _read_by(value))


def _roots(value: str) -> set[str]:
    return set().union(*_read_by(value))


def _read_by(value: str) -> Iterator[set[str]]:
    """What each expression of a text reads, by the first names. One that can't be parsed reads nothing: it fails."""
    for tag in tags_in(value):
        if tag.expression:
            try:
                yield {each.path[0] for each in references(tag.text)}
            except SyntaxProblem:
                yield set()


def _changed(value: str, change: Callable[[str], str]) -> str:
    """A text with other expressions; one that can't be parsed stays."""
    return "".join(written_part(_other(part, change) if isinstance(part, Tag) else part) for part in scan(value))


def _other(tag: Tag, change: Callable[[str], str]) -> Tag:
    if not tag.expression:
        return tag
    try:
        return msgspec.structs.replace(tag, text=change(tag.text))
    except SyntaxProblem:
        return tag
