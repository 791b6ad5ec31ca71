"""`couler resources [RUN|FILE]`: what steps used, what they asked for in vain, and what to ask for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from couler_py import api
from couler_py.backends.base import ClusterClient, Scheduling
from couler_py.backends.local.client import LocalClient
from couler_py.cli.console import columns, console, seconds
from couler_py.cli.errors import UsageError
from couler_py.cli.load import load
from couler_py.cli.options import AsJson
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json
from couler_py.ir.quantity import amount
from couler_py.passes.history import Attempt, Observed
from couler_py.passes.resources import advice_for
from couler_py.passes.resources.advice import ENOUGH, Advice, advise
from couler_py.passes.resources.readers import airflow, argo, kubernetes
from couler_py.passes.situation import Situation
from couler_py.store.history import history, of_run

FILES = (".py", ".json", ".yaml", ".yml")


@reaching
def command(
    what: Annotated[
        str | None, typer.Argument(metavar="[RUN|FILE]", help="One run, or a workflow's runs (default: all runs here).")
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metrics", metavar="FILE", help="An answer of Kubernetes' metrics API, kept while pods ran."),
    ] = None,
    as_json: AsJson = False,
    *,
    reach: Reach,
) -> None:
    """Say what steps used, what they asked for in vain, and what to ask for.

    Of runs on this machine it was measured. A run on Argo tells what was asked for; what was used stands in answers of
    the metrics API (`kubectl get --raw /apis/metrics.k8s.io/v1beta1/namespaces/NAME/pods`). A run on
    Airflow tells how long its attempts took and how they ended, and of pods that failed what they had asked for.
    """
    found = sorted(_advice(what, metrics or [], reach), key=lambda each: -each.waste)
    if as_json:
        print(to_json({"steps": msgspec.to_builtins(found)}), end="")
        return
    out = console()
    if not found:
        out.print("nothing is known of any step yet: run it once")
    for line in _table(found):
        out.print(line)


def _advice(what: str | None, metrics: Iterable[str], reach: Reach) -> Iterable[Advice]:
    if what is None:
        return _of_all(history().all())
    if what.partition(":")[0].endswith(FILES):
        workflow = api.checked(load(what).model).workflow
        known = Situation(history=history())
        return [each for template in workflow.templates if (each := advice_for(workflow, template, known)) is not None]
    client, run = reach.run_of(what)
    if isinstance(client, LocalClient):
        return _of_all(of_run(run))
    if isinstance(client, ClusterClient) and client.engine == "argo":
        used = kubernetes.usage(_read(metrics))
        found: dict[str, list[Attempt]] = {}
        for document in client.documents(run):
            for name, tries in argo.attempts(document, used).items():
                found.setdefault(name, []).extend(tries)
        return [advise(name, tries) for name, tries in found.items()]
    if isinstance(client, Scheduling) and client.engine == "airflow":
        return [advise(name, tries) for name, tries in airflow.attempts(client.attempt_logs(run)).items()]
    raise UsageError(f"nothing measures what steps use on {client.engine}")


def _of_all(observed: Iterable[Observed]) -> list[Advice]:
    """The advice for each step that was a program, beside what it asked for last."""
    found = []
    for each in observed:
        if each.attempts:
            last = each.attempts[-1]
            advice = advise(each.template, each.attempts, (last.asked_memory, last.asked_cpu))
            found.append(msgspec.structs.replace(advice, workflow=each.workflow))
    return found


def _read(files: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    for file in files:
        try:
            answer = json.loads(Path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise UsageError(f"--metrics {file}: {problem}") from None
        if not isinstance(answer, dict) or answer.get("kind") not in ("PodMetricsList", "PodMetrics"):
            raise UsageError(f"--metrics {file} is no PodMetricsList")
        yield answer if answer["kind"] == "PodMetricsList" else {"items": [answer]}


def _table(found: list[Advice]) -> Iterator[Any]:
    several = len({each.workflow for each in found}) > 1
    rows = [
        (
            *((each.workflow,) if several else ()),
            each.step,
            f"{each.attempts:,}" + (f", {each.out_of_memory} out of memory" if each.out_of_memory else ""),
            seconds(each.seconds),
            _memory(each.asked_memory),
            _memory(each.used_memory),
            _to(_memory(each.memory), _memory(each.memory_limit)) + ("" if each.enough else " ?"),
            _cpu(each.asked_cpu),
            _cpu(each.used_cpu),
            _to(_cpu(each.cpu), _cpu(each.cpu_limit)) + ("" if each.enough else " ?"),
            _waste(each),
        )
        for each in found
    ]
    header = (
        *(("WORKFLOW",) if several else ()),
        "STEP",
        "ATTEMPTS",
        "RAN",
        "MEMORY",
        "USED",
        "BETTER",
        "CPU",
        "USED",
        "BETTER",
        "IN VAIN",
    )
    if rows:
        yield from columns(rows, header=header)
    if any(not each.enough for each in found):
        yield f"? is from fewer than {ENOUGH} attempts; `--right-size` leaves such steps as they are"


def _memory(count: int | None) -> str:
    return "-" if count is None else amount(count)


def _cpu(processors: float | None) -> str:
    return "-" if processors is None else f"{processors:.2g}"


def _to(request: str, limit: str) -> str:
    return request if request == limit else f"{request}, at most {limit}"


def _waste(found: Advice) -> str:
    parts = []
    if found.wasted_memory:
        parts.append(f"{found.wasted_memory / 1024**3:.3g} GiB s")
    if found.wasted_cpu:
        parts.append(f"{found.wasted_cpu:.3g} CPU s")
    return ", ".join(parts)
