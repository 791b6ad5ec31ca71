"""Python tasks as steps: their source, what they are given, and what they give."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import msgspec

from couler_py.backends.airflow.importing import facts, templating
from couler_py.backends.airflow.importing.facts import marked
from couler_py.backends.airflow.importing.made import Made
from couler_py.backends.airflow.importing.rewriting import Wanted, without_annotations
from couler_py.backends.airflow.importing.sources import Captured
from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.backends.airflow.importing.values import Values
from couler_py.dsl.sources import shown
from couler_py.ir import expr as x
from couler_py.ir.model import Function, Piece
from couler_py.ir.types import STR, accepts
from couler_py.printer import signatures
from couler_py.printer.signatures import Source

IMAGE = "python:3.11"


def python_step(task: facts.Task, values: Values, pulled: bool) -> Made:
    """A function as a step. Raises `UnsayableError` for what can't be one."""
    if task.is_a("_BashDecoratedOperator"):
        raise UnsayableError(
            "a command that a function makes has no counterpart", "run it in the function: subprocess.run(command)"
        )
    captured, given = _captured(task, values)
    return _made(captured, captured.own.text, captured.node.name, task, values, given)


def branching(task: facts.Task, values: Values, pulled: bool) -> Made:
    """A function that says which tasks come next: it gives one name, or else a list of names."""
    captured, given = _captured(task, values)
    node = captured.node
    if names_one(node):
        found = _made(captured, captured.own.text, node.name, task, values, given)
        return msgspec.structs.replace(found, choices=_constants(node))
    text = _wrapper(
        node, "ids", "list", "chosen = {call}\n    return [chosen] if isinstance(chosen, str) else list(chosen or [])"
    )
    return _made(captured, text, f"{node.name}_ids", task, values, given)


def short_circuit(task: facts.Task, values: Values, pulled: bool) -> Made:
    """A function that says whether what follows runs."""
    captured, given = _captured(task, values)
    node = captured.node
    if is_bool(node):
        return _made(captured, captured.own.text, node.name, task, values, given)
    text = _wrapper(node, "holds", "bool", "return bool({call})")
    return _made(captured, text, f"{node.name}_holds", task, values, given)


def names_one(node: ast.FunctionDef) -> bool:
    """Whether a function surely returns one text."""
    if isinstance(node.returns, ast.Name) and node.returns.id == "str":
        return True
    found = _returned(node)
    return bool(found) and all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in found)


def _constants(node: ast.FunctionDef) -> tuple[str, ...]:
    found = _returned(node)
    texts = [each.value for each in found if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return tuple(texts) if len(texts) == len(found) else ()


def is_bool(node: ast.FunctionDef) -> bool:
    """Whether a function surely returns True or False."""
    if isinstance(node.returns, ast.Name) and node.returns.id == "bool":
        return True
    found = _returned(node)
    return bool(found) and all(
        isinstance(each, ast.Compare)
        or (isinstance(each, ast.Constant) and isinstance(each.value, bool))
        or (isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not))
        for each in found
    )


def _returned(node: ast.FunctionDef) -> list[ast.expr]:
    """What a function may return, the branches of `a if x else b` apart. Empty where it may end without."""
    found: list[ast.expr] = []
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(each, ast.Return):
            if each.value is None:
                return []
            found += _branches(each.value)
        waiting += ast.iter_child_nodes(each)
    return found if _surely_returns(node.body) else []


def _surely_returns(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.If):
        return _surely_returns(last.body) and bool(last.orelse) and _surely_returns(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)


def _branches(value: ast.expr) -> list[ast.expr]:
    return [*_branches(value.body), *_branches(value.orelse)] if isinstance(value, ast.IfExp) else [value]


def _wrapper(node: ast.FunctionDef, ending: str, type_: str, body: str) -> str:
    names = [each.arg for each in (*node.args.args, *node.args.kwonlyargs)]
    call = f"{node.name}({', '.join(f'{name}={name}' for name in names)})"
    return f"def {node.name}_{ending}({ast.unparse(node.args)}) -> {type_}:\n    {body.format(call=call)}"


# ---- what it is given


