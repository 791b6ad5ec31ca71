"""What is named must be there: entrypoint, exit handler, hooks, templates of calls; each named in one way."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import Call, Flow, Template

MOST_COMPARED = 50  # names that a word is compared with letter by letter


def nearest(word: str, known: Iterable[str]) -> str:
    """A sentence that offers the known word that is most like this one, or lists a few; "" where none is known."""
    names = [each for each in known if each]
    if close := difflib.get_close_matches(word, _alike(word, names), 1):
        return f"did you mean {close[0]!r}?"
    return f"there are: {', '.join(names[:8])}" + (", …" if len(names) > 8 else "") if names else ""


def _alike(word: str, names: list[str]) -> list[str]:
    """Those that may be meant: to compare a word with each of thousands would take longer than all other rules."""
    if len(names) <= MOST_COMPARED:
        return names
    return [name for name in names if name[:2] == word[:2] and abs(len(name) - len(word)) <= 2][:MOST_COMPARED]


def entrypoint(flow: Flow) -> Iterator[Finding]:
    """A workflow has an entrypoint, and it is one of its templates; of a library it need not have one."""
    name = flow.spec.get("entrypoint", "")
    names = (
        [*flow.by_name]
        if not flow.refers
        else [each.get("name", "") for each in (flow.referred or {}).get("templates", ())]
    )
    if not name:
        if not flow.is_library and not (flow.refers and (flow.referred is None or flow.referred.get("entrypoint"))):
            yield Finding(
                "CLR440",
                "the workflow has no entrypoint",
                flow.path,
                on="key",
                why="a run starts at the template that `entrypoint` names",
                help=f"add `entrypoint: {names[0]}`" if any(names[:1]) else "add `entrypoint`",
            )
    elif name not in names and not (flow.refers and flow.referred is None):
        yield Finding(
            "CLR440",
            f"the entrypoint {name!r} is none of the templates",
            (*flow.path, "entrypoint"),
            why="a run starts at the template that `entrypoint` names",
            help=nearest(name, names),
        )
    handler = flow.spec.get("onExit", "")
    if handler and handler not in names and not (flow.refers and flow.referred is None):
        yield Finding(
            "CLR441",
            f"the exit handler {handler!r} is none of the templates",
            (*flow.path, "onExit"),
            why="Argo looks every template up before it starts a run",
            help=nearest(handler, names),
        )


def called(flow: Flow) -> Iterator[Finding]:
    """Every step, task and hook names a template in exactly one way, and it is there."""
    for template in flow.all_templates:
        for call in template.calls:
            yield from _holder(flow, call.path, call.data, call.where)
            yield from _handler(flow, call)
    for path, name, hook, of in flow.hooks:
        owner = "the workflow" if of is None else of.where
        if hook.get("templateRef") is None and of is None and flow.refers:
            continue  # a name of the referenced WorkflowTemplate
        yield from _holder(flow, path, hook, f"the hook {name!r} of {owner}", hook=True)


def _handler(flow: Flow, call: Call) -> Iterator[Finding]:
    """`onExit` of a step or task, the older way to say its hook `exit`."""
    name = call.data.get("onExit", "")
    if name and name not in flow.by_name and "exit" not in call.data.get("hooks", {}):
        yield Finding(
            "CLR441",
            f"the exit handler {name!r} of {call.where} is none of the templates",
            (*call.path, "onExit"),
            why="the server doesn't look, and the run ends in Error when the call has ended",
            help=nearest(name, flow.by_name),
        )


def _holder(flow: Flow, path: Path, holder: JSON, where: str, *, hook: bool = False) -> Iterator[Finding]:
    name = holder.get("template", "")
    reference = holder.get("templateRef")
    inline = holder.get("inline")
    if not name and reference is None and inline is None:
        yield Finding(
            "CLR444",
            f"{where} names no template",
            path,
            why="it would have nothing to run",
            help="give it `template`, `templateRef`" + ("" if hook else " or `inline`"),
        )
    elif name and reference is not None:
        yield Finding(
            "CLR444",
            f"{where} has both `template` and `templateRef`",
            (*path, "templateRef"),
            on="key",
            why="Argo refuses it: there is no rule which of them counts",
            help="keep one of them",
        )
    elif inline is not None and (name or reference is not None):
        other = "template" if name else "templateRef"
        yield Finding(
            "CLR444",
            f"{where} has both `inline` and `{other}`",
            (*path, other),
            on="key",
            severity="error" if _unknown(flow, name, reference) else "warning",
            why="the inline template runs and the other one doesn't",
            help="keep one of them",
        )
    elif name and name not in flow.by_name:
        yield Finding(
            "CLR441",
            f"{where} calls the template {name!r}, which isn't defined",
            (*path, "template"),
            why="Argo puts no values into the names of templates" if "{{" in name else "",
            help=nearest(name, flow.by_name),
        )
    elif reference is not None:
        yield from _reference(flow, (*path, "templateRef"), reference, where)


def _unknown(flow: Flow, name: str, reference: JSON | None) -> bool:
    return bool(name) and name not in flow.by_name


def _reference(flow: Flow, path: Path, reference: JSON, where: str) -> Iterator[Finding]:
    name, template = reference.get("name", ""), reference.get("template", "")
    for key in ("name", "template"):
        if not reference.get(key):
            yield Finding(
                "CLR445",
                f"the templateRef of {where} has no `{key}`",
                path,
                why="it names an object, and a template in it",
                help=f"add `{key}`",
            )
            return
    if "{{" in name or "{{" in template:
        return
    spec = flow.context.known.referenced(reference)
    kind = "ClusterWorkflowTemplate" if reference.get("clusterScope") is True else "WorkflowTemplate"
    if spec is None:
        yield Finding(
            "CLR445",
            f"the {kind} {name!r} that {where} refers to isn't among the documents",
            (*path, "name"),
            severity="note",
            why="what it takes and gives can't be checked",
            help="give its file too, as `--cluster-templates FILE` or beside this one",
        )
        return
    names = [each.get("name", "") for each in spec.get("templates", ())]
    if template not in names:
        yield Finding(
            "CLR445",
            f"the {kind} {name!r} has no template {template!r}, to which {where} refers",
            (*path, "template"),
            help=nearest(template, names),
        )


def one_type(flow: Flow) -> Iterator[Finding]:
    """A template is some kind of thing; that it isn't two is a rule of the schema."""
    for template in flow.all_templates:
        if not template.types:
            yield Finding(
                "CLR442",
                f"{template.where} says nothing of what it runs",
                template.path,
                why="a template is one of " + ", ".join(f"`{each}`" for each in TYPES_IN_WORDS),
                help="add one of them",
            )
        plugin = template.data.get("plugin")
        if plugin is not None and len(plugin) != 1:
            yield Finding(
                "CLR442",
                f"the plugin of {template.where} has {len(plugin)} names",
                (*template.path, "plugin"),
                why="Argo wants the name of one plugin, with what it takes below",
                help="write plugin: {NAME: {…}}",
            )


