"""Diagnostic codes of the area: lint meaning."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR440",
        "no entrypoint, or one that isn't there",
        "A run begins at the template that `spec.entrypoint` names. A Workflow and a CronWorkflow need one among their "
        "templates (or one of the WorkflowTemplate that they refer to); a WorkflowTemplate may go without.",
        example="spec: {templates: [{name: main, ...}]}",
        instead="spec: {entrypoint: main, templates: [{name: main, ...}]}",
    ),
    Code(
        "CLR441",
        "a template that isn't defined",
        "A step, a task, a hook or `onExit` names a template that the document doesn't have. Argo looks all of them up "
        "before it starts, and fills no values into such names. A template of another document is called by "
        "`templateRef`.",
        example="{name: a, template: trian}",
        instead="{name: a, template: train}",
    ),
    Code(
        "CLR442",
        "a template that runs nothing",
        "A template is one of container, script, steps, dag, resource, suspend, containerSet, http, data and plugin. "
        "This one is none of them.",
    ),
    Code(
        "CLR443",
        "a name that is there twice, or missing",
        "Templates, the steps or tasks of a template, parameters, artifacts and containers are told apart by their "
        "names, so each needs one, and once. Argo refuses the rest; of two volumes with one name only the first is "
        "ever mounted.",
    ),
    Code(
        "CLR444",
        "one way to say what is called",
        "A step or task says what it runs by `template`, by `templateRef` or by `inline`: by exactly one of them.",
        example="{name: a, template: t, templateRef: {name: lib, template: t}}",
        instead="{name: a, templateRef: {name: lib, template: t}}",
    ),
    Code(
        "CLR445",
        "a reference to another document",
        "`templateRef` names a WorkflowTemplate (or with `clusterScope: true` a ClusterWorkflowTemplate) and a "
        "template "
        "in it. Where the document is known and has no such template, Argo refuses the reference; where it isn't "
        "known, nothing can be said: give its file beside this one.",
    ),
    Code(
        "CLR446",
        "templates beside workflowTemplateRef",
        "A workflow that refers to a WorkflowTemplate runs the templates of that object, and Argo refuses templates of "
        "its own beside it.",
    ),
    Code(
        "CLR447",
        "templates that call each other without an end",
        "A template may call itself, and many loops are written so; but some call on the way needs a `when` that can "
        "stop it. Argo ends a run at 100 levels of calls.",
        example="steps: [[{name: again, template: main}]]",
        instead="steps: [[{name: again, template: main, when: \"{{= inputs.parameters.n != '0' }}\"}]]",
    ),
    Code(
        "CLR448",
        "a template that nothing calls",
        "No way leads to this template from the entrypoint, the exit handler or a hook. It is a leftover, or the call "
        "names another one by mistake.",
    ),
    Code(
        "CLR449",
        "a name that can't be",
        "Names of parameters and artifacts are made of letters, digits, `-` and `_`. A task that others wait for "
        "stands "
        "in an expression: words of the expression language (`in`, `not`, `true`, `matches`, …) and names that begin "
        "with a digit mean something else there. The server lets the words pass, and the waiting task ends in Error.",
        example="tasks: [{name: not, ...}, {name: b, depends: not, ...}]",
        instead="tasks: [{name: negate, ...}, {name: b, depends: negate, ...}]",
    ),
    Code(
        "CLR450",
        "an argument without a value",
        "Arguments of steps, tasks and cron workflows are values. (Those of a Workflow may be left out and given when "
        "it is submitted.) `default` counts only in the inputs of a template.",
    ),
    Code(
        "CLR451",
        "an argument from a source that it can't have",
        "An argument has a `value`, or takes one from a ConfigMap (`configMapKeyRef`, with a `default` beside it), "
        "or is "
        "`supplied` by a person. `path`, `jsonPath`, `parameter` and `expression` are sources of outputs.",
    ),
    Code(
        "CLR452",
        "a value outside of its enum",
        "A parameter with an `enum` has one of the listed values. Argo checks it of the arguments of a workflow and of "
        "calls; the list of an input is documentation to it, so there it is a warning.",
    ),
    Code(
        "CLR453",
        "an input that nobody supplies",
        "Every input parameter without a value or default of its own, and every input artifact that isn't optional and "
        "has no location, comes from the arguments of each call; those of the entrypoint and of the exit handler come "
        "from the arguments of the workflow, by their names. Argo checks hooks only when they run.",
    ),
    Code(
        "CLR454",
        "an argument that no input takes",
        "The called template doesn't declare an input of this name, so nothing reads the value: the name is misspelt, "
        "or the argument is a leftover.",
    ),
    Code(
        "CLR455",
        "the path of an artifact",
        "Artifacts of templates that run something (container, script, resource, …) lie at a `path`; `steps`, "
        "`dag` and "
        "`suspend` have no files, so their artifacts have none. A path doesn't climb with `..` out of where it began.",
    ),
    Code(
        "CLR456",
        "where an artifact comes from",
        "An argument says which artifact is meant (`from`), or where one lies. Expressions choose artifacts only "
        "in the "
        "outputs of `steps` and `dag`; inputs of a template come from its caller. Git needs a repository, HDFS its "
        "addresses, a path and a user.",
    ),
    Code(
        "CLR457",
        "two things at one path",
        "Volumes and input artifacts of a container lie at different paths: one would hide the other.",
    ),
    Code(
        "CLR458",
        "where an output comes from",
        "An output parameter has a `value`, or one source in `valueFrom`: `path` in templates that run containers, "
        "`jsonPath` or `jqFilter` in `resource`, `parameter` or `expression` in `steps` and `dag`, `supplied` in "
        "`suspend`.",
    ),
    Code(
        "CLR459",
        "an artifact where a text belongs, or a text where an artifact belongs",
        "`from` is exactly one tag that names an artifact, and a parameter is a text. What doesn't fit is found when "
        "the turn of the call comes, and ends it in Error.",
    ),
    Code(
        "CLR460",
        "tasks in a ring",
        "Each of these tasks waits for the next, and the last for the first, so none could ever begin.",
    ),
    Code(
        "CLR461",
        "waiting for a task that isn't there",
        "`depends` and `dependencies` name tasks of the same `dag`. Every word of a `depends` counts as a task, `and` "
        "and `or` too: its operators are `&&`, `||` and `!`.",
    ),
    Code(
        "CLR462",
        "depends beside dependencies or continueOn",
        "One `dag` uses `depends`, or `dependencies` with `continueOn`. With `depends`, the task that waits says which "
        "results it goes on with.",
        example="[{name: a, continueOn: {failed: true}}, {name: b, depends: a}]",
        instead="[{name: a}, {name: b, depends: a || a.Failed}]",
    ),
    Code(
        "CLR463",
        "a depends that can't be read",
        "Tasks are joined with `&&`, `||`, `!` and parentheses. Behind a task may stand `.Succeeded`, `.Failed`, "
        "`.Errored`, `.Skipped`, `.Omitted` or `.Daemoned`, and behind one that is run for items `.AnySucceeded` or "
        "`.AllFailed`. The server doesn't read the expression: a mistake in it ends the task in Error when its "
        "turn comes.",
    ),
    Code(
        "CLR464",
        "reading what doesn't come before",
        "A step can read steps of earlier groups, and a task those that it waits for, near or far. The server lets "
        "some "
        "others pass; the run then waits for the value for ever.",
        example='[{name: a}, {name: b, arguments: {parameters: [{name: x, value: "v{{tasks.a.outputs.result}}"}]}}]',
        instead="[{name: a}, {name: b, depends: a, arguments: {parameters: [{name: x, value: "
        '"v{{tasks.a.outputs.result}}"}]}}]',
    ),
    Code(
        "CLR465",
        "items that can't be counted",
        "A call is repeated for `withItems`, `withParam` or `withSequence`: one of them. `withParam` is a JSON list, a "
        "sequence has whole numbers and an end, and items that are mappings have every key that the call reads. The "
        "server doesn't look at the values; the call ends in Error when its turn comes.",
    ),
    Code(
        "CLR466",
        "a target that is no task",
        "`dag.target` lists tasks of the same `dag`, with one space between two names.",
    ),
    Code(
        "CLR467",
        "a tag that nothing fills in",
        "The name between the braces isn't known where it stands: an input that the template doesn't declare, a "
        "step or "
        "task of another template, an output that the called template doesn't give, a parameter that the workflow "
        "doesn't have. Argo refuses it; in a loop it refuses every tag that it can't fill in.",
    ),
    Code(
        "CLR468",
        "a tag that stays as it is written",
        "Nothing fills this tag in where it stands, and nothing refuses it either: the program gets the braces. It is "
        "`{{item}}` outside of a loop, `{{retries}}` without a `retryStrategy`, a misspelt beginning, or a name in "
        "a field "
        "that Argo doesn't check.",
    ),
    Code(
        "CLR469",
        "an expression that can't be read",
        "Between `{{=` and `}}`, and in the fields called `expression`, stands a text in the language of "
        "github.com/expr-lang/expr. The server doesn't read it; a mistake in it ends the run in Error when its turn "
        "comes.",
    ),
    Code(
        "CLR470",
        "an expression with a name that isn't known",
        "A variable or function of the expression doesn't exist where it stands. Names with hyphens are read as "
        "subtractions and need brackets.",
        example="{{= tasks.my-task.outputs.result }}",
        instead="{{= tasks['my-task'].outputs.result }}",
    ),
    Code(
        "CLR471",
        "a condition that can't be read",
        "`when` is a comparison of values (`==`, `!=`, `<`, `>`, `=~`, `in`) joined by `&&` and `||`, or an expression "
        "between braces. The server doesn't read it; a mistake ends the call in Error when its turn comes.",
    ),
    Code(
        "CLR472",
        "a condition that some values break",
        "A tag in a `when` is filled in as text, and then the text is read. A value with a space, a quote or a "
        "sign in it "
        "makes another condition of it, or none. An expression compares the value itself.",
        example='when: "{{steps.flip.outputs.result}} == heads"',
        instead="when: \"{{= steps.flip.outputs.result == 'heads' }}\"",
    ),
    Code(
        "CLR473",
        "a hook that doesn't say when",
        "Only the hook called `exit` runs at the end by itself; every other one needs an `expression`.",
    ),
    Code(
        "CLR474",
        "a setting at a template that can't have it",
        "`parallelism` bounds what is inside `steps` and `dag`; `timeout` is of templates that run something by "
        "themselves.",
    ),
    Code(
        "CLR475",
        "a duration or deadline that can't be read",
        "Durations are written as `90s`, `1.5h` or `1h30m`, with the units ns, us, ms, s, m and h; there are no "
        "days. Where "
        "Argo takes a plain number it counts as seconds; `timeout` and `memoize.maxAge` take none. A deadline is a "
        "whole number of seconds.",
    ),
    Code(
        "CLR476",
        "a retry that fails when it is needed",
        "`limit` and `backoff.factor` are whole numbers, and a backoff has a `duration`. Argo reads them after the "
        "first "
        "failure, and ends the step in Error then.",
    ),
    Code(
        "CLR477",
        "the key of a cache",
        "The key of `memoize` is made of letters, digits and `-`, and begins with a letter or digit. Values rarely "
        "are: "
        "use their digest.",
        example='key: "{{inputs.parameters.path}}"',
        instead='key: "{{=sprig.sha256sum(inputs.parameters.path)}}"',
    ),
    Code(
        "CLR478",
        "a schedule that can't be read",
        "A cron workflow has at least one schedule of five fields (minute, hour, day of the month, month, day of the "
        "week; Sunday is 0), or one of @hourly, @daily, @weekly, @monthly, @yearly and @every DURATION. The time zone "
        "is a name of the IANA database.",
        example='schedules: ["0 0 3 * * *"]',
        instead='schedules: ["0 3 * * *"]',
    ),
    Code(
        "CLR479",
        "a pod that Kubernetes refuses",
        "Neither the API server nor Argo's lint reads what a workflow says of its pods: ports, probes, amounts, "
        "variables, volumes, tolerations, a podSpecPatch. Kubernetes refuses the pod (or the volume claim, or the "
        "disruption budget) when Argo creates it, in the middle of the run.",
        example="resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}",
        instead="resources: {requests: {memory: 1Gi}, limits: {memory: 2Gi}}",
    ),
    Code(
        "CLR480",
        "a selector or condition that can't be read",
        "`successCondition` and `failureCondition` are written as Kubernetes' label selectors: `status.phase == "
        "Succeeded,status.count > 2`, with values of letters, digits, `-`, `_` and `.`. `podGC.labelSelector` is "
        "one as "
        "an object.",
    ),
    Code(
        "CLR481",
        "the manifest of a resource",
        "What is created, applied, patched or replaced is said by `manifest`, as YAML, or by `manifestFrom`, an input "
        "artifact of the template.",
    ),
    Code(
        "CLR482",
        "a set of containers",
        "The containers of a containerSet wait for each other by `dependencies`, without a ring. Inputs and outputs go "
        "through the container called `main`.",
    ),
    Code(
        "CLR483",
        "a container that can't be",
        "Every container has an image (or `templateDefaults` give one), and none has a name of the containers that "
        "Argo "
        "adds to the pod: wait, init, main, artifact-plugin-….",
    ),
    Code(
        "CLR484",
        "a volume that isn't declared",
        "What a container mounts is declared under `volumes` or `volumeClaimTemplates` of the workflow, or under "
        "`volumes` of its template. The server doesn't look, and Argo then can't make the pod.",
    ),
    Code(
        "CLR485",
        "a value that becomes program text",
        "A tag inside the source of a script, or inside quotes of a manifest, is replaced by its value before anything "
        "reads the text. A quote or line break in the value breaks the program, and whoever sets the value can write "
        "what it does. Values belong into variables and arguments.",
        example='source: print("{{inputs.parameters.name}}")',
        instead='env: [{name: NAME, value: "{{inputs.parameters.name}}"}]\n'
        'source: import os; print(os.environ["NAME"])',
    ),
    Code(
        "CLR486",
        "an output that may never be there",
        "The step or task that gives it can be skipped, and this one begins all the same. Then Argo 4 ends it in "
        "Error, "
        "unless the input has a `default`, the output has a `valueFrom.default`, or the value is an expression "
        "with `??`.",
        example='value: "{{tasks.maybe.outputs.parameters.x}}"',
        instead="value: \"{{= tasks.maybe.outputs?.parameters?.x ?? 'none' }}\"",
    ),
    Code(
        "CLR487",
        "a tag that is never closed",
        "Argo looks for `}}` in all that follows, other fields included, and takes what is between for the name. In an "
        "argument that is refused; elsewhere it may do no harm.",
    ),
    Code(
        "CLR488",
        "a lock without a name",
        "A mutex has a `name`; the number of holders of a semaphore stands in a ConfigMap (`configMapKeyRef`) or "
        "in the "
        "database of the controller (`database`): in one of them.",
    ),
    Code(
        "CLR489",
        "more than a run or a program can hold, or a metric that can't be written",
        "Each node takes about 1 KB of the status of a run, which Argo refuses above 1 MiB; a program takes "
        "arguments of "
        "128 KiB each. A metric is a gauge, a "
        "counter "
        "or a histogram.",
    ),
)
