"""What the pods of a run print: of one after the other, or of all while the run goes on."""

from __future__ import annotations

import functools
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator

import msgspec

from couler_py.backends.argo.client.door import Door, Entry, LogOptions
from couler_py.backends.argo.client.naming import pods
from couler_py.backends.argo.client.watching import changes
from couler_py.backends.argo.status import run_phase, tasks
from couler_py.backends.base import FINISHED, LogLine, OptionError, RunNotFoundError
from couler_py.backends.interrupts import awaited
from couler_py.backends.rest.failures import (
    ApiError,
    BrokenError,
    BusyError,
    CutOffError,
    MissingError,
    NoAnswerError,
    RefusedError,
)
from couler_py.backends.rest.request import JSON

PASSING = (NoAnswerError, CutOffError, BrokenError, BusyError)
STARTED = frozenset({"Running", "Succeeded", "Failed", "Error"})
OF_ARGO = 50
"""So many of the last lines of a pod may be Argo's own: it says what it saves."""
ARGOS = frozenset({"wait", "init"})
"""The containers of Argo's own in a pod: of them its lines are what is wanted."""

NOT_YET = ("is waiting to start", "PodInitializing", "ContainerCreating")


class Pod(msgspec.Struct, frozen=True):
    """A pod whose lines are wanted. `kept` is whether Argo keeps what it printed as the artifact `main-logs`."""

    path: str
    attempt: int
    name: str
    running: bool
    kept: bool


def chosen(workflow: JSON, task: str | None) -> list[Pod]:
    """The pods of a run that have begun, of one task and what is inside it, or of all, in the order of their tasks."""
    found = []
    for path, attempt, name, node in pods(workflow):
        if task is not None and path != task and not path.startswith((f"{task}/", f"{task}[", f"{task}#")):
            continue
        if node.get("phase") in STARTED:
            kept = any(each["name"] == "main-logs" for each in node.get("outputs", {}).get("artifacts") or [])
            found.append(Pod(path, attempt, name, node["phase"] == "Running", kept))
    return found


def check_task(workflow: JSON, run: str, task: str | None) -> None:
    """Raise `RunNotFoundError` for a task that the run doesn't have."""
    if task is None:
        return
    known = {each.name for each in tasks(workflow)}
    if task not in known and not any(name.startswith((f"{task}/", f"{task}[", f"{task}#")) for name in known):
        raise RunNotFoundError(f"the run {run} has no task {task!r}; it has {', '.join(sorted(known)) or 'none yet'}")


def lines(door: Door, namespace: str, name: str, task: str | None, options: LogOptions) -> Iterator[LogLine]:
    """The lines of a run, of the task where one is named, until now or (`follow`) until the run has ended.

    Raises `RunNotFoundError` at the end, after all that could be read, where pods are gone, and `OptionError` where no
    pod has the container.
    """
    missing: list[Pod] = []
    if options.follow:
        yield from _followed(door, namespace, name, task, options, missing)
    else:
        workflow = door.get("Workflow", namespace, name)
        check_task(workflow, f"argo:{namespace}/{name}", task)
        wrong: list[ApiError] = []
        found = chosen(workflow, task)
        for pod in found:
            try:
                yield from _last(_of_pod(door, namespace, name, pod, _asked(options)), options.tail)
            except MissingError:
                missing.append(pod)
            except RefusedError as error:
                if any(words in error.said for words in NOT_YET):
                    continue
                wrong.append(error)
        if wrong and len(wrong) == len(found):
            raise OptionError(f"argo: there is no container {options.container!r} to read: {wrong[0].said}")
    if missing:
        raise RunNotFoundError(_gone(f"argo:{namespace}/{name}", missing))


def _gone(run: str, missing: Iterable[Pod]) -> str:
    names = ", ".join(dict.fromkeys(pod.path for pod in missing))
    kept = any(pod.kept for pod in missing)
    out = (
        f"; it is kept as the artifact main-logs: `couler artifacts {run} --download FOLDER`"
        if kept
        else "; `archiveLogs: true` keeps it"
    )
    return f"the pods of {names} are gone, and what they printed with them{out}"


