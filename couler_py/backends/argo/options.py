"""What a caller may choose about the documents."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from couler_py.backends.argo.vocabulary import Kind as Kind
from couler_py.backends.base import OnUnsupported, OptionError
from couler_py.backends.given import options_from

Version: TypeAlias = Literal["4", "3.5"]
VERSIONS: tuple[Version, ...] = ("4", "3.5")


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of `compile(..., to="argo")`.

    `crds`: "full" for Argo 4's own installations (at most 200 templates, 200 tasks in a graph, 500 inputs),
    "minimal" for those from before 4.0. `kind`: by default CronWorkflow where the workflow has a schedule, else
    Workflow. `generate_name`: let the cluster append letters to the name (Workflow only). `repository`: the kind
    of the cluster's default artifact repository, for the artifacts of a fan-out, which get a key of their own.
    """

    crds: Literal["full", "minimal"] = "full"
    version: Version = "4"
    kind: Kind | None = None
    namespace: str = ""
    name: str = ""
    generate_name: bool = True
    on_unsupported: OnUnsupported = "error"
    repository: Literal["s3", "gcs", "oss", "azure", "hdfs"] = "s3"


def parse(version: str | None, given: dict[str, object]) -> Options:
    """Options from keyword arguments.

    Raises `OptionError` for one that isn't known or a value that it can't have.
    """
    known = {**given}
    if version is not None:
        if version not in VERSIONS:
            raise OptionError(f"argo: there is no version {version!r}; there are {' and '.join(VERSIONS)}")
        known["version"] = version
    return options_from(known, Options, "argo")
