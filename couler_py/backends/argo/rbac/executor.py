"""What the pods of a workflow call the Kubernetes API for, read off its documents.

Facts from Argo's executor (4.0): every pod reports its results (`workflowtaskresults`); a `resource` template runs
kubectl; the agent of `http` and `plugin` templates watches task sets and writes their status, and reads the secrets of
headers; the report of a job of several nodes (`couler_py.steps.launchers.report`) lists the job's pods and reads their
logs; artifact GC lists its tasks and writes their status; HDFS reads its Kerberos configuration. Secrets of artifact
stores are mounted, and the caches of `memoize` are kept by the controller: neither needs a right of the pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from couler_py.backends.argo.rbac import kubectl
from couler_py.backends.argo.rbac.rules import Account, Rule
from couler_py.backends.argo.vocabulary import PODS
from couler_py.ir.diagnostics import Diagnostic, warning
from couler_py.kubernetes.jobs import SELECTOR

JSON = dict[str, Any]
GROUP = "argoproj.io"

RESULTS = Rule(GROUP, "workflowtaskresults", ("create", "patch"), why="every pod reports its results")
AGENT = (
    Rule(GROUP, "workflowtasksets", ("watch",), why="http and plugin templates"),
    Rule(GROUP, "workflowtasksets/status", ("patch",), why="http and plugin templates"),
)
COLLECTOR = (
    Rule(GROUP, "workflowartifactgctasks", ("list",), why="artifact GC"),
    Rule(GROUP, "workflowartifactgctasks/status", ("patch",), why="artifact GC"),
)

REPORT = (
    Rule("", "pods", ("list",), why="the report of a job of several nodes"),
    Rule("", "pods/log", ("get",), why="the report of a job of several nodes"),
)


class Needs(msgspec.Struct, frozen=True):
    """By account its rules, the accounts whose token Argo mounts from a Secret, and what couldn't be found out."""

    rules: dict[Account, list[Rule]]
    tokens: tuple[str, ...]
    findings: tuple[Diagnostic, ...]


def needs(workflow: JSON, others: Iterable[JSON] = ()) -> Needs:
    """What the pods of a workflow need. `others` are documents with templates that it refers to."""
    spec = spec_of(workflow)
    found: dict[Account, list[Rule]] = {}
    tokens: dict[str, None] = {}
    findings: list[Diagnostic] = []
    library = {each["metadata"].get("name", ""): spec_of(each) for each in others}
    defaults = spec.get("templateDefaults") or {}
    for template in templates(spec, library, findings):
        whole = defaults | template
        account = _account(whole, spec)
        if executor := _executor(whole, spec):
            tokens[executor] = None
        if {"http", "plugin"} & set(whole):
            agent = Account(spec.get("serviceAccountName") or "default")
            found.setdefault(agent, []).extend([*AGENT, *_headers(whole)])
            tokens[agent.name] = None
        elif PODS & whole.keys():
            found.setdefault(account, []).append(RESULTS)
        if "resource" in whole:
            try:
                found[account].extend(kubectl.rules(whole))
            except kubectl.UnknownError as error:
                name = whole.get("name", "")
                findings.append(warning("CLR722", f"the rights for its objects aren't known: {error}", step=name))
        if any(each.get("name") == SELECTOR for each in (whole.get("script") or {}).get("env") or []):
            found[account].extend(REPORT)
        found.setdefault(account, []).extend(_kerberos(whole))
    for collector in _collectors(spec, library):
        found.setdefault(collector, []).extend(COLLECTOR)
    return Needs({key: value for key, value in found.items() if value}, tuple(tokens), tuple(findings))


def spec_of(document: JSON) -> JSON:
    """The spec of the run that a document describes."""
    spec: JSON = document.get("spec") or {}
    inner: JSON = spec.get("workflowSpec") or {}
    return inner if document.get("kind") == "CronWorkflow" else spec


def templates(spec: JSON, library: dict[str, JSON], findings: list[Diagnostic]) -> Iterator[JSON]:
    """All templates that may run: its own, those inside steps, and those of other documents that it refers to."""
    seen: set[str] = set()
    waiting = [spec]
    while waiting:
        current = waiting.pop()
        references = [current.get("workflowTemplateRef")]
        stack = list(current.get("templates") or [])
        for hook in (current.get("hooks") or {}).values():
            references.append(hook.get("templateRef"))
        while stack:
            template = stack.pop()
            yield template
            for task in _tasks(template):
                references.append(task.get("templateRef"))
                references += [hook.get("templateRef") for hook in (task.get("hooks") or {}).values()]
                if isinstance(task.get("inline"), dict):
                    stack.append({"name": task.get("name", "")} | task["inline"])
        for reference in filter(None, references):
            name = str(reference.get("name", ""))
            if name in seen:
                continue
            seen.add(name)
            if name in library:
                waiting.append(library[name])
            else:
                findings.append(
                    warning(
                        "CLR722", f"the template {name!r} isn't in the given files, and may need more rights", step=name
                    )
                )


def _tasks(template: JSON) -> Iterator[JSON]:
    yield from (template.get("dag") or {}).get("tasks") or []
    for group in template.get("steps") or []:
        yield from group if isinstance(group, list) else (group.get("steps") or [])


def _account(template: JSON, spec: JSON) -> Account:
    """Whose token Argo's program in a pod has."""
    own = _executor(template, spec) or template.get("serviceAccountName") or spec.get("serviceAccountName")
    return Account(str(own or "default"))


def _executor(template: JSON, spec: JSON) -> str:
    for place in (template, spec):
        if name := (place.get("executor") or {}).get("serviceAccountName"):
            return str(name)
    return ""


def _headers(template: JSON) -> Iterator[Rule]:
    names = {
        each["valueFrom"]["secretKeyRef"]["name"]
        for each in (template.get("http") or {}).get("headers") or []
        if (each.get("valueFrom") or {}).get("secretKeyRef")
    }
    if names:
        yield Rule("", "secrets", ("get",), tuple(sorted(names)), why="headers of http templates")


def _kerberos(template: JSON) -> Iterator[Rule]:
    artifacts = [
        *((template.get("inputs") or {}).get("artifacts") or []),
        *((template.get("outputs") or {}).get("artifacts") or []),
    ]
    names = {
        each["hdfs"]["krbConfigConfigMap"]["name"]
        for each in artifacts
        if (each.get("hdfs") or {}).get("krbConfigConfigMap")
    }
    if names:
        yield Rule("", "configmaps", ("get",), tuple(sorted(names)), why="Kerberos of HDFS")


def _collectors(spec: JSON, library: dict[str, JSON]) -> Iterator[Account]:
    """The accounts that delete artifacts."""
    whole = spec.get("artifactGC") or {}
    for template in templates(spec, library, []):
        for artifact in (template.get("outputs") or {}).get("artifacts") or []:
            own = artifact.get("artifactGC") or {}
            strategy = own.get("strategy") or whole.get("strategy") or "Never"
            if strategy != "Never":
                yield Account(str(own.get("serviceAccountName") or whole.get("serviceAccountName") or "default"))
