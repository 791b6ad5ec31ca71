"""What `ask` gives back: a workflow that is valid, or none, and all that there is to say of it."""

from __future__ import annotations

import msgspec

from couler_py.ir.model import Workflow


class Question(msgspec.Struct, frozen=True):
    """What the text leaves open and only its author knows. `default` is what `--yes` takes; "" where there is none.

    `about` is a word to know it by: data, metric, threshold, schedule, engine, items, …
    """

    text: str
    about: str = ""
    default: str = ""


class Flag(msgspec.Struct, frozen=True):
    """A part of the text that was not followed, as an instruction to leak or to run something."""

    text: str
    why: str


class Cost(msgspec.Struct, frozen=True):
    """What a draft took: tokens in both directions, calls of a model, seconds, US dollars (None: no price is known)."""

    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 0
    seconds: float = 0.0
    dollars: float | None = 0.0


class Draft(msgspec.Struct, frozen=True):
    """A workflow made of a description.

    `workflow` is IR that has no errors and compiles for this machine and for Argo, or None where the text doesn't
    say enough. `source` is it as Python. `questions` are open, `assumptions` were made, `unused` are the words that
    nothing was made of, `flags` what was refused, `commands` the shell commands that the text has, and `impossible`
    what was asked for and can't be. `explanation` says in plain words what it will do, `notes` what happened on the
    way, as a model that didn't answer.
    """

    text: str
    workflow: Workflow | None = None
    source: str = ""
    questions: tuple[Question, ...] = ()
    assumptions: tuple[str, ...] = ()
    cost: Cost = Cost()
    unused: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    impossible: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    explanation: str = ""
    engine: str = ""
    model: str = "offline"
    notes: tuple[str, ...] = ()

    def picture(self, form: str = "mermaid") -> str:
        """The workflow as a picture: "mermaid" text or "svg". Empty without a workflow.

        Raises `ValueError` for another form.
        """
        if form not in ("mermaid", "svg"):
            raise ValueError(f"a picture is 'mermaid' or 'svg', not {form!r}")
        if self.workflow is None:
            return ""
        from couler_py.report import graph

        scene = graph.scene(self.workflow)
        title = self.workflow.display or self.workflow.name
        return graph.mermaid(scene) if form == "mermaid" else graph.svg(scene, title=title)
