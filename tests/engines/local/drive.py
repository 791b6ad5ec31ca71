"""A program that runs, or goes on with, a workflow, and says on standard output what happens, a line an event.

drive.py run HOME WORKFLOW.json | drive.py resume HOME RUN | drive.py retry HOME RUN
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from couler_py.backends.local.client import status_of
from couler_py.backends.local.journal import Event
from couler_py.backends.local.lifecycle import prepare, run_to_end
from couler_py.backends.local.runs.taking_up import prepare_again
from couler_py.ir import from_json


def tell(event: Event) -> None:
    line: dict[str, Any] = {"kind": event.kind, "path": event.path}
    if event.task is not None:
        line["state"] = event.task.state
    print(json.dumps(line | event.data), flush=True)


def main() -> None:
    verb, home, what = sys.argv[1:]
    if verb == "run":
        runtime: Any = os.environ.get("TEST_ENGINE_RUNTIME", "process")
        prepared = prepare(from_json(Path(what).read_text()), home=home, observers=[tell], runtime=runtime)
    else:
        prepared = prepare_again(what, home=home, observers=[tell], failed_too=verb == "retry")
    print(json.dumps({"kind": "id", "path": prepared.run.id}), flush=True)
    print(json.dumps({"kind": "end", **status_of(run_to_end(prepared), None).as_json()}), flush=True)


if __name__ == "__main__":
    main()
