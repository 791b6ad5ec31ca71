"""Pods, claims and budgets that Kubernetes refuses: no server looks at them before a run makes them.

Source: pkg/apis/core/validation of Kubernetes 1.34.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import Flow
from couler_py.backends.argo.lint.rules.pod_containers import refused, security, word
from couler_py.backends.argo.lint.rules.pods import others_of
from couler_py.backends.argo.lint.rules.selectors import is_label_key, is_label_value

_LABEL = re.compile(r"(?=.{1,63}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_POLICIES = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
_OF_NODES = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def pod_settings(flow: Flow) -> Iterator[Finding]:
    """What spec and templates say of pods is something that Kubernetes takes."""
    yield from _pod(flow.spec, flow.path, "the workflow")
    yield from _metadata(flow.spec.get("podMetadata") or {}, (*flow.path, "podMetadata"), "pods")
    yield from _metadata(flow.spec.get("workflowMetadata") or {}, (*flow.path, "workflowMetadata"), "the run")
    yield from _network(flow.spec, flow.path)
    yield from _claims(flow)
    yield from _budget(flow.spec.get("podDisruptionBudget") or {}, (*flow.path, "podDisruptionBudget"))
    for template in flow.all_templates:
        yield from _pod(template.data, template.path, template.where)
        yield from _metadata(template.data.get("metadata") or {}, (*template.path, "metadata"), template.where)
        names: set[str] = set()
        for path, each, where in others_of(template):
            name = each.get("name", "")
            if name and "{{" not in name and not _LABEL.fullmatch(name):
                yield refused(f"{where} can't be called so", (*path, "name"), _SMALL)
            if name in names and path[-2] != "containers":
                yield refused(f"{where} has the name of another container", (*path, "name"), "rename it")
            names.add(name)


_SMALL = "write it in small letters, digits and `-`, beginning and ending with a letter or a digit"


def _metadata(data: JSON, path: Path, where: str) -> Iterator[Finding]:
    for field in ("labels", "annotations"):
        for key, value in (data.get(field) or {}).items():
            what = f"Kubernetes takes no {{}} as the {{}} of {field} of {where}"
            if "{{" not in key and not is_label_key(key.lower() if field == "annotations" else key):
                yield _label(what.format(repr(key), "key"), (*path, field, key), on_key=True)
            elif field == "labels" and "{{" not in value and not is_label_value(value):
                yield _label(what.format(repr(value[:80]), "value"), (*path, field, key))


def _label(message: str, path: Path, *, on_key: bool = False) -> Finding:
    return Finding(
        "CLR432",
        message,
        path,
        on="key" if on_key else "value",
        why="nobody looks before the run, which ends in Error over it",
        help="write at most 63 letters, digits, `-`, `_` and `.`"
        + (", a domain and `/` in front if need be" if on_key else ", or make it an annotation"),
    )


def _pod(data: JSON, path: Path, where: str) -> Iterator[Finding]:
    for key, value in (data.get("nodeSelector") or {}).items():
        at = (*path, "nodeSelector", key)
        if "{{" not in key and not is_label_key(key):
            yield refused(f"the node selector of {where} has {key!r}, which is no key of a label", at)
        elif "{{" not in value and not is_label_value(value):
            yield refused(f"the node selector of {where} has {value!r}, which is no value of a label", at)
    for index, each in enumerate(data.get("tolerations") or ()):
        at = (*path, "tolerations", index)
        yield from word(each.get("operator"), ("Equal", "Exists", "Lt", "Gt"), (*at, "operator"), where)
        yield from word(each.get("effect"), ("NoSchedule", "PreferNoSchedule", "NoExecute"), (*at, "effect"), where)
        if each.get("operator") == "Exists" and each.get("value"):
            yield refused(f"a toleration of {where} is for `Exists`, and has a value", (*at, "value"), "take it out")
        if each.get("tolerationSeconds") is not None and each.get("effect") != "NoExecute":
            message = f"a toleration of {where} has seconds, and an effect other than NoExecute"
            yield refused(message, (*at, "tolerationSeconds"), "take them out, or write `effect: NoExecute`")
    yield from _node_affinity(data.get("affinity") or {}, (*path, "affinity", "nodeAffinity"), where)
    yield from security(data.get("securityContext") or {}, (*path, "securityContext"), where)
    for index, each in enumerate(data.get("volumes") or ()):
        at, name = (*path, "volumes", index), each.get("name", "")
        if name and "{{" not in name and not _LABEL.fullmatch(name):
            yield refused(f"a volume can't be called {name!r}", (*at, "name"), _SMALL)
        kinds = [key for key, value in each.items() if key != "name" and value is not None]
        if len(kinds) > 1:
            yield refused(
                f"the volume {name!r} is both `{kinds[0]}` and `{kinds[1]}`", (*at, kinds[1]), "keep one", "key"
            )


def _node_affinity(affinity: JSON, path: Path, where: str) -> Iterator[Finding]:
    needed = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = ((affinity.get("nodeAffinity") or {}).get(needed) or {}).get("nodeSelectorTerms") or ()
    for index, term in enumerate(terms):
        for at, each in enumerate(term.get("matchExpressions") or ()):
            place = (*path, needed, "nodeSelectorTerms", index, "matchExpressions", at, "operator")
            yield from word(each.get("operator"), _OF_NODES, place, where)


def _network(spec: JSON, path: Path) -> Iterator[Finding]:
    yield from word(spec.get("dnsPolicy"), _POLICIES, (*path, "dnsPolicy"), "the workflow")
    if spec.get("dnsPolicy") == "None" and not (spec.get("dnsConfig") or {}).get("nameservers"):
        yield refused(
            "`dnsPolicy: None` without servers to ask", (*path, "dnsPolicy"), "add `dnsConfig` with `nameservers`"
        )
    for index, each in enumerate(spec.get("hostAliases") or ()):
        text = each.get("ip", "")
        if text and "{{" not in text and not _is_address(text):
            yield refused(f"{text!r} is no address", (*path, "hostAliases", index, "ip"))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _claims(flow: Flow) -> Iterator[Finding]:
    for index, each in enumerate(flow.spec.get("volumeClaimTemplates") or ()):
        path = (*flow.path, "volumeClaimTemplates", index)
        name = (each.get("metadata") or {}).get("name", "")
        spec = each.get("spec") or {}
        if not name:
            yield _claim("a volume claim has no name", path, "add `metadata.name`")
        if ((spec.get("resources") or {}).get("requests") or {}).get("storage") is None:
            yield _claim(f"the volume claim {name!r} says no size", path, "add `resources.requests.storage`")
        modes = spec.get("accessModes") or ()
        if not modes:
            yield _claim(f"the volume claim {name!r} has no `accessModes`", path, f"add one of {', '.join(_MODES)}")
        for at, mode in enumerate(modes):
            if "{{" not in mode and mode not in _MODES:
                message = f"the volume claim {name!r} can't have the access mode {mode!r}"
                yield _claim(message, (*path, "spec", "accessModes", at), f"there are {', '.join(_MODES)}")


def _claim(message: str, path: Path, help_: str) -> Finding:
    return Finding("CLR479", message, path, why="Kubernetes refuses the claim, and the run ends in Error", help=help_)


def _budget(budget: JSON, path: Path) -> Iterator[Finding]:
    why = "Kubernetes refuses the budget, and the run never begins"
    if budget.get("minAvailable") is not None and budget.get("maxUnavailable") is not None:
        message = "a disruption budget says what must be there or what may be gone, not both"
        yield Finding("CLR479", message, (*path, "maxUnavailable"), why=why, help="keep one of them")
    for key in ("minAvailable", "maxUnavailable"):
        text = budget.get(key)
        if isinstance(text, str) and "{{" not in text and not re.fullmatch(r"\d+%", text):
            message = f"`{key}` can't be {text!r}"
            help_ = "write a number without quotes, or a percentage, as 50%"
            yield Finding("CLR479", message, (*path, key), why=why, help=help_)
