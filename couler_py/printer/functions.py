"""Python steps as decorated functions, with what they need around them, each thing once in the module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

import msgspec

from couler_py.ir.model import Function, Outputs, Template
from couler_py.printer import options
from couler_py.printer.layout import Doc, Group, broken, items
from couler_py.printer.literal import block, literal, quoted
from couler_py.printer.names import RESERVED, Names, identifier
from couler_py.printer.options import UnsayableError
from couler_py.printer.pieces import Parsed, constant
from couler_py.printer.signatures import Source, read
from couler_py.printer.structs import construct

COULER = "import couler_py as couler"


class Step(msgspec.Struct, frozen=True, eq=False):
    """A Python step that can be printed as a function: its source, its options, and whether it is nested in another.

    `around` are the pieces that belong to it alone; `variable` is the step's name in the module.
    """

    template: Template
    source: Source
    options: dict[str, Doc]
    variable: str
    nested: bool
    around: tuple[Parsed, ...]


class Module:
    """What a module binds at its top: imports, constants, classes, helpers, and the steps among its functions."""

    def __init__(self) -> None:
        self.names = Names({"couler", "ir"})
        self.bound: dict[str, str] = {"couler": COULER, "ir": "from couler_py import ir"}
        self.imports: dict[str, None] = {COULER: None}
        self.constants: dict[str, str] = {}
        self.future: tuple[str, ...] | None = None
        self._written: set[str] = set()
        self._steps: set[str] = set()

    def imported(self, name: str, module: str) -> str:
        """The name under which the module has something of the standard library, imported where it isn't yet."""
        text = f"from {module} import {name}"
        for bound, known in self.bound.items():
            if known == text or known == f"{text} as {bound}":
                return bound
        free = name if name not in self.names and name not in self.bound else self.names.free(f"{name}_")
        self.names.take(free)
        self.bound[free] = text if free == name else f"{text} as {free}"
        self.imports[self.bound[free]] = None
        return free

    def step(self, template: Template, include: dict[str, tuple[str, ...]], volumes: frozenset[str]) -> Step | None:
        """Give a Python step its place in the module; None where the DSL would not make the same of its source."""
        body = template.body
        assert isinstance(body, Function)
        source = read(body)
        if source is None or not _says(source, template) or self.future not in (None, body.future):
            return None
        try:
            given = _options(template, source, include, volumes)
        except UnsayableError:
            return None
        outside, inside = self._conflicts(source)
        if any(piece.kind in ("import", "alias") for piece in inside) or _binds_couler(source):
            return None
        self.future = body.future
        nested = bool(inside)
        for piece in outside:
            self._bind(piece)
        if not nested:
            self._bind(source.own)
        variable = self.names.free(template.name) if nested else source.own.name
        if nested:
            self.bound[variable] = ""
        around = tuple(inside)
        return Step(template, source, given, variable, nested, around)

    def text_of(self, step: Step) -> list[str]:
        """The statements that define a step, those before it that it needs first."""
        before = [piece for piece in step.source.needed.values() if piece.kind in ("class", "function", "alias")]
        found = []
        for piece in before:
            if piece in step.around or piece.name in self._written or piece.name in self._steps:
                continue
            self._written.add(piece.name)
            found.append(piece.text)
        found.append(_nested(step) if step.nested else _decorated(step))
        return found

    def steps(self, names: Iterable[str]) -> None:
        """Say which functions of the module are steps: nobody else writes them."""
        self._steps = set(names)

    def hoist(self, name: str, text: str) -> Doc:
        """A text of several lines as a constant of the module; any other as it is."""
        shown = block(text)
        if shown is None:
            return quoted(text)
        known = next((constant for constant, value in self.constants.items() if value == shown), None)
        if known is not None:
            return known
        found = self.names.free(identifier(name).upper())
        self.constants[found] = shown
        self.bound[found] = shown
        return found

    def _conflicts(self, source: Source) -> tuple[list[Parsed], list[Parsed]]:
        """The pieces that the module can bind, and those for which another thing of the name is there already.

        What needs a piece of the second kind is one too.
        """
        pieces = [*source.needed.values(), source.own]
        inside = {piece.name for piece in pieces if self._taken(piece)}
        if any(piece.kind != "import" and piece.name in RESERVED for piece in pieces):
            inside |= {piece.name for piece in pieces if piece.kind != "import" and piece.name in RESERVED}
        changed = bool(inside)
        while changed:
            changed = False
            for piece in pieces:
                if piece.name not in inside and piece.kind != "import" and _uses(piece, inside):
                    inside.add(piece.name)
                    changed = True
        if inside:
            inside.add(source.own.name)
        needed = source.needed.values()
        return [p for p in needed if p.name not in inside], [p for p in pieces if p.name in inside]

    def _taken(self, piece: Parsed) -> bool:
        known = self.bound.get(piece.name)
        return known is not None and known != piece.text

    def _bind(self, piece: Parsed) -> None:
        self.names.take(piece.name)
        self.bound[piece.name] = piece.text
        if piece.kind == "import":
            self.imports[piece.text] = None
        elif piece.kind == "constant" and piece.name not in self.constants:
            value = constant(piece)
            shown = block(value) if isinstance(value, str) else None
            self.constants[piece.name] = shown or broken(_literal(value), 0, len(piece.name) + 3)


