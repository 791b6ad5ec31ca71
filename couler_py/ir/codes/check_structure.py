"""Diagnostic codes of the check: names, calls, edges, presence."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR201",
        "The workflow has no beginning",
        "A run starts at the entrypoint, which names one of the workflow's templates.",
        example='Workflow("w", entrypoint="mian", templates=(Template("main", ...),))',
        instead='Workflow("w", entrypoint="main", templates=(Template("main", ...),))',
    ),
    Code(
        "CLR202",
        "Two templates of one name",
        "Calls name the template that they mean, so a name belongs to one template. Templates with the same content "
        "may be written once and called often.",
        example='Template("train", Container("a")), Template("train", Container("b"))',
        instead='Template("train-a", Container("a")), Template("train-b", Container("b"))',
    ),
    Code(
        "CLR203",
        "A name that can't be one",
        "Names are letters and digits of any alphabet with -, _ and dots between them, at most 250 characters. Each "
        "engine makes its own legal form of them. Inputs of Python steps are Python names; the names of environment "
        "variables hold no `=`. Free text goes into a display name.",
        example='Task("load data!", "load")',
        instead='Task("load-data", "load", display="load data!")',
    ),
    Code(
        "CLR204",
        "Two steps of one name in a graph",
        "Edges and references name steps, so within one graph each step has its own name.",
        example='load(1).named("load"); load(2).named("load")',
        instead='load(1).named("load-1"); load(2).named("load-2")',
    ),
    Code(
        "CLR205",
        "Two things of one name",
        "Inputs (values and files together), outputs, workflow parameters, handlers, hooks, volumes and containers "
        "are named, each name once in its place.",
        example="def train(data, data): ...",
        instead="def train(data, labels): ...",
    ),
    Code(
        "CLR206",
        "A template is called that isn't there",
        "A step, a loop, a hook or a handler calls a template by name, and the workflow has none of that name.",
        example='Task("train", call="trian")',
        instead='Task("train", call="train")',
    ),
    Code(
        "CLR207",
        "A call that never ends",
        "A template that calls itself must do so under a condition, which can end it: `when`, a fan-out over a list "
        "that can be empty, or an edge that can skip the step. `loop` says the same more plainly, with a greatest "
        "number of iterations.",
        example="@couler.workflow\ndef flip():\n    coin()\n    flip()",
        instead="@couler.workflow\ndef flip():\n    side = coin()\n    couler.when(side == 'tails', lambda: flip())",
    ),
    Code(
        "CLR208",
        "A template that no run can call",
        "Neither the entrypoint nor a handler leads to it. It does no harm, and is probably not meant.",
    ),
    Code(
        "CLR209",
        "A graph without steps",
        "Engines refuse empty graphs. A branch that does nothing is left out.",
        example="@couler.workflow\ndef nothing(): ...",
        instead="@couler.workflow\ndef something():\n    step()",
    ),
    Code(
        "CLR217",
        "Groups that don't fit the steps",
        "In the form `steps` of a graph every step stands in exactly one group; in the form `dag` there are no groups.",
        example='Graph((Task("a", "t"), Task("b", "t")), form="steps", groups=(("a",),))',
        instead='Graph((Task("a", "t"), Task("b", "t")), form="steps", groups=(("a",), ("b",)))',
    ),
    Code(
        "CLR220",
        "A step is named that isn't there",
        "Edges, references, targets and the order of a set of containers name steps of the same graph.",
        example='Task("b", "t", after=(After("c"),))',
        instead='Task("b", "t", after=(After("a"),))',
    ),
    Code(
        "CLR230",
        "Steps that wait for each other",
        "No order runs them: each waits for one that waits for it. The message names the circle.",
        example="a.after(b); b.after(a)",
        instead="b.after(a)",
    ),
    Code(
        "CLR233",
        "`always` and something that could prevent it",
        "A step with an `always` edge runs whatever happens. So it has besides only `always` and order edges, no "
        "condition, and reads values by `or_else`. What is conditional goes inside it, as a graph of its own.",
        example="clean(data.path).after_always(train)",
        instead="clean(data.path.or_else('')).after_always(train)",
    ),
    Code(
        "CLR234",
        "A step that can never run",
        "An `on_failure` edge runs a step when another fails; an order or value edge to the same one asks that it "
        "doesn't fail. Reading a value by `or_else` is an order edge too. A step that failed has no outputs to read.",
        example="alert(train().score).on_failure(train)",
        instead="alert('training failed').on_failure(train)",
    ),
    Code(
        "CLR235",
        "A handler of what can't fail",
        "The step has an `on_failure` edge to one that always succeeds, so it is skipped in every run.",
    ),
    Code(
        "CLR240",
        "An output that can be absent",
        "Who reads the output of a graph that succeeded finds it. A source that can be skipped, or that can fail and "
        "be absolved by an `on_failure` step, needs a value to stand in: `.or_else(...)`, or `first(...)` over steps "
        "of which one surely succeeds, as both branches of one `when`. Only a graph that is mapped over items may do "
        "without: the item then counts as skipped.",
        example="r = couler.when(x > 1, lambda: big(x))\nreturn r",
        instead="r = couler.when(x > 1, lambda: big(x), otherwise=lambda: small(x))\nreturn r",
    ),
    Code(
        "CLR241",
        "first(...) of something that is no output",
        "`first` is one edge to several steps, and gives the first output that is there. Its options are outputs of "
        "steps; what always stands by is said with `.or_else`.",
        example="couler.first(a(), 0)",
        instead="couler.first(a(), b()).or_else(0)",
    ),
)
