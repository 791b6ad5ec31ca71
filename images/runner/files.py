"""Moves files between a pod and a store: the program of the image `runner`.

    files.py bring TRANSFERS          before a step: each place to its path
    files.py keep MARK TRANSFERS      beside it: once the mark is there, each path that exists to its place

TRANSFERS is a JSON list of objects with `place`, `path` and `env`. A place is a URI of fsspec, or an object with the
URI as `@uri` and options of its driver as `@options`; `env` names the environment variables that have further options
(keys of the store). What else a driver needs it finds in the environment, as AWS_ACCESS_KEY_ID or
FSSPEC_S3_ENDPOINT_URL.

Exit codes: 0 all is where it belongs; 1 something could not be moved, and the log says what.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import fsspec

WAIT = 0.2
"""Seconds between two looks for the mark."""


def store_of(transfer: dict[str, Any]) -> tuple[Any, str]:
    """The store of a transfer, and the path there."""
    place = transfer["place"]
    uri, options = (place, {}) if isinstance(place, str) else (place["@uri"], dict(place.get("@options", {})))
    options |= {name: os.environ[variable] for name, variable in transfer.get("env", {}).items()}
    store, path = fsspec.core.url_to_fs(uri, **options)
    return store, path


def bring(transfer: dict[str, Any]) -> None:
    """Get one file or folder."""
    store, path = store_of(transfer)
    here = Path(transfer["path"])
    here.parent.mkdir(parents=True, exist_ok=True)
    store.get(path, str(here), recursive=store.isdir(path))


def keep(transfer: dict[str, Any]) -> None:
    """Put one file or folder, unless the step left none."""
    here = Path(transfer["path"])
    if not here.exists():
        return
    store, path = store_of(transfer)
    store.makedirs(store._parent(path), exist_ok=True)
    store.put(str(here), path, recursive=here.is_dir())


def main(words: list[str]) -> int:
    """Do what the words say."""
    verb, *marks, transfers = words
    for mark in marks:
        while not Path(mark).exists():
            time.sleep(WAIT)
    move = {"bring": bring, "keep": keep}[verb]
    for transfer in json.loads(transfers):
        place = transfer["place"]
        uri = place if isinstance(place, str) else place["@uri"]
        sys.stdout.write(f"{verb} {transfer['path']} {uri.partition('?')[0][:200]}\n")
        move(transfer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
