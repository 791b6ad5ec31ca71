"""Resource templates: an action, a manifest that can be read, conditions that can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from couler_py.argolang import tags_in
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import Flow
from couler_py.backends.argo.lint.rules.references import nearest
from couler_py.backends.argo.lint.rules.selectors import condition_problem

_EXPRESSION = re.compile(r"\{\{\s*=\s*(.+?)\s*\}\}")
_TAG = re.compile(r"\{\{.*?\}\}")


def resources(flow: Flow) -> Iterator[Finding]:
    """What a resource template does to Kubernetes, and with what."""
    for template in flow.all_templates:
        data = template.data.get("resource")
        if data is None:
            continue
        path = (*template.path, "resource")
        action = data.get("action", "")
        manifest, source = data.get("manifest", ""), data.get("manifestFrom")
        if action not in ("delete", "get"):
            if not manifest and source is None:
                yield Finding(
                    "CLR481",
                    f"{template.where} has no manifest",
                    path,
                    why=f"there is nothing to {action}" if action else "",
                    help="add `manifest` or `manifestFrom`",
                )
            elif source is not None and not manifest:
                name = (source.get("artifact") or {}).get("name", "")
                if source.get("artifact") is not None and name not in template.artifacts:
                    yield Finding(
                        "CLR481",
                        f"the manifest of {template.where} comes from the artifact {name!r}, which it doesn't take",
                        (*path, "manifestFrom", "artifact"),
                        why="it is one of the input artifacts of the template",
                        help=nearest(name, template.artifacts) or "declare it under `inputs.artifacts`",
                    )
        if manifest:
            yield from _manifest(manifest, (*path, "manifest"), template.where, sure=action not in ("delete", "get"))
            if action in ("create", "apply", "replace"):
                yield from _object(manifest, action, (*path, "manifest"), template.where)
        for key in ("successCondition", "failureCondition"):
            text = data.get(key, "")
            if text and "{{" not in text and (problem := condition_problem(text)):
                yield Finding(
                    "CLR480",
                    f"the {key} of {template.where} can't be read: {problem}",
                    (*path, key),
                    why="the step ends in Error once the object is there",
                    help="write conditions such as status.phase == Succeeded, with commas between them",
                )


def _object(text: str, action: str, path: Path, where: str) -> Iterator[Finding]:
    """One object with the names that the API server asks for; a tag may bring what is missing."""
    try:
        found = [each for each in yaml.load_all(text, Loader=yaml.CBaseLoader) if each] if "{{" not in text else []
    except (yaml.YAMLError, ValueError, RecursionError):
        return  # a finding by itself
    if not found:
        return
    data = found[0]
    problem = "holds several documents" if len(found) > 1 else "is no object" if not isinstance(data, dict) else ""
    if not problem and (missing := [each for each in ("apiVersion", "kind") if not data.get(each)]):
        problem = f"has no `{missing[0]}`"
    if not problem and not str(data["kind"]).endswith("List"):
        metadata = data.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        if not metadata.get("name") and not (action == "create" and metadata.get("generateName")):
            problem = "has no `metadata.name`" + (" or `generateName`" if action == "create" else "")
    if problem:
        yield Finding(
            "CLR481",
            f"the manifest of {where} {problem}",
            path,
            why="the step fails when it gives the manifest to Kubernetes",
            help="write one object with its names, and a template for each",
        )


def _manifest(text: str, path: Path, where: str, *, sure: bool) -> Iterator[Finding]:
    filled = _EXPRESSION.sub("placeholder", text)
    plain = _TAG.sub("placeholder", filled)
    try:
        for _ in yaml.parse(plain, Loader=yaml.CSafeLoader):
            pass
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at its line {mark.line + 1}" if mark is not None else ""
        yield Finding(
            "CLR481",
            f"the manifest of {where} isn't YAML{line}: {getattr(error, 'problem', None) or error}",
            path,
            severity="error" if sure else "warning",
            why="Argo reads it before the run",
            help="mind the indentation, and put values with signs into quotes",
        )
        return
    if tags_in(text) and "{{" in text:
        yield from _spliced(text, path, where)


def _spliced(text: str, path: Path, where: str) -> Iterator[Finding]:
    """A value in quotes ends them, when it has some of its own."""
    match = re.search(
        r"""(["'])[^"'\n]*?\{\{\s*(inputs\.parameters\.[^{}\s]+|(?:workflow)\.parameters\.[^{}\s]+)\s*\}\}""", text
    )
    if match is not None:
        yield Finding(
            "CLR485",
            f"the manifest of {where} has {match[2]} inside quotes",
            path,
            severity="warning",
            offset=match.start(2) - 2,
            why="a value with quotes or line breaks of its own changes what the manifest says",
            help=f"write {{{{=toJson({_indexed(match[2])})}}}} without the quotes",
        )


def _indexed(name: str) -> str:
    root, what, rest = name.split(".", 2)
    return f"{root}.{what}.{rest}" if re.fullmatch(r"[A-Za-z_]\w*", rest) else f"{root}.{what}['{rest}']"
