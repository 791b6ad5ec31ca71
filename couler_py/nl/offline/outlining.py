"""Steps as an outline: what each takes of which other, what it is asked to give, and the settings that it has."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from couler_py.nl import outline as o
from couler_py.nl.draft import Question
from couler_py.nl.offline import lexicon
from couler_py.nl.offline.built import Built, Condition
from couler_py.nl.offline.settings import Said, Settings
from couler_py.nl.offline.step import Step
from couler_py.nl.words import name_of

_MODELS = frozenset("train finetune".split())
_DATA = frozenset("load clean split features transform join aggregate embed".split())
_NEED_MODEL = frozenset("deploy register export predict evaluate select compare".split())


def outline(
    name: str,
    text: str,
    built: Built,
    settings: Settings,
    parameters: tuple[o.Parameter, ...],
    schedule: o.Schedule | None,
) -> o.Outline:
    """The outline of what was built."""
    steps = built.steps
    by_name = {step.name: step for step in steps}
    tasks = []
    for step in steps:
        tasks.append(_task(step, by_name, built))
    tasks = _with_parameters(tasks, parameters)
    blocks = dict(built.blocks)
    for block, condition in built.untils.items():
        blocks[block] = msgspec.structs.replace(blocks[block], until=(_condition(condition, by_name),))
    for name in built.untils:
        tasks, blocks = _guarded(name, tasks, blocks)
    run: dict[str, Any] = {}
    for said in settings.said:
        chosen = _chosen(said, steps, text)
        if said.what == "timeout" and said.scope == "run":
            run["deadline"] = said.value
        elif said.what == "parallel":
            inside = next(
                (
                    step.block
                    for step in [*chosen, *reversed(steps)]
                    if step.block in blocks and blocks[step.block].kind == "each"
                ),
                "",
            )
            if inside:
                blocks[inside] = msgspec.structs.replace(blocks[inside], parallel=said.value)
            else:
                run["parallelism"] = said.value
        else:
            names = {step.name for step in chosen}
            tasks = [_set(task, said) if task.name in names else task for task in tasks]
    return o.Outline(
        name,
        description=text[:2000],
        tasks=tuple(tasks),
        blocks=tuple(block for block in blocks.values() if any(task.inside == block.name for task in tasks)),
        parameters=parameters,
        schedule=schedule,
        notices=settings.notices,
        engine=settings.engine,
        parallelism=run.get("parallelism"),
        deadline=run.get("deadline"),
    )


def _task(step: Step, by_name: dict[str, Step], built: Built) -> o.Task:
    kind: o.Kind = "python"
    gives: o.Gives = step.gives
    if step.command:
        kind, gives = "shell", "nothing"
    elif step.role == "approve":
        kind, gives = "approval", "nothing"
    elif step.role == "wait" and step.wait:
        kind, gives = "wait", "nothing"
    elif step.role == "wait":
        kind, gives = "approval", "nothing"
    fields: tuple[str, ...] = ()
    if step.compared == "number":
        fields = tuple(dict.fromkeys(step.fields))[:8]
        if gives == "file":
            pass
        elif gives == "list" or len(fields) == 1:
            fields, gives = (), "number"
        else:
            gives = "value"
    elif step.compared in ("flag", "text"):
        gives = step.compared
    takes, after = _reads(step, by_name)
    return o.Task(
        step.name,
        kind,
        role=step.role if re.fullmatch(r"[a-z][a-z0-9_]*", step.role) else "",
        text=" ".join(step.text.split())[:2000],
        takes=tuple(takes),
        after=tuple(after),
        arguments=tuple(o.Argument(name_of(name, "value"), value) for name, value in step.arguments.items())[:40],
        gives=gives,
        fields=fields,
        inside=step.block,
        when=() if step.on_failure or step.always else tuple(_when(step, by_name, built))[:8],
        on_failure=tuple(step.on_failure),
        always=tuple(step.always),
        command=step.command,
        seconds=step.wait,
    )


def _when(step: Step, by_name: dict[str, Step], built: Built) -> list[o.Condition]:
    found = []
    for condition in step.conditions:
        giver = by_name[condition[0]]
        looped = giver.block and built.blocks[giver.block].kind == "loop"
        if giver.name == step.name or (giver.block and giver.block != step.block and not looped):
            built.questions.append(
                Question(
                    f"{giver.name} runs several times: for which of its results does {step.name} run?", "condition"
                )
            )
            continue
        found.append(_condition(condition, by_name))
    return found


def _condition(condition: Condition, by_name: dict[str, Step]) -> o.Condition:
    name, field, op, value = condition
    giver = by_name[name]
    alone = (len(dict.fromkeys(giver.fields)) == 1 and giver.gives != "file") or giver.gives == "list"
    return o.Condition(task=name, field="" if alone else field, op=op, value=value)


def _reads(step: Step, by_name: dict[str, Step]) -> tuple[list[str], list[str]]:
    takes, after = [], []
    for name in dict.fromkeys(step.after):
        giver = by_name[name]
        same = giver.conditions == step.conditions or not giver.conditions
        silent = giver.gives == "nothing" and not giver.compared
        if silent or not same or giver.command or giver.role in ("approve", "wait") or step.command:
            after.append(name)
        else:
            takes.append(name)
    for name, *_ in step.conditions:
        if name not in takes and name not in after and name != step.name:
            after.append(name)
    if step.role in _NEED_MODEL and not step.on_failure and not step.command:
        takes += _earlier(step, by_name, _MODELS, takes)
    if (
        step.role in ("evaluate", "predict", "train", "finetune", "tune")
        and not step.on_failure
        and not step.command
        and takes
    ):
        takes += _earlier(step, by_name, _DATA, takes)
    return takes, after


def _earlier(step: Step, by_name: dict[str, Step], roles: frozenset[str], takes: list[str]) -> list[str]:
    """The nearest step before of one of some roles, where none of these is read already."""
    if any(by_name[name].role in roles for name in takes):
        return []
    for name in _before(step, by_name):
        giver = by_name[name]
        if giver.role in roles and giver.gives == "file" and not giver.conditions and name not in takes:
            return [name]
    return []


def _before(step: Step, by_name: dict[str, Step]) -> list[str]:
    """Every step that one waits for, the nearest first."""
    found: dict[str, None] = {}
    left = list(step.after)
    while left:
        name = left.pop(0)
        if name not in found and name != step.name:
            found[name] = None
            left += by_name[name].after
    return list(found)


def _guarded(name: str, tasks: list[o.Task], blocks: dict[str, o.Block]) -> tuple[list[o.Task], dict[str, o.Block]]:
    """A condition that holds for all of a loop's tasks is one of the loop."""
    inner = [task for task in tasks if task.inside == name]
    common = inner[0].when if inner else ()
    if (
        not common
        or any(task.when != common for task in inner)
        or {each.task for each in common} & {t.name for t in inner}
    ):
        return tasks, blocks
    free = [msgspec.structs.replace(task, when=()) if task.inside == name else task for task in tasks]
    return free, {**blocks, name: msgspec.structs.replace(blocks[name], when=common)}


