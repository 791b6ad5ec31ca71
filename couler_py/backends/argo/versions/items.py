"""Items of loops as Argo 3.5 has them.

When it expands a loop, 3.5 knows nothing but the item, and before that it doesn't know the item; 4 knows the run and
the inputs beside it. (Seen on 3.5.14: "failed to evaluate expression: unknown name inputs".) So a template is put
around each item: the item and what the expressions read come in as its inputs, and inside they are all known.

A text among the items is the text itself in 4. In 3.5 it is what stands between its quotes in JSON, escapes and all;
in the loops that we emit, whose items are all texts, it is read as JSON first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from couler_py.backends.argo.emission import ROLE
from couler_py.backends.argo.emit.literals import member
from couler_py.backends.argo.versions.expressions import LITERAL, TAG
from couler_py.backends.argo.vocabulary import LOOPS
from couler_py.ir.diagnostics import Diagnostic, error

JSON = dict[str, Any]
ITEM = "couler-item"
RUN = "run"
READ = "fromJSON('\\\\u0022' + item + '\\\\u0022')"
"""The text of an item, as the replacement of a pattern."""
_ITEM = re.compile(r"(?<![\w.])item(?:\.(\w+)|\[(?:'([^']*)'|\"([^\"]*)\")\])?(?![\w])")
_OTHER = re.compile(r"(?<![\w.])(inputs|workflow|tasks|steps)(?!\w)")
_INPUT = re.compile(r"(?<![\w.])inputs\.parameters(?:\.(\w+)|\[(?:'([^']*)'|\"([^\"]*)\")\])")
_OUTPUT = re.compile(
    r"\??\.outputs\??\.(?:(result)\b|(parameters|artifacts)\??\.?(?:\[(?:'([^']*)'|\\\"([^\"]*)\\\")\]|([\w-]+)))"
)


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
    unsaid = [each["name"] for each in mixed if re.search(r"(?<![\w.])(tasks|steps)(?!\w)", _bare(each["value"]))]
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
                self.arguments.append({**each, "value": TAG.sub(self._rewritten, value)})
            else:
                known = self._passed("argument", each["name"], {key: each[key] for key in each if key != "name"})
                self.arguments.append({"name": each["name"], "value": _tag(known)})

    def _rewritten(self, tag: re.Match[str]) -> str:
        """An expression over inputs of the new template alone."""
        return "{{=" + _outside_literals(tag[1], self._replaced) + "}}"

    def _replaced(self, text: str) -> str:
        text = _INPUT.sub(lambda m: self._input(m[1] or m[2] or m[3]), text)
        return _ITEM.sub(lambda m: self._item(m[0], m[1] or m[2] or m[3] or ""), text)

    def _input(self, name: str) -> str:
        return member("inputs.parameters", self._passed("input", name, {"value": _tag(name)}))

    def _item(self, text: str, key: str) -> str:
        value = "{{=" + text + "}}"
        return member("inputs.parameters", self._passed("item", f"{ITEM}-{key}" if key else ITEM, {"value": value}))

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
        text = msgspec.json.encode(self.outer).decode()
        found: dict[str, dict[str, None]] = {"parameters": {}, "artifacts": {}}
        for match in re.finditer(_named(self.kind, self.inner["name"]), text):
            if output := _OUTPUT.match(text, match.end()):
                result, what, *ways = output.groups()
                found[what or "parameters"][result or next(filter(None, ways))] = None
        made: JSON = {}
        if found["parameters"]:
            made["parameters"] = [
                {
                    "name": each,
                    "valueFrom": {
                        "parameter": "{{tasks."
                        + RUN
                        + ".outputs."
                        + ("" if each == "result" else "parameters.")
                        + each
                        + "}}"
                    },
                }
                for each in found["parameters"]
            ]
        if found["artifacts"]:
            made["artifacts"] = [
                {"name": each, "from": "{{tasks." + RUN + ".outputs.artifacts." + each + "}}"}
                for each in found["artifacts"]
            ]
        return made


def _unescaped(value: Any) -> Any:
    """A text whose item, escaped as 3.5 has it, is read as JSON."""
    if not isinstance(value, str):
        return value
    return TAG.sub(
        lambda tag: "{{=" + _outside_literals(tag[1], lambda text: _ITEM.sub(READ, text)) + "}}",
        value.replace("{{item}}", "{{=item}}"),
    )


def _named(kind: str, name: str) -> str:
    return rf"{kind}(?:\.{re.escape(name)}(?![\w-])|\['{re.escape(name)}'\])"


def _optional(entry: JSON, given: JSON) -> JSON:
    return {**entry, "optional": True} if given.get("optional") else entry


def _tag(name: str) -> str:
    return "{{=" + member("inputs.parameters", name) + "}}"


def _new(wish: str, names: set[Any]) -> str:
    number, name = 1, wish
    while name in names:
        number += 1
        name = f"{wish}-{number}"
    names.add(name)
    return name


def _mixed(value: Any) -> bool:
    """Whether an expression in the text reads the item and something else."""
    return isinstance(value, str) and any(
        _ITEM.search(bare) and _OTHER.search(bare) for bare in map(_bare, TAG.findall(value))
    )


def _bare(expression: str) -> str:
    return "".join(text for text, literal in _pieces(expression) if not literal)


def _outside_literals(expression: str, change: Any) -> str:
    return "".join(text if literal else change(text) for text, literal in _pieces(expression))


def _pieces(expression: str) -> Iterator[tuple[str, bool]]:
    """The parts of an expression that are string literals, but for those that name a member, and the parts between."""
    start = 0
    for match in LITERAL.finditer(expression):
        if expression[: match.start()].endswith("[") and expression[match.end() :].startswith("]"):
            continue
        yield expression[start : match.start()], False
        yield match[0], True
        start = match.end()
    yield expression[start:], False
