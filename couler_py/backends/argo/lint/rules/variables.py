"""Every tag can be filled in where it stands."""

from __future__ import annotations

from couler_py.backends.argo.lint.rules.flow import Call, Flow, Template
from couler_py.backends.argo.lint.rules.graph import Ancestry
from couler_py.backends.argo.lint.rules.names_in_scope import OURS, TIMES, WorkflowNames, of_template
from couler_py.backends.argo.lint.rules.references import nearest
from couler_py.backends.argo.lint.rules.use import RETRY, Place, Unresolved, items_of


class Names:
    """What can be used where, over one document; the tables are made once."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._workflow = WorkflowNames(flow)
        self._local: dict[int, frozenset[str]] = {}
        self._ancestry: dict[int, Ancestry] = {}

    def problem(self, name: str, place: Place) -> Unresolved | None:
        """Why this name can't be filled in at this place; None where it can, or isn't a name of Argo's."""
        root = name.split(".", 1)[0]
        if root == "inputs":
            return self._input(name, place)
        if root in ("steps", "tasks") and "." in name:
            return self._call(root, name, place)
        if root == "item":
            return self._item(name, place)
        if root == "workflow" and "." in name:
            return self._of_workflow(name, place)
        if root == "pod" and "." in name:
            return self._pod(name, place)
        if root == "outputs":
            return self._own_output(name, place)
        if name in RETRY:
            return self._retry(name, place)
        return None

    def local(self, template: Template) -> frozenset[str]:
        """The names that the template itself gives."""
        if id(template) not in self._local:
            self._local[id(template)] = of_template(template)
        return self._local[id(template)]

    def _input(self, name: str, place: Place) -> Unresolved | None:
        local = self.local(place.template)
        if name in local or name == "inputs":
            return None
        inline = place.call.target if place.call is not None and "inline" in place.call.data else None
        if inline is not None and name in {f"inputs.parameters.{each}" for each in inline.parameters}:
            if place.call is None or not place.call.loops:
                return None
            return Unresolved(
                "CLR467",
                f"the inline template of {place.call.where}, which is a loop, reads its own {name!r}",
                why="the tags of a loop are filled in before the template has its inputs: the call ends in Error",
                help="make it a template with a name",
            )
        what = name.split(".")[1] if name.count(".") > 1 else "parameters"
        return Unresolved(
            "CLR467",
            f"{place.template.where} has no {name!r}",
            why="inputs are those that the template itself declares",
            help=nearest(name, [each for each in local if each.startswith("inputs.")])
            or f"declare it under `inputs.{what}`",
        )

    def _pod(self, name: str, place: Place) -> Unresolved | None:
        if name in self.local(place.template):
            return None
        return Unresolved(
            "CLR467",
            f"{place.template.where} has no {name!r}",
            why="only templates that are pods have `pod.name`, and nothing else of a pod can be read",
            help="use it in the template of the pod, or `node.name`",
        )

    def _own_output(self, name: str, place: Place) -> Unresolved | None:
        template = place.template
        parts = name.split(".")
        if len(parts) == 4 and parts[3] == "path" and parts[1] in ("artifacts", "parameters"):
            declared = template.output_artifacts if parts[1] == "artifacts" else template.output_parameters
            if parts[2] not in declared and template.path:
                return Unresolved(
                    "CLR468",
                    f"{template.where} has no {name!r}",
                    "warning",
                    why="the text stays as it is written",
                    help=nearest(parts[2], declared) or f"declare it under `outputs.{parts[1]}`",
                )
        return None

    def _retry(self, name: str, place: Place) -> Unresolved | None:
        flow = self._flow
        sources = (place.template.data, flow.spec, flow.spec.get("templateDefaults", {}))
        if any(each.get("retryStrategy") is not None for each in sources):
            return None
        return Unresolved(
            "CLR468",
            f"{{{{{name}}}}} isn't filled in: {place.template.where} is never tried again",
            "warning",
            why="the text stays as it is written where there is no `retryStrategy`",
            help="add `retryStrategy`, or take the tag out",
        )

    def _of_workflow(self, name: str, place: Place) -> Unresolved | None:
        if self._workflow.has(name, place.template, place.call):
            rest = name.removeprefix("workflow.creationTimestamp.")
            if rest != name and rest not in TIMES and rest != "s":
                return Unresolved(
                    "CLR468",
                    f"there is no {name!r}",
                    "warning",
                    why="after `workflow.creationTimestamp.` stands one letter of strftime, `s` or `RFC3339`",
                    help="choose one of these",
                )
            return None
        if name.startswith((f"workflow.labels.{OURS}", f"workflow.annotations.{OURS}")):
            return Unresolved(
                "CLR467",
                f"{name!r} is there only if the server writes it",
                "warning",
                why="Argo refuses the workflow where it doesn't",
                help="give the label yourself",
            )
        if name == "workflow.failures":
            return Unresolved(
                "CLR467",
                "'workflow.failures' is known only in the exit handler",
                why="what failed is known when the run has ended: in the template of `onExit` and those it calls",
                help="use it there",
            )
        if name.startswith("workflow.outputs."):
            return Unresolved(
                "CLR467",
                f"{name!r} isn't known here",
                why="it needs an output with this `globalName`, of a template that runs before",
                help=nearest(name, self._workflow.known),
            )
        return Unresolved(
            "CLR467",
            f"there is no {name!r}",
            why="the workflow doesn't have it",
            help=nearest(name, self._workflow.known),
        )

    def _item(self, name: str, place: Place) -> Unresolved | None:
        call = place.call
        keys = items_of(call.data) if call is not None else frozenset()
        if keys is None or name in keys or (name == "item" and keys):
            return None
        if keys:
            return Unresolved(
                "CLR467",
                f"the items of {call.where if call else ''} have no {name.removeprefix('item.')!r}",
                why="an item is a single value" if keys == {"item"} else "the items are mappings with other keys",
                help=nearest(name, keys),
            )
        leaked = call is not None and place.template.type == "steps" and self._leaked(name, call)
        return Unresolved(
            "CLR467" if "." in name and not leaked else "CLR468",
            f"{{{{{name}}}}} stands outside of a loop",
            "error" if "." in name and not leaked else "warning",
            why="items are those of the step or task itself; templates take theirs as inputs"
            + ("" if "." in name and not leaked else ": the text stays as it is written"),
            help="give it as an argument where the loop is" if call is None else "add `withItems` or `withParam`",
        )

    def _leaked(self, name: str, call: Call) -> bool:
        """Argo's check forgets that the items of a step are none of the steps after it."""
        earlier = [each for each in call.owner.calls if each.index < call.index]
        return any((keys := items_of(each.data)) is None or name in keys for each in earlier)

    def _call(self, root: str, name: str, place: Place) -> Unresolved | None:
        template = place.template
        if name.startswith(("steps.name", "tasks.name")):
            return None
        wanted = {"steps": "steps", "dag": "tasks"}.get(template.type)
        if wanted != root:
            return self._no_calls(root, name, template, wanted)
        other_name, _, rest = name[len(root) + 1 :].partition(".")
        other = template.by_name.get(other_name)
        word = root[:-1]
        if other is None:
            return Unresolved(
                "CLR467",
                f"{template.where} has no {word} {other_name!r}",
                why=f"a tag reads the {root} of the template that it stands in",
                help=nearest(other_name, template.by_name),
            )
        if place.call is not None and (found := self._order(other, rest, place.call, place)) is not None:
            return found
        return self._offered(other, rest, place, word)

    def _no_calls(self, root: str, name: str, template: Template, wanted: str | None) -> Unresolved:
        other = name.split(".")[1] if wanted else ""
        return Unresolved(
            "CLR467",
            f"{template.where} has no {root}: {name!r} can't be read",
            why=f"the template is a `{template.type}`, whose parts are called `{wanted}`"
            if wanted
            else "a template reads what others gave through its inputs",
            help=f"write {wanted}.{name.split('.', 1)[1]}"
            if wanted and other in template.by_name
            else "give it as an argument, and read the input",
        )

    def _order(self, other: Call, rest: str, call: Call, place: Place) -> Unresolved | None:
        """Whether the other call comes before this one, whose tag it is."""
        if other is call:
            return self._own(other, rest, place)
        if call.owner.type == "steps":
            if other.group < call.group or (place.in_hook and other.group == call.group and other.index < call.index):
                return None
            together = other.group == call.group
            return Unresolved(
                "CLR464",
                f"{call.where} reads the step {other.name!r}, which runs "
                + ("at the same time" if together else "after it"),
                why="the run would wait for it for ever" if together else "a step can read only what ran before it",
                help="put it into a group of its own after that step" if together else "move it behind that step",
            )
        if self._ancestors(call.owner).before(call, other.name):
            return None
        return Unresolved(
            "CLR464",
            f"{call.where} reads the task {other.name!r} and doesn't wait for it",
            why="the run would wait for ever: only what comes before by `depends` or `dependencies` can be read",
            help=f"make it depend on {other.name!r}",
        )

    def _own(self, call: Call, rest: str, place: Place) -> Unresolved | None:
        if place.in_hook and call.loops and not place.in_expression:
            return Unresolved(
                "CLR464",
                f"a hook of {call.where}, which is a loop, reads its {rest!r}",
                why="the tags of a loop are filled in before it begins, and the call ends in Error",
                help="let the hook's template read what it needs, or put the call into a template of its own",
            )
        if place.in_hook:
            hooks = call.data.get("hooks", {})
            if rest == "status" or call.owner.type == "dag" or "exit" in hooks:
                return None
            return Unresolved(
                "CLR464",
                f"a hook of {call.where} reads its {rest!r}",
                why="of the own step, hooks can read `status`, and everything only where one of them is `exit`",
                help="name the hook `exit`, or let a step after it do the work",
            )
        return Unresolved(
            "CLR464",
            f"{call.where} reads itself",
            why="its values are there when it has ended; only its hooks can read them",
            help="read another one",
        )

    def _ancestors(self, template: Template) -> Ancestry:
        if id(template) not in self._ancestry:
            self._ancestry[id(template)] = Ancestry(template)
        return self._ancestry[id(template)]

    def _offered(self, other: Call, rest: str, place: Place, word: str) -> Unresolved | None:
        target = other.target
        if target is None or rest in target.offers:
            return None
        if rest == "status":
            if word == "step" or place.call is not None or place.in_expression or other.data.get("hooks"):
                return None
            return Unresolved(
                "CLR467",
                f"outputs can't read the status of the task {other.name!r}",
                why="of tasks they read outputs, `id` and times",
                help="let a task that depends on it write the output",
            )
        if rest == "outputs.parameters" and other.gathers:
            return None
        if other.gathers and target.type in ("script", "containerSet") and rest in ("outputs.result", "exitCode"):
            return None
        return Unresolved(
            "CLR467",
            f"the {word} {other.name!r} has no {rest!r}" if rest else f"what of the {word} {other.name!r}?",
            why=f"{target.where} doesn't give it",
            help=nearest(rest, sorted(target.offers | {"status"})),
        )
