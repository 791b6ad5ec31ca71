"""What texts and expressions in Argo's words see: its variables, from what the local engine knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from couler_py import argolang
from couler_py.backends.local.imported import facts as known_facts
from couler_py.backends.local.imported import words
from couler_py.backends.local.scope import Scope, TaskFailure, plain
from couler_py.ir.evaluate import AbsentError, EvaluationError, evaluate
from couler_py.ir.expr import Expr, Text, TextLike
from couler_py.ir.model import Outputs, Template
from couler_py.store.records import Result, TaskRecord

PROBLEMS = (argolang.SyntaxProblem, argolang.EvaluationProblem)


class ImportedScope(Scope):
    """The values of one call, by Argo's rules: all of them are text.

    `outputs` are what the templates of the graph's tasks declare, `fanned` the results of the items of its fan-outs,
    `record_of` gives what the journal holds of a task; `template` and `path` are those of the call, `task` the name
    of the task that makes it.
    """

    template: Template | None = None
    path: str = ""
    task: str = ""
    entrypoint: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    addresses: Mapping[str, str] = {}
    outputs: Mapping[str, Outputs] = {}
    fanned: dict[str, list[Result]] = msgspec.field(default_factory=dict)
    record_of: Callable[[str], TaskRecord | None] = lambda _: None

    def resolve(self, node: Any) -> Any:
        kind = node["type"]
        if kind == "raw":
            return self.expression(node["text"]) if node["engine"] == "argo" else self.tag(node["text"])
        if kind == "condition":
            return self._holds(node["text"])
        if kind == "output":
            return self._output(node["task"], node["name"])
        if kind == "artifact":
            return self._artifact(node["task"], node["name"])
        if kind == "status":
            return self._status(node["task"])
        if kind == "published" and node["name"] in self.facts.published:
            return words.said(self.facts.published[node["name"]])
        if kind == "item" and self.item is UNSET:
            return "{{item}}"  # no tag outside a fan-out
        if kind == "run":
            return known_facts.field(self, node["field"])
        return super().resolve(node)

    # ---- values

    def value(self, expr: Expr) -> Any:
        """The value of an expression. Raises `EvaluationError`."""
        if isinstance(expr, Text):
            return self.filled(expr)
        return evaluate(plain(expr), self.resolve)

    def text(self, text: TextLike) -> str:
        """A text with its tags filled in. Raises `TaskFailure` where one has no value."""
        if isinstance(text, str):
            return text
        try:
            return self.filled(text)
        except EvaluationError as error:
            raise TaskFailure(f"a text has no value: {error}") from None

    def filled(self, text: Text) -> str:
        """A text with its tags filled in. Raises `EvaluationError`, for an absent value only where it stands alone."""
        try:
            return self._joined([part if isinstance(part, str) else plain(part) for part in text.parts])
        except AbsentError as absent:
            if len(text.parts) == 1:
                raise
            raise EvaluationError(str(absent)) from None

    def _joined(self, parts: Sequence[Any]) -> str:
        return "".join(part if isinstance(part, str) else self._part(part) for part in parts)

    def _part(self, part: Any) -> str:
        if part["type"] == "input_artifact":  # in a text, its path
            return str(self.tag(f"inputs.artifacts.{part['name']}.path"))
        return words.said(evaluate(part, self.resolve))

    def again(self, value: str) -> str:
        """A value as a template finds it: Argo reads the tags in it, as those of the template. Raises `TaskFailure`."""
        if "{{" not in value:
            return value
        try:
            return argolang.fill(value, self.variables(value))
        except PROBLEMS as problem:
            raise TaskFailure(f"a value holds a tag without a value: {problem}") from None

    def condition(self, expr: Expr) -> bool:
        """The value of a condition. Raises `TaskFailure` where it has none."""
        try:
            found = self.value(expr)
        except EvaluationError as error:
            raise TaskFailure(f"the condition has no value: {error}") from None
        if not isinstance(found, bool):
            raise TaskFailure(f"a condition needs true or false, not {found!r}")
        return found

    def answered(self, condition: str, status: int, body: str) -> bool:
        """Whether the condition of a request holds for its answer. Raises `TaskFailure`."""
        answer = {"response.statusCode": status, "response.body": body}
        try:
            return argolang.evaluate(condition, argolang.expanded(answer)) is True
        except PROBLEMS as problem:
            raise TaskFailure(f"the condition of success has no value: {problem}") from None

    # ---- in Argo's words

    def expression(self, text: str) -> Any:
        """The value of an expression. Raises `EvaluationError`."""
        try:
            text = argolang.fill(text, self.variables(text)) if "{{" in text else text
            found = argolang.evaluate(text, argolang.expanded(self.variables(text)))
        except PROBLEMS as problem:
            raise EvaluationError(str(problem)) from None
        if found is None:
            raise EvaluationError(f"{text.strip()!r} is nil")
        return found

    def tag(self, name: str) -> Any:
        """The value of `{{name}}`, or the tag itself where it has none and Argo lets it stand."""
        name = name.strip()
        found = self.variables(name)
        if name in found:
            if found[name] is None:
                raise AbsentError(f"{name} is absent")
            return found[name]
        if name.startswith(("tasks.", "steps.", "item.")) or name == "item":
            raise EvaluationError(f"there is no {name}")
        return "{{" + name + "}}"

    def _holds(self, text: Any) -> bool:
        try:
            return argolang.condition(text if isinstance(text, str) else self._joined(text["parts"]))
        except PROBLEMS as problem:
            raise EvaluationError(str(problem)) from None

    # ---- tasks

    def _status(self, task: str) -> str:
        known = self.states.get(task)
        if known is not None:
            return known
        result = self.results.get(task)
        if result is None:
            raise EvaluationError(f"the task {task!r} has not ended")
        return words.status(result)

    def _output(self, task: str, name: str) -> str:
        result = self.results.get(task)
        if result is None:
            raise EvaluationError(f"the task {task!r} has not ended")
        if name in result.parameters:
            return words.said(result.parameters[name])
        if result.state not in ("Skipped", "Blocked"):
            raise EvaluationError(f"{task} left no output {name!r}, for which Argo would wait for ever")
        declared = {output.name: output for output in self.outputs.get(task, Outputs()).parameters}
        if name in declared and declared[name].default is not UNSET:
            return words.said(declared[name].default)
        raise AbsentError(f"{task} is {words.status(result)} and has no outputs")

    def _artifact(self, task: str, name: str) -> Any:
        result = self.results.get(task)
        if result is None:
            raise EvaluationError(f"the task {task!r} has not ended")
        if name not in result.artifacts:
            raise AbsentError(f"{task} left no artifact {name!r}")
        return result.artifacts[name]

    # ---- variables

    def variables(self, text: str) -> dict[str, Any]:
        """What Argo's names stand for, as far as a text can mean them; None where a value is absent."""
        found: dict[str, Any] = known_facts.of_run(self)
        found |= known_facts.of_call(self)
        for task in self.results.keys() | self.states.keys():
            if task in text:
                values = self._known_of(task)
                for prefix in ("tasks", "steps"):
                    found |= {f"{prefix}.{task}.{name}": value for name, value in values.items()}
        return found

    def _known_of(self, task: str) -> dict[str, Any]:
        found: dict[str, Any] = {"id": f"{self.path}/{task}".lstrip("/"), "ip": "127.0.0.1"}
        if (address := self.addresses.get(found["id"])) is not None:
            found["ip"] = address
        record = self.record_of(task)
        if record is not None and record.started is not None:
            found["startedAt"] = words.instant(record.started)
        if record is not None and record.finished is not None:
            found["finishedAt"] = words.instant(record.finished)
        found["status"] = self._status(task)
        result = self.results.get(task)
        if result is None:
            return found
        if result.exit_code is not None:
            found["exitCode"] = str(result.exit_code)
        for output in self.outputs.get(task, Outputs()).parameters:
            key = "outputs.result" if output.stdout else f"outputs.parameters.{output.name}"
            try:
                found[key] = self._output(task, output.name)
            except AbsentError:
                found[key] = None
            except EvaluationError:
                continue  # it isn't there for expressions either
        for name, ref in result.artifacts.items():
            found[f"outputs.artifacts.{name}"] = ref
        if task in self.fanned:
            items = [each.parameters for each in self.fanned[task] if each.state == "Succeeded" and each.parameters]
            texts = [{name: words.said(value) for name, value in sorted(each.items())} for each in items]
            found["outputs.parameters"] = words.go_json(texts)
        return found


def at_item(scope: Scope, item: Any) -> Scope:
    """The scope of one item of a fan-out."""
    return msgspec.structs.replace(scope, item=item)
