"""A task's function without Airflow's context: what it asks the context for becomes a parameter.

`ti.xcom_pull(task_ids="extract")` becomes `extract`, `kwargs["ds"]` becomes `ds`, `context["params"]["n"]` becomes `n`.
All else of the source stays as it is written.
"""

from __future__ import annotations

import ast
import io
import tokenize
from typing import Any, Literal

import msgspec

from couler_py.backends.airflow.importing.templating import DATES, INSTANCES, RETURNED
from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.printer.names import identifier

SAYABLE = (*DATES, "run_id", "params", "logical_date", "data_interval_start")
"""Names of Airflow's context that a step can be given."""
CONTEXT = frozenset((*SAYABLE, *INSTANCES)) | frozenset(
    [
        "dag",
        "dag_run",
        "conf",
        "macros",
        "task",
        "var",
        "conn",
        "data_interval_end",
        "prev_start_date_success",
        "inlets",
        "outlets",
        "test_mode",
        "prev_data_interval_start_success",
        "task_instance_key_str",
        "triggering_asset_events",
        "map_index_template",
        "templates_dict",
    ]
)
"""Names that Airflow gives to a function that has a parameter of theirs."""


class Wanted(msgspec.Struct, frozen=True):
    """What a parameter of a function is given in place of Airflow's context."""

    kind: Literal["result", "param", "context"]
    name: str
    key: str = RETURNED


class Rewritten(msgspec.Struct, frozen=True):
    """A function's source, and what its parameters are given from Airflow's context."""

    text: str
    wanted: dict[str, Wanted]


def rewritten(text: str, given: set[str]) -> Rewritten:
    """The function of a source without Airflow's context. `given` are the parameters that the DAG has values for.

    Raises `UnsayableError` for a use of the context that has no counterpart.
    """
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    return _Rewriting(text, node, given).done()


