"""What a caller may choose about the DAG file."""

from __future__ import annotations

import datetime
from typing import Any, Literal, TypeAlias

import msgspec

from couler_py import __version__
from couler_py.backends.base import OnUnsupported, OptionError
from couler_py.backends.given import options_from
from couler_py.passes.defaults import mapped_image
from couler_py.settings.model import Settings

Operators: TypeAlias = Literal["kubernetes", "docker", "local"]
VERSIONS = ("3",)
RUNNER_IMAGE = f"couler-runner:{__version__}"
"""The image of `images/runner`, where settings name no other."""


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of `compile(..., to="airflow")`.

    `operators`: what runs the steps. "kubernetes" is a pod for each, "docker" a container of the daemon that the worker
    knows, "local" a process of Airflow's worker.
    `artifacts`: where files and large values are kept, a folder or fsspec URI that every worker can reach. With a
    claim (`claim`: for Docker the name of a volume) it is the path at which that is mounted, in the workers and in what
    has files. Else pods get their files from the URI and leave them there by containers of the image `runner`, which
    get the secret `store_secret` as their environment (AWS_ACCESS_KEY_ID, FSSPEC_S3_ENDPOINT_URL).
    `dag_id`: by default the workflow's name. `namespace`: of the pods; by default the one of
    Airflow's connection to Kubernetes.
    """

    operators: Operators = "kubernetes"
    artifacts: str = "/tmp/couler"  # noqa: S108 - a default that works on one machine; the docs say what to choose
    claim: str = ""
    runner: str = ""
    store_secret: str = ""
    dag_id: str = ""
    namespace: str = ""
    on_unsupported: OnUnsupported = "error"


class Deadline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is told when a run has not ended in time (Airflow's DeadlineAlert).

    `callback` is the dotted path of an async function that Airflow's triggerer can import; it gets `arguments` and
    the run's context. `after` is in seconds, from when the run was queued, or from the instant it is scheduled for.
    """

    after: float
    callback: str
    arguments: dict[str, Any] = {}
    since: Literal["queued", "scheduled"] = "queued"


class Own(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a workflow says about itself on Airflow alone: `engines={"airflow": {...}}`.

    `start_date` is an ISO date. `after` names assets (URIs) after whose change the DAG runs, instead of a schedule;
    `assets` those that a run of it brings up to date. `deadline` says whom to tell of a run that takes too long.
    """

    owner: str = ""
    tags: tuple[str, ...] = ()
    start_date: datetime.date = datetime.date(2024, 1, 1)
    catchup: bool = False
    after: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    deadline: Deadline | None = None


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
    return options_from(given, Options, "airflow")


def chosen(settings: Settings) -> dict[str, Any]:
    """What settings say about options that a caller leaves open."""
    found = {
        "artifacts": settings.artifacts,
        "namespace": settings.namespace,
        "runner": mapped_image(RUNNER_IMAGE, settings.images),
    }
    return {name: value for name, value in found.items() if value}