def _captured(task: facts.Task, values: Values) -> tuple[Captured, dict[str, Any]]:
    fact = task.given.get("python_callable")
    if marked(fact) != "function":
        raise UnsayableError("what it calls is no function", "write it as `def` in the file of the DAG")
    assert isinstance(fact, dict)
    keywords = values.mapping(task.given.get("op_kwargs"), "op_kwargs")
    places = values.sequence(task.given.get("op_args"), "op_args")
    captured = Captured(fact, values.modules, task.label)
    names = [each.arg for each in captured.node.args.args]
    if captured.node.args.vararg is not None or len(places) > len(names):
        raise UnsayableError("it takes *args", "take a list")
    given = {**dict(zip(names, places, strict=False)), **keywords}
    captured.without_context(set(given))
    if task.given.get("templates_dict"):
        raise UnsayableError("it uses templates_dict", "pass the values by op_kwargs")
    return captured, given


def _made(captured: Captured, text: str, name: str, task: facts.Task, values: Values, given: Mapping[str, Any]) -> Made:
    own = captured.node.name
    pieces = captured.pieces(text, name) if name == own else _with_own(captured, text, name)
    body = Function(name, pieces, image=_image(task), packages=_packages(task), future=captured.future)
    source = signatures.read(body)
    if source is None:
        plain = msgspec.structs.replace(body, pieces=_plainer(captured, text, name))
        source = signatures.read(plain)
        body = plain
    if source is None:
        raise UnsayableError("its signature has no form here", "give it plain parameters, with plain types or none")
    body = msgspec.structs.replace(body, returns=source.returns)
    arguments = _arguments(source, captured, values, given)
    return Made(
        body, source.inputs, source.outputs, arguments, name=name, description=source.description, about=_about(pieces)
    )


def _with_own(captured: Captured, text: str, name: str) -> tuple[Piece, ...]:
    """The pieces of a wrapper: those of the function that it calls, that function, and itself."""
    inner = captured.pieces(captured.own.text, captured.node.name)
    return (*inner, Piece(text, shown(captured.source.filename), captured.line))


def _plainer(captured: Captured, text: str, name: str) -> tuple[Piece, ...]:
    if name == captured.node.name:
        return captured.pieces(without_annotations(text), name)
    return (
        captured.pieces(without_annotations(captured.own.text), captured.node.name)[:-1]
        + _with_own(captured, text, name)[-2:]
    )


def _arguments(source: Source, captured: Captured, values: Values, given: Mapping[str, Any]) -> dict[str, x.Expr]:
    parameters = {each.name: each for each in source.inputs.parameters}
    found: dict[str, x.Expr] = {}
    for name, parameter in parameters.items():
        if name in captured.own.wanted:
            found[name] = _wanted(captured.own.wanted[name], values)
        elif name in given:
            value = values.expr(given[name])
            if isinstance(value, x.Text) and not accepts(parameter.type, STR):
                value = values.native(given[name]) or value
            found[name] = value
        elif values.whole is not None and parameter.default is msgspec.UNSET:
            found[name] = x.Access(x.Item(), x.Literal(name))
    return found


def _wanted(wanted: Wanted, values: Values) -> x.Expr:
    if wanted.kind == "result":
        return values.result(wanted.name, wanted.key)
    if wanted.kind == "param":
        return values.param(wanted.name)
    if wanted.name == "params":
        names = tuple(values.dag.params)
        return x.Record(names, tuple(values.param(name) for name in names))
    found = templating.context(wanted.name, values)
    assert found is not None
    return found


def _image(task: facts.Task) -> str:
    given = task.given.get("image")
    return given if isinstance(given, str) and not templating.is_template(given) else IMAGE


def _packages(task: facts.Task) -> tuple[str, ...]:
    from packaging.requirements import InvalidRequirement, Requirement

    given = task.given.get("requirements")
    if not given:
        return ()
    if not isinstance(given, list):
        raise UnsayableError("its requirements are in a file", "write them into the DAG as a list")
    try:
        return tuple(sorted({str(Requirement(each)) for each in given}))
    except InvalidRequirement as problem:
        raise UnsayableError(f"a requirement is none: {problem}", "write it as pip reads it") from problem


def _about(pieces: tuple[Piece, ...]) -> tuple[tuple[str, str, str], ...]:
    """Airflow in the source of a step: it needs it where it runs."""
    found: dict[str, None] = {}
    for piece in pieces:
        for node in ast.walk(ast.parse(piece.text)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found |= {name: None for name in names if name.partition(".")[0] == "airflow"}
    if not found:
        return ()
    message = f"its source imports {', '.join(found)}"
    return (("CLR537", message, "use what the hook uses, or give the step an image that has Airflow"),)
