"""Conditions on steps: which step gives what is compared, and what runs where it does not hold."""

from __future__ import annotations

import re

from couler_py.nl.draft import Question
from couler_py.nl.offline import conditions as c
from couler_py.nl.offline import lexicon
from couler_py.nl.offline.built import Building, Condition
from couler_py.nl.offline.clauses import Clause
from couler_py.nl.offline.step import Step
from couler_py.nl.words import name_of

_MODELS = ("train", "finetune", "tune", "predict")
ELSE = re.compile(
    r"^(?:(?:and |but |or )?(?:anything (?:lower|higher|below|above|less|more|else|worse|better)(?: means)?(?: to)?|below that|above that|if that fails to be so|otherwise|else|if not|if it (?:does not|doesn't|isn't|is not)|in the other case|sonst|ansonsten|wenn nicht|si no|de lo contrario|sinon|altrimenti|se no|caso contrário|senão|anders|zo niet|w przeciwnym razie|inaczej|иначе|в противном случае|annars|aksi halde|değilse)\b|否则|否則|さもなければ|そうでなければ|それ以外|아니면|그렇지 않으면)[\s,]*"
)


def begin(state: Building, clause: c.Clause, said: Clause) -> None:
    """A condition that holds for what follows in its sentence."""
    step = giver_of(state, clause)
    state.last = clause
    if step is None and clause.kind == "number" and clause.field:
        step = _measured(state, clause, said)
    if clause.kind in ("passed", "failed"):
        step = _checked(state, clause, said, step) or step
    if step is None:
        state.built.questions.append(
            Question(
                f"Which step says whether \u201c{state.script.text[clause.start : clause.end].strip()}\u201d?",
                "condition",
            )
        )
        return
    state.last_on = step.name
    other = any(each[0] == step.name for one in state.built.steps for each in one.conditions) and not state.condition
    state.branches = [name for name in state.frontier if name != step.name] if other else []
    if other:  # "if it is above 0.9 …; if it is above 0.8 …": one beside the other
        state.frontier = [step.name]
    state.entry = list(state.frontier)
    if clause.kind == "failed":
        state.failed = [step.name]
        return
    if clause.kind == "passed":
        state.condition = []
        return
    found = compared(state, clause, step)
    nested = state.condition and state.condition[0][:2] != found[0][:2] and not opens(state)
    state.condition = [*state.condition, *found] if nested else found


def _measured(state: Building, clause: c.Clause, said: Clause | None) -> Step:
    """The step that a condition at the very beginning needs, which no other says: it measures what is compared."""
    step = Step(
        state.free(name_of(f"measure_{clause.field}", "measure")),
        "evaluate",
        "measure",
        f"measure {clause.subject.strip()}",
        0,
        0,
        said.sentence if said is not None else 0,
        frozenset(clause.subject.split()),
        gives="number",
        arguments={},
        after=[],
        conditions=[],
        fields=[],
        on_failure=[],
    )
    state.built.steps.append(step)
    state.frontier = [step.name]
    state.built.assumptions.append(f"{step.name} comes first: the text compares it and names no step that gives it")
    return step


def _checked(state: Building, clause: c.Clause, said: Clause, giver: Step | None) -> Step | None:
    """The tests of which a text says only what is done when they pass: a step runs them. None where there are some."""
    words = re.findall(
        r"[a-z]+",
        re.sub(r"\b(?:pass|fail|succeed|work|are|is|all|the|have|has|been|do|does|not)\w*\b", " ", clause.subject),
    )
    if not words or not re.fullmatch(r"tests?|checks?|validation|lint(?:er)?|scan|review", words[-1]):
        return None
    if giver is not None and {_stem(word) for word in words} & {_stem(word) for word in (*giver.words, giver.lemma)}:
        return None
    if any(step.role in ("test", "validate") for step in state.built.steps):
        return None
    found = Step(
        state.free(name_of("_".join(words))), "test", "test", f"run the {' '.join(words)}", 0, 0, said.sentence,
        frozenset(words), gives="nothing", arguments={}, after=list(state.frontier), conditions=[], fields=[],
        on_failure=[],
    )  # fmt: skip
    state.built.steps.append(found)
    state.frontier = [found.name]
    return found


def otherwise(state: Building) -> None:
    """What is done where the last condition doesn't hold."""
    if state.last is None or not state.last_on:
        return
    step = state.step(state.last_on)
    ends = [name for name in state.frontier if name not in state.entry]
    if state.last.kind == "passed":
        state.branches += ends
        state.failed = [step.name]
        state.condition = []
        return
    if state.last.kind == "failed":
        state.failed = []
        state.frontier = list(state.entry)
        return
    state.branches += ends
    around, last = _innermost(state.condition) if state.condition else ([], compare(state, state.last, step))
    name, field, op, value = last
    state.condition = [*around, (name, field, c.OPPOSITE[op], value)]
    state.frontier = list(state.entry) if state.entry else [step.name]


def _innermost(conditions: list[Condition]) -> tuple[list[Condition], Condition]:
    """The last condition that was said, and those around it. Of a range it is the lower end."""
    first = next(at for at, each in enumerate(conditions) if each[:2] == conditions[-1][:2])
    return conditions[:first], conditions[first]


