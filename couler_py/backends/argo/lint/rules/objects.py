"""The document as an object of Kubernetes: its name, its labels, its size."""

from __future__ import annotations

import re
from collections.abc import Iterator

from couler_py.backends.argo.lint.context import JSON, Context
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.size import size_findings, size_of

LENGTHS = {"CronWorkflow": 52}
LENGTH = 63
"""The longest name Argo takes: names become labels (63), and a CronWorkflow's runs get 11 characters more."""

_PART = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"{_PART}(?:\.{_PART})*").fullmatch
_LABEL_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?").fullmatch
_LABEL_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?").fullmatch


def object_names(context: Context) -> Iterator[Finding]:
    """`metadata.name` and `generateName`: one of them, of legal characters, short enough for labels."""
    metadata: JSON | None = context.document.get("metadata")
    if metadata is None:
        return
    name, prefix = metadata.get("name", ""), metadata.get("generateName", "")
    if name and prefix:
        yield Finding(
            "CLR428",
            "both `name` and `generateName` are given",
            ("metadata", "generateName"),
            "warning",
            on="key",
            why="Kubernetes takes `name` then, and a second run of the same name is refused",
            help="keep one of them",
        )
    if not name and not prefix and not _given(context):
        yield Finding(
            "CLR428", "the document has neither `name` nor `generateName`", ("metadata",), on="key", help="write one"
        )
    most = LENGTHS.get(context.kind, LENGTH)
    if len(name) > most:
        yield Finding(
            "CLR428",
            f"the name has {len(name)} characters, and Argo takes at most {most} for a {context.kind}",
            ("metadata", "name"),
        )
    if name and not _NAME(name):
        yield _characters(name, "name")
    # Kubernetes looks at the beginning as if a dash at its end were a letter, and at the whole name.
    beginning = f"{prefix[:-1]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
    if prefix and not (_NAME(beginning) and _NAME(f"{prefix}a")):
        yield _characters(prefix, "generateName")
    namespace = metadata.get("namespace", "")
    if namespace and not re.fullmatch(_PART, namespace):
        yield Finding("CLR428", f"{namespace!r} can't be the name of a namespace", ("metadata", "namespace"), help=_WAY)


_WAY = "write it in small letters, digits and `-`, beginning and ending with a letter or a digit"


def _given(context: Context) -> bool:
    """Whether a name is there that isn't text: a finding of its own."""
    metadata = context.raw.get("metadata")
    return isinstance(metadata, dict) and any(metadata.get(each) for each in ("name", "generateName"))


def _characters(name: str, field: str) -> Finding:
    return Finding("CLR428", f"Kubernetes takes no {name!r} as `{field}`", ("metadata", field), help=_WAY)


def labels(context: Context) -> Iterator[Finding]:
    """Labels and annotations of the document: Kubernetes' rules for their keys, and for the values of labels."""
    for field in ("labels", "annotations"):
        given = context.document.get("metadata", {}).get(field, {})
        path: Path = ("metadata", field)
        for key, value in given.items():
            prefix, slash, name = (key.lower() if field == "annotations" else key).rpartition("/")
            if not _LABEL_NAME(name) or len(name) > LENGTH or (slash and not _NAME(prefix)):
                yield Finding(
                    "CLR432",
                    f"Kubernetes takes no {key!r} as the key of {field}",
                    (*path, key),
                    on="key",
                    help="write at most 63 letters, digits, `-`, `_` and `.`, a domain and `/` in front if need be",
                )
            if field == "labels" and (len(value) > LENGTH or not _LABEL_VALUE(value)):
                yield Finding(
                    "CLR432",
                    f"Kubernetes takes no {value[:80]!r} as the value of a label",
                    (*path, key),
                    help="write at most 63 letters, digits, `-`, `_` and `.`, or make it an annotation",
                )


def size(context: Context) -> Iterator[Finding]:
    """The document and a run's status as bytes of JSON: near what Argo stores, or over it."""
    measured = size_of(context.raw)
    largest = measured.largest[0].name if measured.largest else ""
    path = next((each.path for each in context.templates if each.data.get("name") == largest), ("spec",))
    for found in size_findings(measured):
        yield Finding(found.code, found.message, path, found.severity, why=found.why, help=found.help)
