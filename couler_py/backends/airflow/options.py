"""What a caller may choose about the DAG file."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from couler_py.backends.base import OnUnsupported, OptionError

Operators: TypeAlias = Literal["kubernetes", "local", "docker"]
VERSIONS = ("3",)


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of `compile(..., to="airflow")`.

    `operators`: what runs the steps. "kubernetes" is a pod for each, "local" a process of Airflow's worker, "docker" a
    container beside the worker. `artifacts`: a folder or fsspec URI that every worker can reach, for files and large
    values. `dag_id`: by default the workflow's name. `namespace`: of the pods.
    """

    operators: Operators = "kubernetes"
    artifacts: str = "/tmp/couler"  # noqa: S108 - a default that works on one machine; the docs say what to choose
    dag_id: str = ""
    namespace: str = "default"
    on_unsupported: OnUnsupported = "error"


def parse(version: str | None, given: dict[str, object]) -> Options:
    """Options from keyword arguments.

    Raises `OptionError` for one that isn't known or a value that it can't have.
    """
    if version is not None and version not in VERSIONS:
        raise OptionError(f"airflow: there is no version {version!r}; there is {' and '.join(VERSIONS)}")
    try:
        return msgspec.convert(given, Options)
    except msgspec.ValidationError as error:
        raise OptionError(f"airflow: {error}; the options are {', '.join(Options.__struct_fields__)}") from None
