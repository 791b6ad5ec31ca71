"""A plan and its details as an outline; and what a model may not say by itself taken out of it.

A command, an image, an address, who is told and a package stand in a draft only where they stand in the person's own
text, outside of what was flagged there. So a reply, whatever it holds, can bring nothing to run from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from couler_py.nl.draft import Flag
from couler_py.nl.lake.entries import Entry
from couler_py.nl.outline import Gives, Notice, Outline, Task
from couler_py.nl.pipeline.shapes import Detail, Module, Plan

_WELL_KNOWN = """
numpy pandas polars pyarrow scipy scikit-learn xgboost lightgbm catboost torch torchvision transformers datasets peft
accelerate evaluate tensorflow keras jax statsmodels prophet matplotlib seaborn plotly requests httpx sqlalchemy duckdb
pyspark dask boto3 s3fs gcsfs pillow opencv-python spacy nltk gensim faiss-cpu sentence-transformers mlflow optuna shap
great-expectations beautifulsoup4 openpyxl joblib fsspec
"""
PACKAGES = frozenset(_WELL_KNOWN.split())
"""Packages that a model may ask for unasked: well known, and called as they are on PyPI."""

_GIVES: dict[str, Gives] = {
    "Path": "file",
    "int": "number",
    "float": "number",
    "bool": "flag",
    "str": "text",
    "None": "nothing",
}


class Merged(msgspec.Struct, frozen=True):
    """An outline, and what was taken out of what the model said."""

    outline: Outline
    flags: tuple[Flag, ...] = ()


def merged(plan: Plan, details: Mapping[str, Detail], said: str, lake: Mapping[str, Entry] | None = None) -> Merged:
    """The outline of a plan. `said` is the person's text without its flagged parts.

    A step that uses one of the `lake` gives what that one gives.
    """
    guard = _Guard(said)
    tasks = tuple(
        _task(module, _giving(details.get(module.name, Detail(module.name)), lake or {}), guard)
        for module in plan.steps
    )
    outline = Outline(
        plan.name,
        tasks=_ordered(tasks),
        blocks=plan.blocks,
        parameters=plan.parameters,
        schedule=plan.schedule,
        notices=tuple(guard.notice(each) for each in plan.notices),
        engine=plan.engine,
        parallelism=plan.parallelism,
        deadline=plan.deadline or None,
        retries=plan.retries,
    )
    return Merged(outline, tuple(guard.flags))


def _ordered(tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """The tasks with a wait in the place of a value where the other one gives none."""
    silent = {task.name for task in tasks if task.gives == "nothing" or not _can_give(task)}
    return tuple(
        msgspec.structs.replace(
            task,
            takes=tuple(name for name in task.takes if name not in silent),
            after=tuple(dict.fromkeys((*task.after, *(name for name in task.takes if name in silent)))),
        )
        for task in tasks
    )


def _can_give(task: Task) -> bool:
    return task.kind == "python" or (task.kind in ("shell", "container") and task.gives in ("number", "flag", "text"))


def _giving(detail: Detail, lake: Mapping[str, Entry]) -> Detail:
    entry = lake.get(detail.uses)
    if entry is None or not entry.pieces or detail.kind != "python":
        return detail
    annotation = entry.signature.rpartition(" -> ")[2] if " -> " in entry.signature else "None"
    gives: Gives = "list" if annotation.startswith("list") else _GIVES.get(annotation, "value")
    return msgspec.structs.replace(detail, gives=gives, fields=())


def _task(module: Module, detail: Detail, guard: _Guard) -> Task:
    command = guard.own(detail.command, "a command that the text doesn't have")
    image = guard.own(detail.image, "an image that the text doesn't name")
    url = guard.own(detail.url, "an address that the text doesn't have")
    lacks = (
        (detail.kind == "shell" and not command)
        or (detail.kind == "container" and not image)
        or (detail.kind == "http" and not url)
        or (detail.kind == "wait" and not detail.seconds)
    )
    return Task(
        module.name,
        kind="python" if lacks else detail.kind,
        role=module.role,
        text=module.does,
        takes=module.takes,
        after=module.after,
        arguments=detail.arguments,
        gives=detail.gives,
        fields=detail.fields,
        inside=module.inside,
        when=detail.when,
        on_failure=detail.on_failure,
        always=detail.always,
        command=command,
        image=image,
        url=url,
        method=detail.method,
        seconds=detail.seconds,
        packages=tuple(each for each in detail.packages if guard.package(each)),
        retry=detail.retry,
        timeout=detail.timeout,
        cache=detail.cache,
        resources=detail.resources,
    )


class _Guard:
    def __init__(self, said: str):
        self._said = _plain(said)
        self.flags: list[Flag] = []

    def own(self, value: str, what: str) -> str:
        """A value that the text has, else nothing, with a flag."""
        if not value.strip():
            return ""
        if self._has(value):
            return value
        self.flags.append(Flag(value[:200], f"the model wrote {what}; it was left out"))
        return ""

    def package(self, value: str) -> bool:
        name = re.split(r"[^A-Za-z0-9._-]", value.strip(), maxsplit=1)[0].lower().replace("_", "-")
        if re.fullmatch(r"[A-Za-z0-9._-]+(\[[a-z0-9,_-]+\])?([<>=!~]=?[0-9][0-9A-Za-z.*,<>=!~]*)?", value.strip()) and (
            name in PACKAGES or self._has(name)
        ):
            return True
        self.flags.append(Flag(value[:200], "the model asked for a package that is neither well known nor in the text"))
        return False

    def notice(self, notice: Notice) -> Notice:
        target = self.own(notice.target, "whom to tell, and the text doesn't name them")
        return msgspec.structs.replace(notice, target=target)

    def _has(self, value: str) -> bool:
        wanted = _plain(value)
        return bool(wanted) and re.search(rf"(?<![^\s\"'`(\[,:;<]){re.escape(wanted)}(?![\w/])", self._said) is not None


def _plain(text: str) -> str:
    return " ".join(text.split()).lower()
