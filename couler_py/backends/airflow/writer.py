"""The text of a DAG file, laid out as `ruff format` does."""

from __future__ import annotations

import ast
import base64
import itertools
import zlib
from collections.abc import Iterable

from couler_py.backends.airflow.helpers import Helper, Wanted, library, wanted
from couler_py.backends.airflow.source import Assign, DagFile, Definition, Edges, Return, Rows, Statement, Within
from couler_py.printer.layout import WIDTH, Group, columns, statement
from couler_py.printer.literal import quoted
from couler_py.runner import runner_text

MARGIN = WIDTH - 88
"""Airflow's users keep the width that ruff has by default."""
DATA = ("RUNNER_CALLS", "RUNNER", "INCLUDES")
"""What a reader need not read: it stands at the end."""
VERSION_CHECK = """if tuple(map(int, airflow_version.split(".")[:2])) < (3, 1):
    raise RuntimeError(f"this DAG needs Airflow 3.1 or later, not {airflow_version}")"""


def written(file: DagFile) -> str:
    """The whole text."""
    core = [_constants(file), *map(_definition, file.definitions), _dag(file)]
    now, later = names_of("\n\n\n".join(filter(None, core)))
    needs = wanted(file.operators, now, later)
    parts = [_docstring(file.about), _imports(file, needs, now | later), VERSION_CHECK]
    parts += [_helper(each, file) for each in needs.early]
    parts += [each for each in core if each]
    if needs.late:
        parts.append("# ---- what the workers use")
        # The runner's text last: it is one long line.
        parts += [_helper(each, file) for each in sorted(needs.late, key=lambda each: each.name in DATA)]
    return _spaced(parts) + "\n"


def _spaced(parts: list[str]) -> str:
    found = parts[0]
    for before, part in itertools.pairwise(parts):
        wide = any(each.startswith(("def ", "class ", "@")) for each in (before.split("\n\n\n")[-1], part))
        found += ("\n\n\n" if wide else "\n\n") + part
    return found


def _docstring(text: str) -> str:
    if '"""' in text or "\\" in text or not all(sign == "\n" or sign.isprintable() for sign in text):
        return quoted(text)
    lines = [line.rstrip() for line in text.strip().split("\n")]
    return '"""' + "\n".join(lines) + ('"""' if len(lines) == 1 else '\n"""')


# ---- what is used


def names_of(source: str) -> tuple[set[str], set[str]]:
    """The names that a text reads at once, and those that it reads in functions without a name."""
    now: set[str] = set()
    later: set[str] = set()
    _visit(ast.parse(source), now, later, False)
    return now, later


def _visit(node: ast.AST, now: set[str], later: set[str], inside: bool) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name):
            (later if inside else now).add(child.id)
        _visit(child, now, later, inside or isinstance(child, ast.Lambda))


def _imports(file: DagFile, needs: Wanted, used: set[str]) -> str:
    known = library(file.operators).imports | EXTRA
    wanted_names = needs.imports | {name for name in used if name in known} | {"DAG", "airflow_version"}
    modules: dict[str, list[str]] = {}
    plain: list[str] = []
    for name in wanted_names:
        module, original = known[name]
        if module:
            modules.setdefault(module, []).append(original if original == name else f"{original} as {name}")
        else:
            plain.append(f"import {original}")
    standard = sorted(plain) + [
        _from(module, names) for module, names in sorted(modules.items()) if not _third_party(module)
    ]
    others = [_from(module, names) for module, names in sorted(modules.items()) if _third_party(module)]
    return "\n".join(standard) + ("\n\n" if standard and others else "") + "\n".join(others)


EXTRA: dict[str, tuple[str, str]] = {
    "DAG": ("airflow.sdk", "DAG"),
    "Asset": ("airflow.sdk", "Asset"),
    "Param": ("airflow.sdk", "Param"),
    "CronTriggerTimetable": ("airflow.sdk", "CronTriggerTimetable"),
    "MultipleCronTriggerTimetable": ("airflow.sdk", "MultipleCronTriggerTimetable"),
    "airflow_version": ("airflow", "__version__"),
    "UTC": ("datetime", "UTC"),
    "datetime": ("datetime", "datetime"),
    "timedelta": ("datetime", "timedelta"),
    "ZoneInfo": ("zoneinfo", "ZoneInfo"),
    "EmptyOperator": ("airflow.providers.standard.operators.empty", "EmptyOperator"),
    "TaskGroup": ("airflow.sdk", "TaskGroup"),
    "TriggerRule": ("airflow.sdk", "TriggerRule"),
    "json": ("", "json"),
}


