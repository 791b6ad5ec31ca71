"""The text of a DAG file, laid out as `ruff format` does."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from couler_py.backends.airflow.helpers import Helper, wanted
from couler_py.backends.airflow.imports import MARGIN, import_lines, names_of
from couler_py.backends.airflow.source import Assign, DagFile, Definition, Edges, Return, Rows, Statement, Within
from couler_py.printer.layout import WIDTH, Group, columns, statement
from couler_py.printer.literal import quoted, verbatim
from couler_py.runner import runner_text

DATA = ("SPECS", "RUNNER", "INCLUDES")
"""What stands last of all."""
SHARED = """# ruff: noqa: E402
# What follows is couler-py's, and in every file the same: how steps get their inputs and
# leave their outputs. The last line makes the DAG."""
VERSION_CHECK = """if tuple(map(int, airflow_version.split(".")[:2])) < (3, 1):
    raise RuntimeError(f"this DAG needs Airflow 3.1 or later, not {airflow_version}")"""


def written(file: DagFile) -> str:
    """The whole text: the DAG first, then the steps, then what all files share; the last line makes the DAG."""
    core = [_dag(file), *map(_definition, file.definitions), _constants(file)]
    used = names_of("\n\n\n".join(filter(None, core)))
    needs = wanted(file.operators, used)
    parts = [_docstring(file.about), import_lines(file.operators, used | {"dag", "airflow_version"}), VERSION_CHECK]
    parts += [each for each in core if each]
    if needs.helpers:
        parts.append(SHARED)
        parts.append(import_lines(file.operators, needs.imports - used))
        parts += [_helper(each, file) for each in sorted(needs.helpers, key=lambda each: each.name in DATA)]
    parts.append(f"{file.name}()")
    return _spaced([each for each in parts if each]) + "\n"


def _spaced(parts: list[str]) -> str:
    found = parts[0]
    for before, part in itertools.pairwise(parts):
        wide = any(each.startswith(("def ", "class ", "@")) for each in (before, part))
        found += ("\n\n\n" if wide else "\n\n") + part
    return found


def _docstring(text: str) -> str:
    if '"""' in text or "\\" in text or not all(sign == "\n" or sign.isprintable() for sign in text):
        return quoted(text)
    lines = [line.rstrip() for line in text.strip().split("\n")]
    return '"""' + "\n".join(lines) + ('"""' if len(lines) == 1 else '\n"""')


def _helper(helper: Helper, file: DagFile) -> str:
    if helper.name == "RUNNER":
        return f"# Reads the inputs of Python steps, and writes their outputs.\nRUNNER = {verbatim(runner_text())}"
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
    head = statement("@", file.dag, MARGIN)
    body = _lines(file.body, 4) or "    pass"
    return f"{head}\ndef {file.name}():\n{body}"


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
