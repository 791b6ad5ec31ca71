"""`couler artifacts RUN`: the files that a run left."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from couler_py.backends.base import ClusterClient, NotOffered
from couler_py.cli.console import columns, console, size
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json


@reaching
def command(
    run: RunName,
    names: Annotated[list[str] | None, typer.Argument(metavar="TASK[/NAME]", help="Only these.")] = None,
    download: Annotated[
        str | None, typer.Option("-d", "--download", metavar="FOLDER", help="Fetch them below this folder.")
    ] = None,
    as_json: AsJson = False,
    *,
    reach: Reach,
) -> None:
    """List the files that a run left, or fetch them."""
    client, run = reach.run_of(run)
    if download is not None:
        if not isinstance(client, ClusterClient):
            raise NotOffered("files of a run on this machine are files here: `couler artifacts RUN` says where")
        fetched = client.download(run, download, names or ())
        if as_json:
            print(to_json({name: [str(path) for path in paths] for name, paths in fetched.items()}), end="")
            return
        for paths in fetched.values():
            for path in paths:
                print(f"{path}  {size(Path(path).stat().st_size)}")
        return
    found = dict(client.artifacts(run))
    if names:
        found = {name: key for name, key in found.items() if name in names or name.rpartition("/")[0] in names}
    if as_json:
        print(to_json(found), end="")
    elif found:
        for line in columns(found.items(), header=("ARTIFACT", "PLACE")):
            console().print(line)
    else:
        console(stderr=True).print("no files")