def _third_party(module: str) -> bool:
    return module.partition(".")[0] in ("airflow", "fsspec", "kubernetes", "docker")


def _order(name: str) -> tuple[int, str]:
    plain = name.partition(" ")[0]
    return (0 if plain.isupper() else 1 if plain[0].isupper() else 2, plain)


def _from(module: str, names: Iterable[str]) -> str:
    listed = sorted(names, key=_order)
    line = f"from {module} import {', '.join(listed)}"
    if columns(line) <= WIDTH - MARGIN:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in listed) + ")"


def _helper(helper: Helper, file: DagFile) -> str:
    if helper.name == "RUNNER":
        data = base64.b85encode(zlib.compress(runner_text().encode(), 9)).decode()
        return f"# Reads the inputs of Python steps and writes their outputs.\nRUNNER = {quoted(data)}"
    setting = file.settings.get(helper.name)
    return helper.text if setting is None else statement(f"{helper.name} = ", setting, MARGIN)


# ---- what it does


def _constants(file: DagFile) -> str:
    return "\n".join(_line(each, 0) for each in file.constants)


def _definition(made: Definition) -> str:
    about = [f"    {_docstring(made.about)}"] if made.about else []
    head = f"def {made.name}({', '.join(made.parameters)}):"
    return "\n".join([head, *about, _lines(made.body, 4)])


def _dag(file: DagFile) -> str:
    margin = MARGIN + 1
    head = statement("with ", file.dag, margin) + ":"
    body = _lines(file.body, 4) or "    pass"
    return f"{head}\n{body}"


def _lines(body: Iterable[Statement], indent: int) -> str:
    """The statements; tasks that wait for the same one are named together."""
    merged: list[Statement | tuple[str, list[str]]] = []
    for each in body:
        last = merged[-1] if merged else None
        if isinstance(each, Edges) and len(each.before) == 1:
            if isinstance(last, tuple) and last[0] == each.before[0]:
                last[1].append(each.after)
            else:
                merged.append((each.before[0], [each.after]))
        else:
            merged.append(each)
    return "\n".join(
        _fan(each[0], each[1], indent) if isinstance(each, tuple) else _line(each, indent) for each in merged
    )


def _fan(before: str, after: list[str], indent: int) -> str:
    if len(after) == 1:
        return f"{' ' * indent}{before} >> {after[0]}"
    made = statement(f"{before} >> ", Group("[", tuple(after), "]"), MARGIN + indent)
    return _padded(made, " " * indent)


def _line(made: Statement, indent: int) -> str:
    pad = " " * indent
    match made:
        case Assign(name=name, value=value):
            before = f"{name} = " if name else ""
            return _padded(statement(before, value, MARGIN + indent), pad)
        case Return(value=value):
            return _padded(statement("return ", value, MARGIN + indent), pad)
        case Within(group_id=group_id, body=body):
            inner = _lines(body, indent + 4)
            return f"{pad}with TaskGroup({quoted(group_id)}):\n{inner}"
        case Edges(before=before, after=after):
            return _edges(before, after, indent)
        case Rows():
            return _rows(made, indent)


def _padded(text: str, pad: str) -> str:
    if not pad:
        return text
    # A line inside a literal of several lines must stay as it is; there are none in what is indented.
    return "\n".join(pad + line if line else line for line in text.split("\n"))


def _edges(before: tuple[str, ...], after: str, indent: int) -> str:
    pad = " " * indent
    one = before[0] if len(before) == 1 else f"[{', '.join(before)}]"
    line = f"{pad}{one} >> {after}"
    if columns(line) <= WIDTH - MARGIN or len(before) == 1:
        return line
    made = statement("", Group("[", tuple(before), "]"), MARGIN + indent + 4 + columns(after))
    return _padded(made, pad) + f" >> {after}"


def _rows(made: Rows, indent: int) -> str:
    pad = " " * indent
    head = f"for {', '.join(made.columns)} in "
    table = _padded(statement(head, made.table, MARGIN + indent + 1), pad)
    return f"{table}:\n" + _lines(made.body, indent + 4)
