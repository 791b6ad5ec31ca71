"""The program of a Python step, as text that needs nothing of ours where it runs.

Two texts make a step: `runner_text()`, the same for every step, and `source(template)`, a line that
starts the runner and below it the user's function as it was written. Every engine hands the first
over in the environment variable `COULER_RUNNER` and gives the second to Python as a script.
"""

from __future__ import annotations

import ast
import base64
import functools
import re
from collections.abc import Iterable
from importlib import resources
from typing import Any

from couler_py.ir import to_builtins, wire
from couler_py.ir.model import Function, Link, Template

FILES = (
    ("couler_py.ir", "wire.py"),
    ("couler_py.ir", "evaluate.py"),
    ("couler_py.ir", "scalars.py"),
    ("couler_py.runner", "values.py"),
    ("couler_py.runner", "step.py"),
)
START = "exec(__import__('os').environ.pop('COULER_RUNNER'))"
_OURS = re.compile(r"^from (__future__|couler_py\S*) import .*\n", re.MULTILINE)


@functools.cache
def runner_text() -> str:
    """The runner: ASCII, without double braces and without dollar signs, so that it travels everywhere unchanged."""
    begin = "# The runner of a couler step: values in, the function below the line that started this, values out."
    end = "wire = evaluator = types.SimpleNamespace(**globals())\nsys.exit(main(SPEC))\n"
    first, text = joined(FILES).split("\n", 1)
    return f"{first}\n{begin}\n{text}{end}"


def joined(files: Iterable[tuple[str, str]]) -> str:
    """Files (package, name) as one program: each stands behind those whose names it imports, without their prose."""
    parts = ["from __future__ import annotations"]
    for package, name in files:
        text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
        parts.append(_OURS.sub("", _without_prose(text)).strip("\n"))
    return "\n".join([*parts, ""])


def _without_prose(text: str) -> str:
    # Line by line, not by unparsing, so that every version of Python makes the same text.
    dropped: dict[int, str] = {}
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            assert first.end_lineno is not None
            for line in range(first.lineno, first.end_lineno + 1):
                dropped[line] = ""
            if len(node.body) == 1:
                dropped[first.lineno] = " " * first.col_offset + "pass"
    kept = [dropped.get(number, line) for number, line in enumerate(text.split("\n"), 1)]
    return "\n".join(line for line in kept if line.strip() and not line.lstrip().startswith("#"))


def source(template: Template, *, readable: bool = True) -> str:
    """The script of a step: a line that starts the runner, then the user's source as it was written.

    With `readable=False`, or where the source holds double braces, which Argo would evaluate, the source
    travels in base64 inside the first line. Raises `TypeError` for a template that isn't a `Function`.
    """
    spec, text = parts(template, readable=readable)
    first = f"SPEC = __import__('json').loads({wire.to_json(spec)!r}); {START}"
    return f"{first}\n{text}"


def parts(template: Template, *, readable: bool = True) -> tuple[dict[str, Any], str]:
    """What the first line of `source` says to the runner, and the text below that line.

    Raises `TypeError` for a template that isn't a `Function`.
    """
    body = template.body
    if not isinstance(body, Function):
        raise TypeError(f"{template.name} is not a Python step")
    hidden = not readable or any(wire.OPEN in piece.text for piece in body.pieces)
    lines: list[str] = []
    pieces: list[dict[str, Any]] = []
    for piece in body.pieces:
        place: dict[str, Any] = {"file": piece.file or "<step>", "line": piece.line}
        if hidden:
            place["text"] = base64.b64encode(piece.text.encode()).decode()
        else:
            text = piece.text.split("\n")
            lines += ["", f"# {_one_line(piece.file) or 'step'}, line {piece.line}"]
            place |= {"start": len(lines) + 1, "count": len(text)}
            lines += text
        pieces.append(place)
    return specification(template) | {"pieces": pieces}, "".join(f"{line}\n" for line in lines)


def specification(template: Template) -> dict[str, Any]:
    """What the runner must know of a step beside its source, as plain JSON data."""
    body = template.body
    assert isinstance(body, Function)
    inputs: list[dict[str, Any]] = [
        {"name": parameter.name, "type": to_builtins(parameter.type)} for parameter in template.inputs.parameters
    ]
    for artifact in template.inputs.artifacts:
        inputs.append({"name": artifact.name, "artifact": True} | ({"optional": True} if artifact.optional else {}))
    outputs: list[dict[str, Any]] = []
    decisions: list[dict[str, Any]] = []
    for output in template.outputs.parameters:
        entry = {"name": output.name, "type": to_builtins(output.type)}
        if output.value is None:
            outputs.append(entry)
        else:
            decisions.append(entry | {"expr": to_builtins(output.value)})
    for left in template.outputs.artifacts:
        outputs.append({"name": left.name, "artifact": True} | ({"optional": True} if left.optional else {}))
    more: dict[str, Any] = {"links": [_link(each) for each in body.links]} if body.links else {}
    if body.over:
        more["over"] = list(body.over)
    return more | {
        "function": body.name,
        "returns": body.returns,
        "future": list(body.future),
        "packages": list(body.packages),
        "inputs": inputs,
        "outputs": outputs,
        "decisions": decisions,
    }


def _link(link: Link) -> dict[str, Any]:
    inputs = []
    for each in link.inputs:
        entry: dict[str, Any] = {"name": each.name, "type": to_builtins(each.type)}
        inputs.append(entry | ({"from": each.output} if each.output else {"as": each.parameter}))
    outputs = [{"name": each.name, "type": to_builtins(each.type)} for each in link.outputs]
    return {
        "task": link.task,
        "function": link.function,
        "returns": link.returns,
        "inputs": inputs,
        "outputs": outputs,
    }


def _one_line(text: str) -> str:
    return " ".join(text.split())
