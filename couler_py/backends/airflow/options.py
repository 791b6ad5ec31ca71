"""What a caller may choose about the DAG file."""

from __future__ import annotations

import datetime
from typing import Literal, TypeAlias

import msgspec

from couler_py.backends.base import OnUnsupported, OptionError

Operators: TypeAlias = Literal["kubernetes", "local"]
VERSIONS = ("3",)


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of `compile(..., to="airflow")`.

    `operators`: what runs the steps. "kubernetes" is a pod for each, "local" a process of Airflow's worker.
    `artifacts`: where files and large values are kept, a folder or fsspec URI that every worker can reach. For pods it
    is the path at which the volume of the claim `claim` is mounted, in the workers and in pods that have files.
    `dag_id`: by default the workflow's name. `namespace`: of the pods.
    """

    operators: Operators = "kubernetes"
    artifacts: str = "/tmp/couler"  # noqa: S108 - a default that works on one machine; the docs say what to choose
    claim: str = ""
    dag_id: str = ""
    namespace: str = "default"
    on_unsupported: OnUnsupported = "error"


class Own(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a workflow says about itself on Airflow alone: `engines={"airflow": {...}}`.

    `start_date` is an ISO date. `after` names assets (URIs) after whose change the DAG runs, instead of a schedule;
    `assets` those that a run of it brings up to date.
    """

    owner: str = ""
    tags: tuple[str, ...] = ()
    start_date: datetime.date = datetime.date(2024, 1, 1)
    catchup: bool = False
    after: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()


def own(given: object) -> Own:
    """The workflow's own options. Raises `OptionError`."""
    try:
        return msgspec.convert(given or {}, Own)
    except msgspec.ValidationError as error:
        raise OptionError(
            f"engines={{'airflow': ...}}: {error}; the options are {', '.join(Own.__struct_fields__)}"
        ) from None


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