def _with_parameters(tasks: list[o.Task], parameters: tuple[o.Parameter, ...]) -> list[o.Task]:
    """Each parameter of the run is given to the step that it is for."""
    for parameter in parameters:
        name = parameter.name
        wanted: tuple[str, ...] = ("train", "finetune", "tune", "predict")
        if re.search(r"input|source|path|data|file|table|url|bucket|start|date", name):
            wanted = ("load", "clean", "transform", "train")
        if re.search(r"output|target|dest", name):
            wanted = ("export", "report", "deploy")
        python = [task for task in tasks if task.kind == "python"]
        spoken = [task for task in python if set(name.split("_")) & set(re.findall(r"[a-z]+", task.text.lower()))]
        chosen = next((task for role in wanted for task in python if task.role == role), None)
        chosen = chosen or next(iter(spoken), None) or next(iter(python), None)
        if chosen is None:
            continue
        given = tuple(argument for argument in chosen.arguments if argument.name != name)
        changed = msgspec.structs.replace(chosen, arguments=(*given, o.Argument(name, parameter=name)))
        tasks = [changed if task is chosen else task for task in tasks]
    return tasks


def _chosen(said: Said, steps: list[Step], text: str) -> list[Step]:
    """The steps that a setting is for."""
    if said.scope in ("all", "run") and said.what != "timeout":
        return steps
    if said.scope == "all":
        return steps
    if said.scope == "named" and said.name.startswith("#"):
        return steps[int(said.name[1:]) - 1 : int(said.name[1:])] or steps[-1:]
    if said.scope == "named":
        words = [_stem(word) for word in re.findall(r"[a-z]+", said.name) if word not in lexicon.FILLERS]
        found = [step for step in steps if any(word and _names(step, word) for word in words)]
        best = [step for step in found if all(_names(step, word) for word in words)]
        if best or found:
            return best or found
    around = [step for step in steps if step.start <= said.start <= step.end]
    before = around or [step for step in steps if step.start <= said.start]
    if not before:
        return steps[:1]
    if said.what == "image" and not around:
        behind = [step for step in steps if step.start > said.start]
        near = "." not in text[max(step.end for step in before) : said.start] or not behind
        return before[-1:] if near else behind[:1]
    last = max(before, key=lambda step: step.start)
    return [step for step in steps if step.start == last.start and step.sentence == last.sentence]


def _names(step: Step, stem: str) -> bool:
    words = {_stem(word) for word in (*step.words, step.lemma, step.role, *step.name.split("_"))}
    return stem in words


def _stem(word: str) -> str:
    found = lexicon.verb(word)
    if found is not None:
        return found[0] if found[0] in ("train", "evaluate") else re.sub(r"(?:e|s)$", "", found[1])
    return re.sub(r"(?:ations?|ions?|ings?|ed|es|s|e)$", "", word)


def _set(task: o.Task, said: Said) -> o.Task:
    match said.what:
        case "retry":
            return msgspec.structs.replace(task, retry=said.value) if task.kind not in ("wait", "approval") else task
        case "timeout":
            return msgspec.structs.replace(task, timeout=said.value) if task.kind not in ("wait", "approval") else task
        case "cache":
            return msgspec.structs.replace(task, cache=True) if task.kind == "python" else task
        case "image":
            return msgspec.structs.replace(task, image=said.value) if task.kind in ("python", "shell") else task
        case "resources":
            if task.kind in ("wait", "approval", "http"):
                return task
            old, new = task.resources, said.value
            return msgspec.structs.replace(
                task,
                resources=o.Resources(
                    new.cpu or old.cpu, new.memory or old.memory, new.disk or old.disk, new.gpu or old.gpu
                ),
            )
    return task