TYPES_IN_WORDS = (
    "container",
    "script",
    "steps",
    "dag",
    "resource",
    "suspend",
    "containerSet",
    "http",
    "data",
    "plugin",
)


def beside_reference(flow: Flow) -> Iterator[Finding]:
    """Beside `workflowTemplateRef` a workflow has no templates of its own; the object is known or noted."""
    if not flow.refers:
        return
    reference = flow.spec["workflowTemplateRef"]
    path = (*flow.path, "workflowTemplateRef")
    if flow.templates:
        yield Finding(
            "CLR446",
            "a workflow with `workflowTemplateRef` has no templates of its own",
            (*flow.path, "templates"),
            on="key",
            why="all of its templates are those of the object that it refers to",
            help="put them into the referenced object, or call its templates with `templateRef`",
            related=(("the reference", path),),
        )
    if flow.referred is None and reference.get("name"):
        kind = "ClusterWorkflowTemplate" if reference.get("clusterScope") is True else "WorkflowTemplate"
        yield Finding(
            "CLR445",
            f"the {kind} {reference['name']!r} isn't among the documents",
            (*path, "name"),
            severity="note",
            why="what it takes and gives can't be checked",
            help="give its file too, as `--cluster-templates FILE` or beside this one",
        )


def endless(flow: Flow) -> Iterator[Finding]:
    """Templates that call each other in a ring without any condition never come to an end."""
    state: dict[int, int] = {}
    for start in flow.templates:
        stack: list[tuple[Template, Iterator[Template]]] = []
        if id(start) not in state:
            stack.append((start, _always(start)))
            state[id(start)] = 1
        while stack:
            template, callees = stack[-1]
            callee = next(callees, None)
            if callee is None:
                state[id(template)] = 2
                stack.pop()
            elif id(callee) not in state:
                state[id(callee)] = 1
                stack.append((callee, _always(callee)))
            elif state[id(callee)] == 1:
                ring = [each.name for each, _ in stack]
                ring = [*ring[ring.index(callee.name) :], callee.name]
                call = next(each for each in template.calls if each.target is callee)
                yield Finding(
                    "CLR447",
                    f"templates call each other without an end: {' -> '.join(ring)}",
                    call.path,
                    severity="warning",
                    why="no `when` on the way can stop it, and Argo ends a run at 100 levels of calls",
                    help="put a `when` on one of the calls",
                )


def _always(template: Template) -> Iterator[Template]:
    """The templates that a run of this one calls whatever the values are."""
    for call in template.calls:
        conditional = call.data.get("when") or call.data.get("withParam") or call.data.get("withSequence")
        if call.target is not None and not conditional and not call.target.foreign and "depends" not in call.data:
            yield call.target


def unreachable(flow: Flow) -> Iterator[Finding]:
    """A template that no run can reach is a mistake or a leftover."""
    if flow.is_library or flow.refers or flow.entry is None:
        return
    if any("{{" in call.data.get("template", "") for each in flow.all_templates for call in each.calls):
        return
    for template in flow.templates:
        if id(template) not in flow.reachable and template.name:
            yield Finding(
                "CLR448",
                f"nothing calls the template {template.name!r}",
                template.path,
                severity="warning",
                why="no way leads to it from the entrypoint, the exit handler or a hook",
                help="call it, or take it out",
            )
