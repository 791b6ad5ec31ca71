"""Diagnostic codes of the area: recording a workflow (calls, values, control flow)."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR140",
        "Two different steps have one name",
        "A template's name stands for one content in a workflow. Two functions of the same name that differ can't "
        "both have it. The same function, called often, is one template.",
        "# a.py and b.py both define `train`\nfrom a import train\nfrom b import train as train_b\ntrain(); train_b()",
        '@couler.step(name="train-b")\ndef train(): ...',
    ),
    Code(
        "CLR141",
        "Two calls have one name",
        "A name that you give to a call stands for one task of its graph. Calls without a name are counted: "
        "train, train-2, train-3.",
        'train.named("fit")(a)\ntrain.named("fit")(b)',
        'train.named("fit-a")(a)\ntrain.named("fit-b")(b)',
    ),
    Code(
        "CLR142",
        "A value of the running workflow was needed while building it",
        "While a workflow is built, what a step returns isn't there yet. Comparison, arithmetic, [] and attributes "
        "make an expression of it; `if`, `and`, `in`, len(), int(), iteration, str(), f-strings and hashing would "
        "need the value now.",
        "score = evaluate(model)\nif score > 0.9:\n    publish(model)",
        "score = evaluate(model)\ncouler.when(score > 0.9, lambda: publish(model))",
    ),
    Code(
        "CLR143",
        "A step gives no value that could be used here",
        "Only what a step returns can be an argument. A step that returns nothing can be ordered by `after`; of one "
        "that returns files and values, take the members one by one.",
        "report(clean_up())",
        "couler.after(report(), clean_up())",
    ),
    Code(
        "CLR144",
        "This is not the output of a task",
        "Order, status and items belong to tasks, so they are asked of what a call of a step returned.",
        "couler.after(report(score), score + 1)",
        "couler.after(report(score), score)",
    ),
    Code(
        "CLR145",
        "A value can't travel",
        "Values known when the workflow is built travel as JSON. Sets, bytes, objects with state and files inside "
        "of values don't.",
        "train(data, {0.1, 1.0})",
        "train(data, [0.1, 1.0])",
    ),
    Code(
        "CLR146",
        "A value has no such member",
        "The members of a value are those that its step declares: the fields of a NamedTuple, dataclass or TypedDict.",
        "run = train(data)  # -> Trained(score, model)\npick(run.scores)",
        "pick(run.score)",
    ),
    Code(
        "CLR147",
        "These values don't go together",
        "There is no truthiness and no conversion in expressions: numbers go with numbers, strings with strings, and "
        "a condition is true or false.",
        'couler.when(run.score == "0.9", lambda: publish(run.model))',
        "couler.when(run.score == 0.9, lambda: publish(run.model))",
    ),
    Code(
        "CLR148",
        "An argument has the wrong type",
        "What a step takes is checked against its annotation when the workflow is built, both for values known now "
        "and for outputs of other steps.",
        "train(data, c=name_of(data))  # -> str, and c: float",
        "train(data, c=number_of(data))",
    ),
    Code(
        "CLR149",
        "A value can't be read here",
        "A value belongs to the graph that makes it. What the function of couler.map, a loop or a called workflow "
        "makes exists many times, or only while it runs: only what the function returns leaves it.",
        "kept = []\ncouler.map(lambda x: kept.append(f(x)), xs)\ng(kept[0])",
        "results = couler.map(lambda x: f(x), xs)\ng(results)",
    ),
    Code(
        "CLR150",
        "A handler reads a task, or a value can't be published",
        "Handlers run when the run has ended, whatever became of its tasks. They see the parameters, run_info, and "
        "values published by name.",
        "score = evaluate(model)\ncouler.on_exit(lambda: report(score))",
        'score = evaluate(model)\ncouler.publish("score", score)\n'
        'couler.on_exit(lambda: report(couler.published("score").or_else(0.0)))',
    ),
    Code(
        "CLR151",
        "An argument is missing or unknown",
        "A call names the inputs of what it calls, as a call of the plain function would.",
        "train(datta=data)",
        "train(data=data)",
    ),
    Code(
        "CLR152",
        "Tasks would wait for each other",
        "Edges lead from earlier work to later work. A task that waits, directly or through others, for itself "
        "never starts. The edges on_failure and always stand between tasks of one graph.",
        "a = f()\nb = g(a)\na.after(b)",
        "a = f()\nb = g(a)",
    ),
    Code(
        "CLR153",
        "A default or alternative doesn't fit",
        "couler.first takes outputs of steps with the same members, all of one graph; a default has the members of "
        "the value that it stands in for.",
        "couler.first(a, 0.0)",
        "a.or_else(0.0)",
    ),
    Code(
        "CLR154",
        "A function calls no step",
        "couler.map, loops and handlers record what their function calls. A function that calls no step leaves "
        "nothing to run.",
        "couler.map(lambda x: 2 * x, [1, 2])",
        "[2 * x for x in [1, 2]]",
    ),
    Code(
        "CLR155",
        "couler.map can't go over this",
        "A fan-out goes over a list known now, a list that a step returns, or couler.sequence. Lists that are taken "
        "together have equal lengths; max_items (1,000) bounds them.",
        'couler.map(f, "abc")',
        'couler.map(f, ["a", "b", "c"])',
    ),
    Code(
        "CLR156",
        "A branch, loop or handler isn't written as it needs to be",
        "Branches, bodies and handlers are functions: what they call is recorded inside. A loop's carried values "
        "begin with the type that the body returns.",
        "couler.when(score > 0.9, publish(model))",
        "couler.when(score > 0.9, lambda: publish(model))",
    ),
    Code(
        "CLR157",
        "This belongs in a workflow",
        "couler.when, couler.map and the like build a workflow; a @workflow is run or compiled, not called.",
        "nightly()",
        "nightly.run()",
    ),
    Code(
        "CLR158",
        "There is no complete workflow",
        "A workflow calls at least one step, and was recorded to its end.",
        "@couler.workflow\ndef nightly(): ...",
        "@couler.workflow\ndef nightly():\n    train(load())",
    ),
    Code(
        "CLR159",
        "A fact or metric of the run is used in the wrong place",
        "status, failures and duration of a run are known to its handlers; attempt, and metrics, belong to the body "
        "of a step.",
        "@couler.workflow\ndef nightly():\n    report(couler.run_info.status)",
        "@couler.workflow\ndef nightly():\n    couler.on_exit(lambda: report(couler.run_info.status))",
    ),
    Code(
        "CLR160",
        "An option of a workflow is wrong",
        "Options are checked where the workflow is defined; nothing is ignored.",
        '@couler.workflow(schedule="at three")',
        '@couler.workflow(schedule="0 3 * * *")',
    ),
    Code(
        "CLR161",
        "A parameter or output of a workflow is wrong",
        "Parameters have a name, a type and perhaps a default of that type. A file can't be given when a run starts.",
        'w.parameter("seed", int, "zero")',
        'w.parameter("seed", int, 0)',
    ),
    Code(
        "CLR162",
        "A sweep can't be made like this",
        "A sweep calls one Python step with settings out of a space. Each setting is an argument of the step; what "
        "stays the same for all trials is in given=; the metric is what the step returns or logs by "
        "couler.log_metric. A setting that isn't always used (`.only(...)`) needs a default in the step. A grid "
        "needs to know which values to try, and only algorithms that stop early take max_step=.",
        'couler.sweep(train, {"c": 0.1}, "score", "maximize", trials=20)',
        'couler.sweep(train, {"c": couler.space.real(0.01, 100, log=True)}, "score", "maximize", trials=20)',
    ),
)
