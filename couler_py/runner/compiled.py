"""The script of a step as code, so that many processes that run it need not compile it again."""

from __future__ import annotations
import __future__

import importlib.util
import json
import marshal
import sys
import warnings
from types import CodeType

from couler_py.ir import wire
from couler_py.ir.model import Function, Template
from couler_py.runner import START, parts, runner_text, source

STARTED = "exec(globals().pop('START')"


def compiled_runner() -> bytes:
    """The runner's definitions, all of it but its last line: the magic number of their code, then that by `marshal`."""
    if sys.flags.optimize:
        return b""
    definitions = runner_text().rstrip("\n").rpartition("\n")[0]
    return importlib.util.MAGIC_NUMBER + marshal.dumps(compile(definitions, "<string>", "exec", dont_inherit=True))


def compiled(template: Template, path: str) -> bytes:
    """What the script of a step, as the file at `path`, is to an interpreter of this one's kind.

    The magic number of its code, then, by `marshal`: the first line, which runs `START` instead of the runner's text
    and stands in tracebacks as the one in the file does; what it says of the step; and the pieces of the user's source.
    Nothing where a piece can't be compiled, or something is to be said about it: the step itself says it.
    """
    body = template.body
    assert isinstance(body, Function)
    if sys.flags.optimize:
        return b""
    flags = 0
    for feature in body.future:
        flags |= getattr(__future__, feature).compiler_flag
    first = source(template).partition("\n")[0].removesuffix(START)
    line = f"{'0'.ljust(len(first.encode()) - 2)}; {STARTED.ljust(len(START) - 1)})"
    spec = json.loads(wire.to_json(parts(template)[0]))
    pieces: list[CodeType] = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            for piece in body.pieces:
                text = "\n" * (piece.line - 1) + piece.text + "\n"
                pieces.append(compile(text, piece.file or "<step>", "exec", flags=flags, dont_inherit=True))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return b""
    if said:
        return b""
    return importlib.util.MAGIC_NUMBER + marshal.dumps((compile(line, path, "exec", dont_inherit=True), spec, pieces))
