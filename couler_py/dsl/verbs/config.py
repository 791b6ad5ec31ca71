"""What is said of the workflow itself: `config_workflow` and `config_defaults`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from couler_py.dsl.durations import seconds
from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.problems import fail
from couler_py.dsl.sources import caller
from couler_py.dsl.verbs.state import defaults, state
from couler_py.dsl.workflow_options import WorkflowReader
from couler_py.ir.model import Ttl
from couler_py.ir.names import legal

USER = "couler_job_user"
"""The label that `user_id` becomes (an annotation, where it is no label's value)."""

CRON: dict[str, tuple[str, Any]] = {
    "schedule": ("schedule", None),
    "concurrency_policy": ("concurrency", "Allow"),
    "successful_jobs_history_limit": ("keep_succeeded", 3),
    "failed_jobs_history_limit": ("keep_failed", 1),
    "starting_deadline_seconds": ("starting_deadline", 10),
    "suspend": ("suspended", False),
    "timezone": ("timezone", "UTC"),
}
"""Couler's keys of a cron config: our option, and the default."""


def config_defaults(name_salter: Callable[[str], str] | None = None, service_account: str | None = None) -> None:
    """Say what workflows have that are begun after this, in this context.

    `name_salter` makes a workflow's name of the one given to `config_workflow`; without one, a name stays
    as it is given. `service_account` is whom the pods run as.

    >>> couler.config_defaults(service_account="workflows")  # doctest: +SKIP
    """
    if name_salter is not None and not callable(name_salter):
        fail("CLR181", f"name_salter={name_salter!r} is no function")
    changed = defaults.get()
    if name_salter is not None:
        changed = msgspec.structs.replace(changed, name_salter=name_salter)
    if service_account is not None:
        changed = msgspec.structs.replace(changed, service_account=_account(service_account))
    defaults.set(changed)


def config_workflow(
    name: str | None = None,
    user_id: str | None = None,
    timeout: Any = None,
    time_to_clean: Any = None,
    cluster_config_file: str | None = None,
    cron_config: Mapping[str, Any] | None = None,
    service_account: str | None = None,
    *,
    parallelism: int | None = None,
) -> None:
    """Say what the workflow is called, how long it may take, and when it starts by itself.

    `timeout` bounds the run, `time_to_clean` says how long it stays on the cluster once it has ended, both in
    seconds or as a text such as "2h". `cron_config` is a dict with `schedule` and, where wanted,
    `concurrency_policy` ("Allow"), `successful_jobs_history_limit` (3), `failed_jobs_history_limit` (1),
    `starting_deadline_seconds` (10), `suspend` (False) and `timezone` ("UTC"; Couler's was Asia/Shanghai).
    `user_id` becomes a label. `parallelism` bounds how many steps run at once.

    Raises `RecordingError` for `cluster_config_file`, which ran code, and for what isn't of these forms.

    >>> couler.config_workflow(name="nightly", timeout=3600, cron_config={"schedule": "0 3 * * *"})  # doctest: +SKIP
    """
    if cluster_config_file is not None:
        fail(
            "CLR185",
            "cluster_config_file is not read",
            why="it is a Python file that Couler ran on import, to change the workflow as it liked",
            help="say the same by service_account=, couler.add_toleration, node_selector= and volumes",
        )
    here = state()
    options = here.recorder.options
    if name is not None:
        _name(name)
    if user_id is not None:
        _user(options, str(user_id))
    if timeout is not None:
        options["deadline"] = _seconds("timeout", timeout)
    if time_to_clean is not None:
        options["ttl"] = Ttl(after_completion=math.ceil(_seconds("time_to_clean", time_to_clean)))
    if cron_config is not None:
        options["schedule"] = _schedule(cron_config)
    if service_account is not None:
        here.change(service_account=_account(service_account))
    if parallelism is not None:
        if type(parallelism) is not int or parallelism < 1:
            fail("CLR181", f"parallelism is an int of at least 1, not {parallelism!r}")
        options["parallelism"] = parallelism


def _name(name: Any) -> None:
    if not isinstance(name, str) or not name:
        fail("CLR181", f"the workflow's name is text, not {name!r}")
    salter = defaults.get().name_salter
    salted = name if salter is None else salter(name)
    if not salted or type(salted) is not str:
        fail("CLR181", f"name_salter made {salted!r} of {name!r}, which is no name")
    recorder = state().recorder
    recorder.name = recorder.entry.base = salted


def _user(options: dict[str, Any], user: str) -> None:
    # A label's value: 63 of letters, digits, "-", "_" and "." (Kubernetes).
    place = "labels" if legal("argo", "label", user) else "annotations"
    for each in ("labels", "annotations"):
        kept = tuple(pair for pair in options.get(each, ()) if pair[0] != USER)
        options[each] = (*kept, (USER, user)) if each == place else kept


def _seconds(what: str, value: Any) -> float:
    try:
        return seconds(value)
    except ValueError as problem:
        fail("CLR181", f"{what}: {problem}")


def _schedule(given: Any) -> Any:
    if not isinstance(given, Mapping):
        fail("CLR181", f"cron_config is a dict, not a {type(given).__name__}", help='as {"schedule": "0 3 * * *"}')
    unknown = [key for key in given if key not in CRON]
    if unknown:
        fail("CLR181", f"cron_config has no {unknown[0]!r}", help=f"its keys are {', '.join(CRON)}")
    if not given.get("schedule"):
        fail("CLR181", "cron_config has no schedule", help='as {"schedule": "0 3 * * *"}')
    options = {ours: given.get(theirs, default) for theirs, (ours, default) in CRON.items()}
    options["concurrency"] = str(options["concurrency"]).strip('"')
    options["suspended"] = _boolean(options["suspended"])
    try:
        return WorkflowReader(options, state().recorder.name, caller()).fields()["schedule"]
    except DefinitionError as problem:
        found = problem.diagnostics[0]
        fail("CLR181", f"cron_config: {found.message}", help=found.help)


def _boolean(value: Any) -> bool:
    # Couler's own default is the text "false", which is true in Python.
    found = {"true": True, "false": False, True: True, False: False}.get(value if value is not None else False)
    if found is None:
        fail("CLR181", f"suspend is true or false, not {value!r}")
    return found


def _account(name: Any) -> str:
    if not isinstance(name, str) or not name:
        fail("CLR181", f"the service account {name!r} is not a name")
    return name