class _Rewriting:
    def __init__(self, text: str, node: ast.FunctionDef, given: set[str]):
        self.text = text
        self.node = node
        arguments = node.args
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        self.names = names
        self.context = {name for name in names if name in CONTEXT and name not in given}
        self.rest = arguments.kwarg.arg if arguments.kwarg is not None else ""
        self.used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} | set(names)
        self.wanted: dict[str, Wanted] = {}
        self.instances: set[str] = set()
        self.edits: list[tuple[ast.expr, str]] = []
        self.dropped: list[ast.stmt] = []

    def done(self) -> Rewritten:
        if not self.context and not self.rest:
            return Rewritten(self.text, {})
        for statement in self.node.body:
            if not self._assigned(statement) and not self._aliased(statement):
                self._visit(statement)
        text = self._edited()
        return Rewritten(_with_header(text, self._arguments(), self.node), self.wanted)

    # ---- what the body asks for

    def _visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.expr):
            found = self._replacement(node)
            if found is not None:
                self.edits.append((node, found))
                return
            if isinstance(node, ast.Name) and (node.id in self.context | self.instances or node.id == self.rest):
                self._kept(node)
        for child in ast.iter_child_nodes(node):
            self._visit(child)

    def _assigned(self, statement: ast.stmt) -> bool:
        """Whether a statement only gives a name to what it asks for: then the parameter has that name."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._binds(name) == 1:
                wanted = self._asked(value)
                if isinstance(wanted, Wanted) and wanted not in self.wanted.values() and len(self.node.body) > 1:
                    self.wanted[name] = wanted
                    self.dropped.append(statement)
                    return True
        return False

    def _aliased(self, statement: ast.stmt) -> bool:
        """Whether a statement only gives a name to the task instance, as `ti = kwargs["ti"]`."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._binds(name) == 1:
                if self._name_of(value) in INSTANCES:
                    self.instances.add(name)
                    self.dropped.append(statement)
                    return True
        return False

    def _binds(self, name: str) -> int:
        stored = [each for each in ast.walk(self.node) if isinstance(each, ast.Name) and each.id == name]
        taken = name in self.names and name not in self.context
        return sum(isinstance(each.ctx, ast.Store) for each in stored) + 2 * taken

    def _kept(self, node: ast.Name) -> None:
        """A name of the context that stands for itself."""
        if node.id not in SAYABLE or node.id == self.rest:
            raise UnsayableError(
                f"line {node.lineno} of the function uses {node.id!r}, which only Airflow has",
                "take what it needs as parameters",
            )
        self.wanted[node.id] = Wanted("context", node.id)

    def _replacement(self, node: ast.expr) -> str | None:
        asked = self._asked(node)
        if asked is None:
            return None
        if isinstance(asked, list):
            return f"[{', '.join(self._given(each) for each in asked)}]"
        return self._given(asked)

    def _asked(self, node: ast.expr) -> Wanted | list[Wanted] | None:
        """What an expression asks the context for; None for any other."""
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr="xcom_pull")) if self._name_of(inner) in INSTANCES:
                return self._pulled(node)
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(name))):
                if self._name_of(inner) == "params":
                    return Wanted("param", name)
        member = self._name_of(node)
        if member is None or isinstance(node, ast.Name) or member not in SAYABLE:
            return None
        return Wanted("context", member)

    def _name_of(self, node: ast.expr) -> str | None:
        """Which member of the context an expression is."""
        match node:
            case ast.Name(id=name) if name in self.instances:
                return INSTANCES[0]
            case ast.Name(id=name) if name in self.context:
                return name
            case ast.Subscript(value=ast.Name(id=rest), slice=ast.Constant(value=str(name))) if rest == self.rest:
                return name
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=rest), attr="get"), args=[ast.Constant(value=str(name)), *_]
            ) if rest == self.rest:
                return name
        return None

    def _pulled(self, node: ast.Call) -> Wanted | list[Wanted]:
        given: dict[str, Any] = {}
        names = ("task_ids", "dag_id", "key")
        pairs = [*zip(names, node.args, strict=False), *((each.arg or "", each.value) for each in node.keywords)]
        for name, value in pairs:
            try:
                given[name] = ast.literal_eval(value)
            except ValueError:
                raise self._unclear(node) from None
        tasks, key = given.get("task_ids"), given.get("key", RETURNED)
        if given.keys() - {"task_ids", "key"} or not isinstance(key, str):
            raise self._unclear(node)
        if isinstance(tasks, str):
            return Wanted("result", tasks, key)
        if isinstance(tasks, list) and tasks and all(isinstance(each, str) for each in tasks):
            return [Wanted("result", each, key) for each in tasks]
        raise self._unclear(node)

    def _given(self, wanted: Wanted) -> str:
        known = next((each for each, found in self.wanted.items() if found == wanted), None)
        if known is not None:
            return known
        name = identifier(_name_for(wanted))
        free, number = name, 1
        while free in self.wanted or (free in self.used and free not in self.context):
            number += 1
            free = f"{name}_{number}"
        self.wanted[free] = wanted
        return free

    def _unclear(self, node: ast.Call) -> UnsayableError:
        return UnsayableError(
            f"line {node.lineno} of the function pulls an XCom that isn't named there",
            "take the result of the other task as a parameter",
        )

    # ---- the new source

    def _edited(self) -> str:
        lines = [line.encode() for line in self.text.split("\n")]
        for node, new in sorted(self.edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True):
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            after = lines[last][node.end_col_offset :]
            lines[first : last + 1] = [lines[first][: node.col_offset] + new.encode() + after]
        for statement in sorted(self.dropped, key=lambda each: each.lineno, reverse=True):
            del lines[statement.lineno - 1 : statement.end_lineno or statement.lineno]
        return b"\n".join(lines).decode()

    def _arguments(self) -> ast.arguments:
        """The parameters: without the context's, with those that are wanted, which callers always give."""
        old = self.node.args
        missing = len(old.posonlyargs) + len(old.args) - len(old.defaults)
        places = list(zip([*old.posonlyargs, *old.args], [*([None] * missing), *old.defaults], strict=True))
        kept = [pair for pair in places if pair[0].arg not in self.context]
        new = [(ast.arg(name), None) for name in self.wanted]
        plain = [pair for pair in kept if pair[1] is None]
        optional = [pair for pair in kept if pair[1] is not None]
        ordered = [*plain, *new, *optional]
        only = [pair for pair in zip(old.kwonlyargs, old.kw_defaults, strict=True) if pair[0].arg not in self.context]
        return ast.arguments(
            posonlyargs=[],
            args=[argument for argument, _ in ordered],
            vararg=old.vararg,
            kwonlyargs=[argument for argument, _ in only],
            kw_defaults=[default for _, default in only],
            kwarg=None,
            defaults=[default for _, default in ordered if default is not None],
        )


def _name_for(wanted: Wanted) -> str:
    last = wanted.name.rpartition(".")[2] if wanted.kind == "result" else wanted.name
    return last if wanted.key == RETURNED else f"{last}_{wanted.key}"


def _with_header(text: str, arguments: ast.arguments, node: ast.FunctionDef) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"def {node.name}({ast.unparse(arguments)}){returns}:{text[end_of_header(text) :]}"


def without_annotations(text: str) -> str:
    """A function without the types of its parameters and result."""
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    for argument in (*node.args.args, *node.args.kwonlyargs):
        argument.annotation = None
    node.returns = None
    return _with_header(text, node.args, node)


def end_of_header(text: str) -> int:
    """Where the body of a function begins: behind the colon of its header."""
    depth, starts = 0, [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.string in ("(", "[", "{"):
            depth += 1
        elif token.string in (")", "]", "}"):
            depth -= 1
        elif token.string == ":" and depth == 0 and token.type == tokenize.OP:
            return starts[token.end[0] - 1] + token.end[1]
    raise ValueError("the text is no function")
