"""The local engine as every engine is known: see `couler_py.backends.base.Backend`."""

from __future__ import annotations

from typing import Any

from couler_py.backends.base import Bundle, OptionError, Support
from couler_py.backends.local.client import LocalClient
from couler_py.backends.local.support import support_table
from couler_py.ir.codec import to_json
from couler_py.ir.model import Workflow
from couler_py.ir.names import file_stem


class LocalBackend:
    """Runs the IR itself: what a workflow compiles to is the workflow."""

    name = "local"
    versions: tuple[str, ...] = ()
    suffix = ".json"

    def support(self) -> tuple[Support, ...]:
        """The support table."""
        return support_table()

    def compile(self, workflow: Workflow, *, version: str | None = None, **options: Any) -> Bundle:
        """The IR as JSON. Whether this machine can run it is found out by who runs it. Raises `OptionError`."""
        if options or version is not None:
            unknown = f"option {next(iter(options))!r}" if options else f"version {version!r}"
            raise OptionError(f"local: there is no {unknown}; this engine has one version and compiles without options")
        return Bundle("local", {f"{file_stem(workflow.name)}.json": to_json(workflow)})

    def client(self, **options: Any) -> LocalClient:
        """The runs of this machine; `home` names another folder than `COULER_HOME`."""
        return LocalClient(**options)


BACKEND = LocalBackend()