def compared(state: Building, clause: c.Clause, step: Step) -> list[Condition]:
    """The conditions over what a step gives: one, or two where a range is said."""
    found = compare(state, clause, step)
    if clause.upper is None:
        return [found]
    return [found, (found[0], found[1], "<=", clause.upper)]


def opens(state: Building) -> bool:
    """Whether no step of this sentence has the condition at hand yet."""
    return not any(step.conditions == state.condition for step in state.built.steps if step.sentence == state.sentence)


def branch_on(state: Building, step: Step) -> None:
    """Let a step that nothing else leads to wait for what its condition reads."""
    giver = state.condition[0][0]
    if not step.after:
        step.after = [giver]


def guard(state: Building, step: Step, clause: c.Clause) -> None:
    """Give a step the condition that its own clause ends with."""
    among = [each for each in state.built.steps if each is not step and each.name != step.name]
    giver = giver_of(state, clause, among)
    state.last = clause
    if giver is None and clause.field and clause.kind == "number":
        giver = _measured(state, clause, None)
        state.built.steps.insert(0, state.built.steps.pop())
        step.after = [giver.name]
    if giver is None:
        said = state.script.text[clause.start : clause.end].strip()
        state.built.questions.append(
            Question(f"Which step says so, and from which value on (threshold): \u201c{said}\u201d?", "condition")
        )
        return
    state.last_on = giver.name
    state.entry = list(step.after) or [giver.name]
    if clause.kind == "passed":
        return
    if clause.kind == "failed":
        step.on_failure, step.after = [giver.name], []
        state.frontier = list(state.entry)
        return
    step.conditions += compared(state, clause, giver)
    state.condition = []


def giver_of(state: Building, clause: c.Clause, among: list[Step] | None = None) -> Step | None:
    """The step that gives what a condition reads; of what runs for each item, the one that gathers it, where there is one."""
    found = _giver(state, clause, among)
    if found is None or state.block or not found.block or state.built.blocks[found.block].kind != "each":
        return found
    steps = state.built.steps if among is None else among
    behind = steps[steps.index(found) + 1 :] if found in steps else []
    return next(
        (step for step in behind if not step.block and step.role in ("select", "compare", "join", "aggregate")), found
    )


def _giver(state: Building, clause: c.Clause, among: list[Step] | None) -> Step | None:
    steps = [step for step in (state.built.steps if among is None else among) if not step.on_failure]
    if not steps:
        return None
    words = {_stem(word) for word in re.findall(r"[a-z]{4,}", clause.subject)} - {
        _stem(word) for word in ("the", "model", "score", "new", "one", "test", "number")
    }
    current = set(state.branches) | {
        step.name for step in steps if state.condition and step.conditions and step.conditions == state.condition
    }
    steps = [step for step in steps if step.name not in current] or steps
    verbs = [verb for word in re.findall(r"[a-z-]{4,}", clause.subject) if (verb := lexicon.verb(word)) is not None]
    if clause.kind in ("passed", "failed"):
        for step in reversed(steps):
            if any(step.lemma == verb[1] or (step.role == verb[0] and step.role in lexicon.LIFE) for verb in verbs):
                return step
    for step in reversed(steps):
        if words & {_stem(word) for word in (*step.words, step.lemma)} and step.gives != "nothing":
            return step
    named = [step for step in reversed(steps) if words & {_stem(word) for word in (*step.words, step.lemma)}]
    if named and clause.kind in ("number", "passed", "failed"):
        return named[0]
    if clause.kind in ("passed", "failed", "text"):
        return steps[-1]
    of_model = clause.kind == "number" and re.fullmatch(lexicon.METRICS, clause.field.replace("_", " ")) is not None
    roles = ("evaluate", "compare", "test", *_MODELS) if of_model else ("evaluate", "validate", "compare", "test")
    for step in reversed(steps):
        if step.role in roles:
            return step
    for step in reversed(steps):
        if lexicon.is_score(step.role):
            return step
    return steps[-1]


def compare(state: Building, clause: c.Clause, step: Step) -> Condition:
    """The condition over what a step gives, which is made to give it."""
    if clause.kind == "number":
        field = clause.field or "score"
        if field in ("score", "it") and step.fields:
            field = step.fields[-1]
        if step.compared == "flag" or (step.compared == "text"):
            step.compared = "number"
        step.compared = "number"
        if field not in step.fields:
            step.fields.append(field)
        return (step.name, field, clause.op, clause.value)
    if clause.kind == "text":
        step.compared = "text"
        return (step.name, "", clause.op, clause.value)
    if clause.kind == "open":
        said = state.script.text[clause.start : clause.end].strip()
        state.built.questions.append(
            Question(f"What is the threshold: from which value on is it good enough (\u201c{said}\u201d)?", "threshold")
        )
        state.built.assumptions.append(
            f"{step.name} itself decides whether the result is good enough: the text names no threshold"
        )
    if step.compared is None:
        step.compared = "flag"
    elif step.compared == "number":
        field = step.fields[0]
        return (step.name, field, ">", 0)
    return (step.name, "", "!=" if clause.op == "!=" else "==", True)


def _stem(word: str) -> str:
    return re.sub(r"(?:ation|ion|ing|ed|es|s|e)$", "", word)