def _of_pod(door: Door, namespace: str, name: str, pod: Pod, options: LogOptions) -> Iterator[LogLine]:
    """The lines of one pod; where the answer breaks off, it is asked again and goes on behind the last line.

    Of lines that are followed, an answer may also end early without a word (a proxy that gives up on silence), so its
    end is believed only once the run says that the pod isn't running.
    """
    last, same, failed = "", 0, 0
    doubted: Entry | None = None
    while True:
        behind, skip, half = last, same, None
        try:
            # Behind the first line, `tail` would leave out what was written meanwhile.
            wanted = options if not last else msgspec.structs.replace(options, tail=None)
            for entry in door.entries(namespace, name, pod.name, wanted):
                if entry.time < behind:
                    continue
                if entry.time == behind and skip:
                    skip -= 1
                    continue
                if not entry.whole and entry != doubted:
                    half = entry  # the rest of it may be on its way; what comes the same way twice is all there is
                    break
                same = same + 1 if entry.time == last else 1
                last, failed = entry.time, 0
                if options.container in ARGOS or not _of_argo(entry):
                    yield LogLine(pod.path, entry.text, pod.attempt)
            doubted = half
            if half is None and not (options.follow and _still_running(door, namespace, name, pod)):
                return
            door.http.pacing.pause(1)
        except PASSING as error:
            failed += 1
            if failed >= door.http.pacing.attempts:
                raise
            door.http.pacing.pause(failed, error.after)


def _still_running(door: Door, namespace: str, name: str, pod: Pod) -> bool:
    workflow = door.get("Workflow", namespace, name)
    return any(each.name == pod.name and each.running for each in chosen(workflow, None))


def _asked(options: LogOptions) -> LogOptions:
    # Some of the last lines may be Argo's own, which aren't shown.
    return options if options.tail is None else msgspec.structs.replace(options, tail=options.tail + OF_ARGO)


def _last(found: Iterator[LogLine], tail: int | None) -> Iterator[LogLine]:
    return found if tail is None else iter(deque(found, maxlen=tail))


def _of_argo(entry: Entry) -> bool:
    # What Argo's program around the step writes into the same stream.
    return entry.text.startswith("time=") and " argo=true" in entry.text


# ---- while the run goes on


def _followed(
    door: Door, namespace: str, name: str, task: str | None, options: LogOptions, missing: list[Pod]
) -> Iterator[LogLine]:
    arrived: queue.SimpleQueue[LogLine | Exception | None] = queue.SimpleQueue()
    over = threading.Event()
    readers: list[threading.Thread] = []

    def read(pod: Pod) -> None:
        try:
            for line in _of_pod(door, namespace, name, pod, options):
                if over.is_set():
                    return
                arrived.put(line)
        except MissingError:
            missing.append(pod)
        except RefusedError as error:
            if not any(words in error.said for words in NOT_YET):
                arrived.put(error)
        except Exception as error:
            arrived.put(error)

    def look() -> None:
        known: set[str] = set()
        try:
            for workflow in changes(door, namespace, name):
                if over.is_set():
                    return
                if run_phase(workflow) in FINISHED:
                    check_task(workflow, f"argo:{namespace}/{name}", task)
                for pod in chosen(workflow, task):
                    if pod.name not in known:
                        known.add(pod.name)
                        readers.append(_thread(functools.partial(read, pod)))
            for reader in readers:
                reader.join()
        except Exception as error:
            arrived.put(error)
        arrived.put(None)

    _thread(look)
    try:
        while (found := awaited(arrived)) is not None:
            if isinstance(found, Exception):
                raise found
            yield found
    finally:
        over.set()


def _thread(work: Callable[[], None]) -> threading.Thread:
    made = threading.Thread(target=work, daemon=True)
    made.start()
    return made
