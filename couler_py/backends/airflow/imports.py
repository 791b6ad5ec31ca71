"""The import lines of a DAG file: what its own part uses stands at the top, the rest with what all files share."""

from __future__ import annotations

import symtable
from collections.abc import Iterable

from couler_py.backends.airflow.helpers import library
from couler_py.printer.layout import WIDTH, columns

MARGIN = WIDTH - 88
"""Airflow's users keep the width that ruff has by default."""
OWN: dict[str, tuple[str, str]] = {
    "dag": ("airflow.sdk", "dag"),
    "Asset": ("airflow.sdk", "Asset"),
    "AsyncCallback": ("airflow.sdk.definitions.deadline", "AsyncCallback"),
    "DeadlineAlert": ("airflow.sdk.definitions.deadline", "DeadlineAlert"),
    "DeadlineReference": ("airflow.sdk.definitions.deadline", "DeadlineReference"),
    "Param": ("airflow.sdk", "Param"),
    "CronTriggerTimetable": ("airflow.sdk", "CronTriggerTimetable"),
    "MultipleCronTriggerTimetable": ("airflow.sdk", "MultipleCronTriggerTimetable"),
    "airflow_version": ("airflow", "__version__"),
    "UTC": ("datetime", "UTC"),
    "datetime": ("datetime", "datetime"),
    "timedelta": ("datetime", "timedelta"),
    "ZoneInfo": ("zoneinfo", "ZoneInfo"),
    "DockerOperator": ("airflow.providers.docker.operators.docker", "DockerOperator"),
    "KubernetesPodOperator": ("airflow.providers.cncf.kubernetes.operators.pod", "KubernetesPodOperator"),
    "EmptyOperator": ("airflow.providers.standard.operators.empty", "EmptyOperator"),
    "TaskGroup": ("airflow.sdk", "TaskGroup"),
    "TriggerRule": ("airflow.sdk", "TriggerRule"),
    "json": ("", "json"),
}
"""By the name that it binds, the module and the name there of what a file's own part may use."""


def names_of(source: str) -> frozenset[str]:
    """The names that a text reads."""
    scopes = [symtable.symtable(source, "dag", "exec")]
    for scope in scopes:
        scopes.extend(scope.get_children())
    return frozenset(each.get_name() for scope in scopes for each in scope.get_symbols() if each.is_referenced())


def import_lines(operators: str, names: Iterable[str]) -> str:
    """The lines that import those of the names that are imported, in two paragraphs: the standard library first."""
    known = library(operators).imports | OWN
    modules: dict[str, list[str]] = {}
    plain: list[str] = []
    for name in names:
        if name not in known:
            continue
        module, original = known[name]
        if module:
            modules.setdefault(module, []).append(original if original == name else f"{original} as {name}")
        else:
            plain.append(f"import {original}")
    standard = sorted(plain) + [
        _from(module, names) for module, names in sorted(modules.items()) if not _third_party(module)
    ]
    others = [_from(module, names) for module, names in sorted(modules.items()) if _third_party(module)]
    return "\n\n".join("\n".join(each) for each in (standard, others) if each)


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
