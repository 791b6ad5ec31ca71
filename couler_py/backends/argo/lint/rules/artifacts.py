"""Artifacts: their paths, where they come from, and what the stores need to know."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from couler_py.argolang import tags_in
from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import GRAPHS, LEAVES, Flow, Template

_KERBEROS = ("krbServicePrincipalName", "krbConfigConfigMap", "krbUsername", "krbRealm")


def paths(flow: Flow) -> Iterator[Finding]:
    """Artifacts of templates that run something lie at a path; in others they have none."""
    for template in flow.all_templates:
        for side in ("inputs", "outputs"):
            for index, each in enumerate(template.data.get(side, {}).get("artifacts", ())):
                yield from _path(template, side, each, (*template.path, side, "artifacts", index))


def _path(template: Template, side: str, artifact: JSON, path: Path) -> Iterator[Finding]:
    what = f"the artifact {artifact.get('name', '')!r} of {template.where}"
    place = artifact.get("path", "")
    if template.type in LEAVES:
        if not place:
            yield Finding(
                "CLR455",
                f"{what} has no path",
                path,
                why="the file has to lie somewhere in the container",
                help="add `path`",
            )
        elif _escapes(place):
            yield Finding(
                "CLR455",
                f"{what} leads out of its folder: {place!r}",
                (*path, "path"),
                why="Argo refuses paths that climb with `..` above where they began",
                help="write the path without `..`",
            )
    elif place and template.type:
        yield Finding(
            "CLR455",
            f"{what} can't have a path",
            (*path, "path"),
            on="key",
            why=f"a `{template.type}` has no files of its own",
            help="say `from` where it comes, and give the path where it is used"
            if side == "outputs"
            else "give the path in the template that reads it",
        )
    if side == "inputs" and artifact.get("from"):
        yield Finding(
            "CLR456",
            f"{what} says where it comes `from`",
            (*path, "from"),
            on="key",
            why="the inputs of a template come from its caller",
            help="give `from` in the arguments of the call",
        )


def _escapes(place: str) -> bool:
    if "/../" in place:
        safe = place[: place.index("/../")]
    elif place.endswith("/.."):
        safe = place[:-3]
    else:
        return False
    cleaned = posixpath.normpath(place)
    cleaned = "/" + cleaned.lstrip("/") if place.startswith("/") else cleaned
    return bool(safe) and (not cleaned.startswith(safe + "/") or len(cleaned) <= len(safe) + 1)


def locations(flow: Flow) -> Iterator[Finding]:
    """What the stores of artifacts need: a repository, a place, who reads it."""
    for template in flow.all_templates:
        for side in ("inputs", "outputs"):
            for index, each in enumerate(template.data.get(side, {}).get("artifacts", ())):
                path = (*template.path, side, "artifacts", index)
                yield from _location(each, path, "error" if side == "inputs" else "warning")
        if (where := template.data.get("archiveLocation")) is not None:
            yield from _location(where, (*template.path, "archiveLocation"), "error")


def _location(artifact: JSON, path: Path, severity: str) -> Iterator[Finding]:
    git, hdfs = artifact.get("git"), artifact.get("hdfs")
    if git is not None and not git.get("repo"):
        yield _lacks("a git artifact has no repository", (*path, "git"), severity, "add `repo`")
    if hdfs is None:
        return
    at = (*path, "hdfs")
    if not hdfs.get("addresses"):
        yield _lacks("an hdfs artifact has no addresses", at, severity, "add `addresses`")
    elif not hdfs.get("path", "").startswith("/"):
        yield _lacks("an hdfs artifact has no absolute path", at, severity, "add `path`, from `/` on")
    elif not any(hdfs.get(each) for each in ("hdfsUser", "krbCCacheSecret", "krbKeytabSecret")):
        yield _lacks("an hdfs artifact doesn't say who reads it", at, severity, "add `hdfsUser`, or Kerberos' secrets")
    else:
        keytab = hdfs.get("krbKeytabSecret") is not None
        needed = _KERBEROS if keytab else _KERBEROS[:2] if hdfs.get("krbCCacheSecret") is not None else ()
        missing = [each for each in needed if not hdfs.get(each)]
        if missing:
            words = ", ".join(f"`{each}`" for each in missing)
            yield _lacks(f"an hdfs artifact with Kerberos lacks {words}", at, severity, f"add {words}")


def _lacks(message: str, path: Path, severity: str, way: str) -> Finding:
    return Finding(
        "CLR456",
        message,
        path,
        severity="error" if severity == "error" else "warning",
        why="Argo couldn't find the artifact",
        help=way,
    )


def outputs_of_graphs(flow: Flow) -> Iterator[Finding]:
    """Output artifacts of `steps` and `dag` are those of what they call."""
    for template in flow.all_templates:
        if template.type not in GRAPHS:
            continue
        for index, each in enumerate(template.data.get("outputs", {}).get("artifacts", ())):
            path = (*template.path, "outputs", "artifacts", index)
            what = f"the output artifact {each.get('name', '')!r} of {template.where}"
            if each.get("from") and each.get("fromExpression"):
                yield Finding(
                    "CLR456",
                    f"{what} has both `from` and `fromExpression`",
                    (*path, "fromExpression"),
                    on="key",
                    severity="warning",
                    why="the expression counts, and `from` doesn't",
                    help="keep one of them",
                )
            elif not each.get("from") and not each.get("fromExpression"):
                yield Finding(
                    "CLR459",
                    f"{what} says nowhere where it comes from",
                    path,
                    severity="warning",
                    why="it would never be there",
                    help="add `from`, as {{tasks.NAME.outputs.artifacts.NAME}}",
                )


_ARTIFACT = re.compile(r"(inputs|(steps|tasks)\.[^.]+\.outputs|workflow\.outputs)\.artifacts\.[^.]+")
_OTHER = re.compile(r"(inputs|workflow)\.parameters\.|(steps|tasks)\.[^.]+\.(?!outputs\.artifacts\.)")


def kinds_of_values(flow: Flow) -> Iterator[Finding]:
    """Where an artifact belongs stands one artifact, and where a text belongs none."""
    for template in flow.all_templates:
        holders = [(call.data.get("arguments", {}), (*call.path, "arguments")) for call in template.calls]
        holders.append((template.data.get("outputs", {}), (*template.path, "outputs")))
        for data, path in holders:
            for index, each in enumerate(data.get("artifacts", ())):
                text = each.get("from", "")
                found = tags_in(text)
                if (
                    text
                    and template.type in GRAPHS
                    and not (len(found) == 1 and found[0].text and found[0].start == 0 and found[0].end == len(text))
                ):
                    yield _not_one(text, (*path, "artifacts", index, "from"))
                elif found and not found[0].expression and _OTHER.match(found[0].name):
                    yield _no_artifact(found[0].name, (*path, "artifacts", index, "from"))
            for index, each in enumerate(data.get("parameters", ())):
                value = each.get("value", (each.get("valueFrom") or {}).get("parameter", ""))
                if isinstance(value, str) and template.type in GRAPHS:
                    key = ("value",) if "value" in each else ("valueFrom", "parameter")
                    for tag in tags_in(value):
                        if not tag.expression and _ARTIFACT.fullmatch(tag.name):
                            yield Finding(
                                "CLR459",
                                f"{tag.name!r} is an artifact, and a text belongs here",
                                (*path, "parameters", index, *key),
                                severity="warning",
                                offset=tag.start,
                                why="a file doesn't become the value of a parameter",
                                help="give it under `artifacts`",
                            )


def _no_artifact(name: str, path: Path) -> Finding:
    """A value of a workflow or of an input might spell out the name of an artifact, so there it is a warning."""
    return Finding(
        "CLR459",
        f"{name!r} is no artifact, and one belongs here",
        path,
        severity="error" if name.startswith(("steps", "tasks")) else "warning",
        why="a text is no file: the call ends in Error when its turn comes",
        help="read an artifact, or give the value as a parameter",
    )


def _not_one(text: str, path: Path) -> Finding:
    return Finding(
        "CLR459",
        f"{text!r} isn't one artifact",
        path,
        why="`from` is one tag, and nothing beside it",
        help="write one tag, as {{steps.NAME.outputs.artifacts.NAME}}",
    )