def _literal(value: object) -> Doc:
    try:
        return literal(value)
    except TypeError:
        return repr(value)  # bytes, a set: what a literal of Python's can be besides


def _uses(piece: Parsed, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(piece.node))


def _binds_couler(source: Source) -> bool:
    piece = source.needed.get("couler")
    return source.own.name in ("couler", "ir") or (piece is not None and piece.text != COULER) or "ir" in source.needed


def _says(source: Source, template: Template) -> bool:
    body = template.body
    assert isinstance(body, Function)
    return (
        source.inputs == template.inputs
        and source.outputs == unpublished(template).outputs
        and source.returns == body.returns
        and not template.display
        and not template.daemon
    )


def unpublished(template: Template) -> Template:
    """The template without the names that its outputs have in the run: those are given where it is called."""
    return msgspec.structs.replace(
        template,
        outputs=Outputs(
            tuple(msgspec.structs.replace(output, global_name="") for output in template.outputs.parameters),
            tuple(msgspec.structs.replace(output, global_name="") for output in template.outputs.artifacts),
        ),
    )


def published(template: Template) -> list[tuple[str, str]]:
    """The outputs that have a name in the run: the output's name, and that one."""
    outputs = template.outputs
    given = [(output.name, output.global_name) for output in outputs.parameters]
    given += [(output.name, output.global_name) for output in outputs.artifacts]
    return [pair for pair in given if pair[1]]


def _options(
    template: Template, source: Source, include: dict[str, tuple[str, ...]], volumes: frozenset[str]
) -> dict[str, Doc]:
    body = template.body
    assert isinstance(body, Function)
    found: dict[str, Doc] = {}
    if template.name != source.own.name:
        found["name"] = quoted(template.name)
    if body.image != "python:3.11":
        found["image"] = construct(body.image)
    if not body.image:
        raise UnsayableError("a step without an image")
    if body.command != ("python",):
        found["command"] = items(map(quoted, body.command))
    if body.packages:
        found["packages"] = items(map(quoted, body.packages))
    if body.include:
        if any(digest not in include for digest in body.include):
            raise UnsayableError("files that the workflow doesn't name")
        found["include"] = items(quoted(path) for digest in body.include for path in include[digest])
    found |= options.of_template(template, volumes)
    if template.description != source.description:
        found["description"] = quoted(template.description)
        if not template.description:
            raise UnsayableError("a docstring that is no description")
    return found


def _decorated(step: Step) -> str:
    return f"{_decorator(step)}\n{step.source.own.text}"


def _decorator(step: Step) -> str:
    if not step.options:
        return "@couler.step"
    given = tuple(options.arguments(step.options))
    return "@" + broken(Group("couler.step(", given, ")", call=True), 0, 1)


def _nested(step: Step) -> str:
    """A step inside a function of its own, where names may mean other things than in the rest of the module."""
    maker = f"_make_{step.variable}"
    inner = [_shifted(piece.text) for piece in step.around if piece.name != step.source.own.name]
    inner.append(_shifted(_decorated(step)))
    inner.append(f"    return {step.source.own.name}")
    return f"def {maker}():\n" + "\n\n".join(inner) + f"\n\n\n{step.variable} = {maker}()"


def _shifted(text: str) -> str:
    """The text four columns to the right, but for what stands inside of its strings."""
    inside = {
        number
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for number in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }
    lines = text.split("\n")
    return "\n".join(
        line if number in inside or not line.strip() else "    " + line for number, line in enumerate(lines, 1)
    )


def import_lines(texts: Iterable[str]) -> list[list[str]]:
    """Import statements as isort orders them: one list a section, names of one module together."""
    plain: dict[bool, set[str]] = {True: set(), False: set()}
    members: dict[bool, dict[str, set[str]]] = {True: {}, False: {}}
    for text in texts:
        node = ast.parse(text).body[0]
        if isinstance(node, ast.ImportFrom):
            assert node.module is not None
            own = members[node.module.partition(".")[0] in sys.stdlib_module_names]
            own.setdefault(node.module, set()).update(_alias(alias) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                plain[alias.name.partition(".")[0] in sys.stdlib_module_names].add(_alias(alias))
    sections = []
    for standard in (True, False):
        lines = [f"import {name}" for name in sorted(plain[standard], key=str.lower)]
        for module in sorted(members[standard], key=str.lower):
            lines.append(_from(module, members[standard][module]))
        if lines:
            sections.append(lines)
    return sections


def _from(module: str, names: set[str]) -> str:
    found = sorted(names, key=lambda name: (_rank(name), name.lower(), name))
    text = f"from {module} import {', '.join(found)}"
    if len(text) <= 120:
        return text
    rows = "".join(f"    {name},\n" for name in found)
    return f"from {module} import (\n{rows})"


def _rank(name: str) -> int:
    return 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
