"""Fan-outs: each is a `dag` template of its own around the task that Argo expands.

Items travel as JSON text. What the mapped template returns is gathered as a list of strings and stays so until a
reader needs it; an empty list, or one without a single success, is "[]".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from couler_py.backends.argo.emit.arguments import argument, filled, report
from couler_py.backends.argo.emit.expressions import UnprovenError, translate
from couler_py.backends.argo.emit.literals import failing, member, string, tag
from couler_py.backends.argo.emit.scope import GraphScope
from couler_py.backends.argo.emit.values import Form, Value, elements, to_plain, to_value, to_wire
from couler_py.backends.argo.emit.wrapper import DONE, ITEM, item_wrapper
from couler_py.backends.argo.lower.decisions import with_children
from couler_py.backends.argo.program import KEY, has_item, item_type
from couler_py.ir import wire
from couler_py.ir.expr import Expr, Input, Item, children
from couler_py.ir.expr import Literal as Constant
from couler_py.ir.expr import WorkflowParameter as RunParameter
from couler_py.ir.model import Sequence, Task
from couler_py.ir.names import INDEX_DIGITS, Namer
from couler_py.ir.types import ANY, INT, STR, Type, type_of

if TYPE_CHECKING:
    from couler_py.backends.argo.emit.graph import GraphWriter

JSON = dict[str, Any]
ITEMS = "couler-items"
FOLDER = "couler-folder"


class FanOut:
    """Writes the template around one mapped task, and the call of it."""

    def __init__(self, writer: GraphWriter, task: Task):
        assert task.each is not None
        self.writer = writer
        self.task = task
        self.each = task.each
        self.emission = writer.emission
        self.program = writer.program
        self.callee = writer.program.callee(task)
        self.gathered = sorted(writer.program.gathered.get((writer.template.name, task.name), ()))
        self.artifacts = writer.program.gathered_artifacts.get((writer.template.name, task.name), ())
        self.items_read = (writer.template.name, task.name) in writer.program.items_read
        self.parameters: list[JSON] = []
        self.given: list[JSON] = []
        self.inner = _InnerScope(writer.scope)
        self.namer = Namer("argo", "parameter")

    def write(self) -> JSON:
        """The fields by which the outer graph calls the fan-out."""
        name = self.program.new_name(f"{self.writer.template.name}-{self.task.name}")
        if self.artifacts:
            # One folder for each time that this fan-out runs: nested and repeated ones have nodes of other names.
            place = string("/" + self.task.name)
            self._pass(FOLDER, tag(f"workflow.uid + '/' + sprig.sha256sum(node.name + {place})[:16]"))
        expansion = self._expansion()
        mapped: JSON = {"name": self.writer.names[self.task.name]} | expansion | self._call()
        template: JSON = {}
        if self.each.parallel is not None:
            template["parallelism"] = self.each.parallel
        artifacts = [
            {"name": self._artifact_name(each.name), **({"optional": True} if each.optional else {})}
            for each in self.task.artifacts
        ]
        signature: JSON = {}
        if self.parameters:
            signature["parameters"] = self.parameters
        if artifacts:
            signature["artifacts"] = artifacts
        if signature:
            template["inputs"] = signature
        if produced := self._outputs(mapped["name"]):
            template["outputs"] = {"parameters": produced}
        tasks = [mapped]
        if self.each.tolerate:
            tasks.append(self._settled(mapped["name"]))
        template["dag"] = {"failFast": False, "tasks": tasks}
        self.emission.add(name, "fan-out", template)
        if self.each.tolerate:
            name = self._counting(name, template)
        found: JSON = {"template": name}
        arguments: JSON = {}
        if self.given:
            arguments["parameters"] = self.given
        if self.task.artifacts:
            from couler_py.backends.argo.emit.artifacts import artifact_arguments

            arguments["artifacts"] = artifact_arguments(self.writer, self.task)
        if arguments:
            found["arguments"] = arguments
        return found

    # ---- the items

    def _expansion(self) -> JSON:
        items = self.each.items
        if isinstance(items, Sequence):
            return self._sequence(items)
        if isinstance(items, Constant) and isinstance(items.value, list | tuple):
            return self._literal(list(items.value))
        value = self._translated(items, "the items")
        if value is None:
            return {"withParam": "[]"}
        element = item_type(value.type)
        listed = to_value(value) if value.form != "gathered" else elements(value, dropping=True)
        texts = elements(value, dropping=True)
        if self._indexed():
            # A number with leading zeros keeps keys in the order of the items.
            number = f"('{'0' * INDEX_DIGITS}' + string(#index))"
            texts = f"map({texts}, {number}[len({number}) - {INDEX_DIGITS}:] + #)"
        bound = failing(f"the list of a fan-out has more than {self.each.max_items} items: raise max_items")
        text = f"(len({listed}) <= {self.each.max_items} ? toJson({texts}) : {bound})"
        self._pass(ITEMS, tag(text))
        self.inner.use_item(self._item_value(element))
        return {"withParam": "{{=" + member("inputs.parameters", ITEMS) + "}}"}

    def _literal(self, values: list[Any]) -> JSON:
        if len(values) > self.each.max_items:
            self.emission.problem(
                "CLR408",
                f"a fan-out over {len(values)} items, and max_items is {self.each.max_items}",
                step=self.task.display or self.task.name,
                source=self.task.source,
                help="raise max_items, or do several items in one step",
            )
        types = {type_of(value) for value in values}
        self.inner.use_item(self._item_value(types.pop() if len(types) == 1 else ANY))
        texts = [wire.to_json(value) for value in values]
        if self._indexed():
            texts = [f"{index:0{INDEX_DIGITS}d}{text}" for index, text in enumerate(texts)]
        self.strings = all(isinstance(value, str) and "{{" not in value for value in values)
        # Without a single item Argo doesn't expand `withItems`.
        return {"withItems": texts} if texts else {"withParam": "[]"}

    def _sequence(self, items: Sequence) -> JSON:
        if self._indexed():
            known = _numbers(items)
            if known is not None:
                return self._literal(known)
            if items.form:
                self.emission.problem(
                    "CLR402",
                    "files of a fan-out over a sequence with a format can't be put in order on Argo, where its numbers "
                    "aren't known",
                    step=self.task.display or self.task.name,
                    source=self.task.source,
                    help="leave the format to the step, or return the list from a step",
                )
        found: JSON = {}
        for key, expr in (("start", items.start), ("end", items.end), ("count", items.count)):
            if expr is None:
                continue
            value = self._translated(expr, "the range")
            if isinstance(expr, Constant):
                found[key] = str(expr.value)
            elif value is not None:
                name = f"couler-{key}"
                self._pass(name, tag(to_wire(value, INT)))
                found[key] = "{{=" + member("inputs.parameters", name) + "}}"
        if items.form:
            found["format"] = items.form
        self.inner.use_item(Value("item", "plain" if items.form else "json", STR if items.form else INT, "item"))
        return {"withSequence": found}

    def _start(self, items: Sequence) -> str:
        if items.start is None:
            return "0"
        if isinstance(items.start, Constant):
            return str(items.start.value)
        return f"asInt({member('inputs.parameters', 'couler-start')})"

    def _indexed(self) -> bool:
        return bool(self.artifacts)

    def _item_value(self, element: Type) -> Value:
        return Value(
            f"item[{INDEX_DIGITS}:]" if self._indexed() else "item", "json", element, "" if self._indexed() else "item"
        )

    def _translated(self, expr: Expr, what: str) -> Value | None:
        try:
            return translate(expr, self.writer.scope)
        except UnprovenError as error:
            report(self.emission, error, what, self.task.display or self.task.name, self.task.source)
            return None

    # ---- the call inside

    def _call(self) -> JSON:
        variant = self.program.item_variant(self.writer.template.name, self.task)
        found: JSON = dict(self.writer.call(_without_arguments(self.task)))
        if isinstance(self.task.call, str):
            found["template"] = self.program.template_name(self.task.call, variant)
        parameters = [
            {"name": self.writer._input_name(self.task, each.name), "value": self._argument(each.name, each.value)}
            for each in self.task.arguments
        ]
        wrapped = self._wrapped(found.get("template", ""), variant)
        if wrapped:
            found["template"] = wrapped
            if self.items_read:
                assert self.inner.item is not None
                parameters.append({"name": ITEM, "value": tag(self.inner.item.text)})
        if self.artifacts and isinstance(self.task.call, str):
            number = f"item[:{INDEX_DIGITS}]"
            if isinstance(self.each.items, Sequence) and _numbers(self.each.items) is None:
                place = f"string(abs(asInt(item) - {self._start(self.each.items)}))"
                number = f"('{'0' * INDEX_DIGITS}' + {place})[len({place}):]"
            for each in sorted(self.program.keyed[self.task.call]):
                text = f"{member('inputs.parameters', FOLDER)} + {string(f'/{each}/')} + {number}"
                parameters.append({"name": KEY + each, "value": tag(text)})
        arguments: JSON = {"parameters": parameters} if parameters else {}
        if self.task.artifacts:
            arguments["artifacts"] = [
                {
                    "name": self.writer._input_name(self.task, each.name),
                    "from": "{{inputs.artifacts." + self._artifact_name(each.name) + "}}",
                    **({"optional": True} if each.optional else {}),
                }
                for each in self.task.artifacts
            ]
        if arguments:
            found["arguments"] = arguments
        return found

    def _wrapped(self, name: str, variant: str) -> str:
        counts = self.each.tolerate and not self.gathered
        if "item" in variant and not self.items_read:
            return ""
        if not (self.gathered or self.items_read or counts) or self.callee is None:
            return ""
        return item_wrapper(self.emission, self.callee, name, variant, self.items_read)

    def _argument(self, name: str, expr: Expr) -> str:
        target, plain = self.writer.target(self.task, name)
        if type(expr) is not Constant and not isinstance(expr, RunParameter):
            expr = self._moved(name, expr, target)
        try:
            return argument(expr, target, plain, self.inner)
        except UnprovenError as error:
            report(
                self.emission, error, f"the argument {name!r}", self.task.display or self.task.name, self.task.source
            )
            return ""

    def _moved(self, name: str, expr: Expr, target: Type) -> Expr:
        """The expression inside the fan-out's template: what the outer graph knows comes in as its inputs."""
        if not has_item(expr):
            value = self._translated(expr, f"the argument {name!r}")
            if value is None:
                return Constant(None)
            plain = self.writer.target(self.task, name)[1]
            text = to_plain(value, target) if plain else to_wire(value, target)
            known = self._pass(name, filled(value, text))
            form: Form = "plain" if plain else "wire"
            text = member("inputs.parameters", known)
            self.inner.inputs[name] = Value(text, form, target, f"inputs.parameters.{known}")
            return Input(name)

        return self._split(name, expr)

    def _split(self, name: str, expr: Expr) -> Expr:
        """The expression with every greatest part that doesn't depend on the item made an input."""
        if isinstance(expr, Item | Constant | RunParameter):
            return expr
        if has_item(expr):
            return with_children(expr, tuple(self._split(name, part) for part in children(expr)))
        value = self._translated(expr, f"the argument {name!r}")
        if value is None:
            return Constant(None)
        number = len(self.parameters)
        taken = {each.name for each in self.task.arguments}
        while (inner := f"{name}-{number}") in taken:
            number += 1
        known = self._pass(inner, tag(to_wire(value, value.type)))
        self.inner.inputs[inner] = Value(member("inputs.parameters", known), "wire", value.type)
        return Input(inner)

    def _pass(self, name: str, text: str) -> str:
        """Give a value to the fan-out's template under a name that Argo takes, which is given back."""
        known = self.namer.name(name)
        if all(entry["name"] != known for entry in self.parameters):
            self.parameters.append({"name": known})
            self.given.append({"name": known, "value": text})
        return known

    # ---- what comes out

    def _outputs(self, mapped: str) -> list[JSON]:
        names = list(self.gathered)
        if self.items_read:
            names.append(ITEM)
        if self.each.tolerate and not names:
            names.append(self._counted())
        found: list[JSON] = []
        for name in names:
            known = self.program.field(self.callee, name)
            source = "{{tasks." + mapped + ".outputs.parameters." + known + "}}"
            found.append({"name": known, "valueFrom": {"parameter": source, "default": "[]"}})
        if self.artifacts:
            found.append({"name": FOLDER, "valueFrom": {"expression": member("inputs.parameters", FOLDER)}})
        return found

    def _counted(self) -> str:
        """An output of which every item that succeeded has one."""
        variant = self.program.item_variant(self.writer.template.name, self.task)
        if "item" in variant and self.callee is not None:
            return self.callee.outputs.parameters[0].name
        return DONE

    def _artifact_name(self, name: str) -> str:
        return self.program.field(self.callee, name)

    def _settled(self, mapped: str) -> JSON:
        """A task behind the map without which one failed item would fail the template."""
        from couler_py.backends.argo.emit.edges import ended

        name = "settled" if mapped != "settled" else "settled-map"
        return {"name": name, "depends": ended(mapped), "template": self.emission.no_op()}

    def _counting(self, inner: str, template: JSON) -> str:
        """The template around one whose failures are tolerated: it fails where too few items came back."""
        name = self.program.new_name(f"{self.writer.template.name}-{self.task.name}-tolerant")
        outputs = template["outputs"]["parameters"]
        listed = member("tasks.map.outputs.parameters", outputs[0]["name"])
        total = self._count()
        message = failing(f"more than {self.each.tolerate} items of the fan-out failed")
        check = f"len(fromJSON({listed})) >= {total} - {self.each.tolerate} ? false : {message}"
        call: JSON = {"name": "map", "template": inner}
        arguments: JSON = {}
        if self.parameters:
            arguments["parameters"] = [
                {"name": each["name"], "value": "{{=" + member("inputs.parameters", each["name"]) + "}}"}
                for each in self.parameters
            ]
        if self.task.artifacts:
            arguments["artifacts"] = [
                {
                    "name": self._artifact_name(each.name),
                    "from": "{{inputs.artifacts." + self._artifact_name(each.name) + "}}",
                    **({"optional": True} if each.optional else {}),
                }
                for each in self.task.artifacts
            ]
        if arguments:
            call["arguments"] = arguments
        enough: JSON = {"name": "enough", "depends": "map", "when": "{{= " + check + " }}"}
        enough["template"] = self.emission.no_op()
        found: JSON = {}
        if "inputs" in template:
            found["inputs"] = template["inputs"]
        found["outputs"] = {
            "parameters": [
                {
                    "name": each["name"],
                    "valueFrom": {"expression": member("tasks.map.outputs.parameters", each["name"])},
                }
                for each in outputs
            ]
        }
        found["dag"] = {"failFast": False, "tasks": [call, enough]}
        self.emission.add(name, "tolerant", found)
        return name

    def _count(self) -> str:
        items = self.each.items
        if isinstance(items, Sequence):
            if isinstance(items.count, Constant):
                return str(items.count.value)
            if items.count is not None:
                return "asInt(inputs.parameters['couler-count'])"
            ends = []
            for key, expr in (("end", items.end), ("start", items.start)):
                known = expr.value if isinstance(expr, Constant) else 0 if expr is None else None
                ends.append(str(known) if known is not None else f"asInt(inputs.parameters['couler-{key}'])")
            return f"(abs({ends[0]} - {ends[1]}) + 1)"
        if isinstance(items, Constant):
            return str(len(items.value))
        return f"len(fromJSON({member('inputs.parameters', ITEMS)}))"


