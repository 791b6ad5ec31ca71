"""Diagnostic codes of the area: argo."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR401",
        "Argo can't do this",
        "The workflow uses something that Argo Workflows has no word for, and that can't be said by other means. The "
        'table of engines in the documentation says what each can do. `on_unsupported="warn"` compiles the rest; the '
        "step in question then fails when it is run.",
    ),
    Code(
        "CLR402",
        "an expression that Argo's language can't say with the same meaning",
        "A condition or value over the outputs of one Python step is computed by that step itself and means the same "
        "everywhere. Over several steps, over what containers wrote, or over parameters it must be "
        "written in Argo's own "
        "expression language, and only forms that were run on a real controller and gave the same results are "
        "emitted. Let a small Python step compute it.",
        example="couler.when(a.result % 0.3 > b.result, ...)",
        instead="@couler.step\ndef decide(a: float, b: float) -> bool: return a % 0.3 > b",
    ),
    Code(
        "CLR403",
        "a literal {{ where Argo can't carry one",
        "Argo looks for {{…}} in every string of a template and has no way to escape it. In command, arguments and "
        "environment of containers, in manifests and in the source of Python steps we carry it all the same; elsewhere "
        "nothing can. Put the text into an argument, an environment variable, or a file.",
    ),
    Code(
        "CLR404",
        "two hooks at one moment",
        "Argo runs one template at a task's end (its hook `exit`) and one under each other name. "
        "Put both into one graph.",
    ),
    Code(
        "CLR405",
        "a backoff that is rounded",
        "Argo multiplies the waiting time between attempts by whole numbers only.",
    ),
    Code(
        "CLR406",
        "a cache that can't see its files",
        "Argo's cache key is made of parameters: it can't see what is in an input artifact, so a "
        "changed file would give "
        "the old result. Give the cache a key that changes with the file, such as a digest that an "
        "earlier step returns.",
    ),
    Code(
        "CLR407",
        "a loop too deep for Argo",
        "Each iteration is a template called by the one before, and Argo ends a run at 100 levels of calls. The "
        "iterations of loops in loops add up, and so do the graphs around them: keep their sum below 95.",
    ),
    Code(
        "CLR408",
        "a fan-out over too many items",
        "`max_items` bounds the length of a fan-out's list, so that no mistake starts a million "
        "pods. Raise it, or let a "
        "step do several items.",
    ),
    Code(
        "CLR409",
        "more than an Argo installation takes",
        "The CRDs that Argo 4 installs bound lists: 200 templates in a workflow, 200 tasks in a graph, 500 input "
        'parameters. Installations from before 4.0 have minimal CRDs without bounds: say `crds="minimal"` for those. '
        "In larger graphs, tasks that share all that they wait for and all that waits for them, or that lie between "
        "one way in and one way out, are nested in graphs of their own, which changes nothing about a run. Where that "
        'isn\'t enough, `split="auto"` (`--split auto`) runs the workflow in parts, each a workflow of its own; or put '
        "tasks that belong together into graphs of their own, or let a fan-out run what differs only in its values.",
    ),
    Code(
        "CLR410",
        "a workflow near Argo's limit of size",
        "The controller refuses a workflow of 1 MiB of JSON, and the status of a run, which grows with each task, item "
        "and attempt, counts; it is compressed where it has to be. `compile` warns where both together come to "
        "0.7 MiB; `lint` and `submit` refuse what surely is 1 MiB or more. `couler plan` shows the figures, and what "
        "each item of a list that only the run knows adds. An installation with `nodeStatusOffLoad` keeps the nodes "
        "elsewhere.",
    ),
    Code(
        "CLR411",
        "a document that Argo's API would refuse",
        "The emitted document breaks the schema of Argo's CRDs. If you gave Argo's own fields "
        "(`engines`, `extra`), look "
        "there; otherwise it is a bug of ours.",
    ),
    Code(
        "CLR412",
        "a limit of time that Argo doesn't have",
        "Argo limits the time of steps and of whole runs; graphs, loops and waits inside a run have no limit of "
        "their own. Limit the steps, or give the workflow a deadline.",
    ),
    Code(
        "CLR413",
        "included files that have changed",
        "A workflow names the files that its steps import (`include=`) together with the sha256 of their archive. "
        "They are read when it is compiled for Argo, and then have to be the same: build the workflow again from its "
        "Python source. An IR file from elsewhere can't have files of this machine read into a document that way.",
    ),
    Code(
        "CLR414",
        "a field that Argo 3.5 doesn't have",
        "`argo@3.5` says with 3.5's words what Argo 4 says with others: one schedule in each CronWorkflow, one lock in "
        "each template. What 3.5 has no word for at all it would drop in silence, so that the run would do something "
        "else: each finding names the field, the version that brought it, and what comes near it before. "
        '`on_unsupported="warn"` leaves such fields out.',
    ),
    Code(
        "CLR415",
        "an expression that Argo 3.5 reads otherwise",
        "The language of expressions has grown since Argo 3.5: it knew no flatten, uniq and if {} else {}, took no tag "
        "in the name of a template in a templateRef, and wrote lists and objects in Go's words instead of JSON.",
        example="{{=filter(fromJSON(inputs.parameters.list), # > 1)}}",
        instead="{{=toJson(filter(fromJSON(inputs.parameters.list), # > 1))}}",
    ),
    Code(
        "CLR416",
        "a limit of the whole run, which each of its parts has for itself",
        "The parts of a split workflow are runs of their own, and Argo counts and times each run by itself. With "
        "`parallelism`, each part may have so many pods at once, and so many parts run side by side; give a smaller "
        "number, or hold a semaphore (`locks=`) in the steps themselves, which counts over all runs. With a "
        "`deadline`, each part may take that long from its own start, while the run around them ends at its own: "
        "terminate it (`couler terminate`) to end parts with it, or limit the steps by `timeout`.",
    ),
)