class _InnerScope:
    """The scope of the mapped task inside the fan-out's own template."""

    def __init__(self, outer: GraphScope):
        self.outer = outer
        self.inputs: dict[str, Value] = {}
        self.item: Value | None = None

    def use_item(self, value: Value) -> None:
        self.item = value

    def reference(self, node: Expr, guarded: bool) -> Value:
        if isinstance(node, Item):
            if self.item is None:
                raise UnprovenError("there is no item here")
            return self.item
        if isinstance(node, Input):
            return self.inputs[node.name]
        return self.outer.reference(node, guarded)

    def present(self, task: str) -> str:
        return ""

    def published(self, name: str) -> str:
        return self.outer.published(name)


def _without_arguments(task: Task) -> Task:
    import msgspec

    return msgspec.structs.replace(task, arguments=(), artifacts=(), each=None)


def fan_out(writer: GraphWriter, task: Task) -> JSON:
    """The call of a fan-out, its template added to the emission."""
    return FanOut(writer, task).write()


def _numbers(items: Sequence) -> list[Any] | None:
    """The items of a sequence whose numbers are all known; both ends are included, downwards too."""
    parts = (items.start, items.end, items.count)
    if not all(part is None or (isinstance(part, Constant) and isinstance(part.value, int)) for part in parts):
        return None
    start, end, count = (part.value if isinstance(part, Constant) else None for part in parts)
    first: int = start or 0
    if count is not None:
        numbers = range(first, first + count)
    else:
        last: int = end or 0
        numbers = range(first, last + 1) if last >= first else range(first, last - 1, -1)
    return [items.form % number for number in numbers] if items.form else list(numbers)
