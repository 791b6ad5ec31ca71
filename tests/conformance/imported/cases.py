"""The cases, by what they are about."""

from __future__ import annotations

from tests.conformance.imported import Imported, dag, given, said, steps

OFF = ', when: "false"'

FAILURES = [
    Imported(
        "fail-fast-stops-nothing-that-can-start",
        dag("{name: a, template: bad}", "{name: b, template: ok}", "{name: c, template: ok, dependencies: [b]}"),
        {"a": "Failed", "b": "Succeeded", "c": "Succeeded"},
        "Failed",
    ),
    Imported(
        "after-a-failure",
        dag("{name: a, template: bad}", "{name: b, template: ok, depends: a}", "{name: c, template: ok, depends: b}"),
        {"a": "Failed", "b": "Blocked", "c": "Blocked"},
        "Failed",
    ),
    Imported(
        "continue-on-goes-on",
        dag(
            "{name: a, template: bad, continueOn: {failed: true}}",
            "{name: b, template: ok, dependencies: [a]}",
        ),
        {"a": "Failed", "b": "Succeeded"},
    ),
    Imported(
        "continue-on-of-the-other-kind",
        dag(
            "{name: a, template: bad, continueOn: {error: true}}",
            "{name: b, template: ok, dependencies: [a]}",
        ),
        {"a": "Failed", "b": "Blocked"},
        "Failed",
    ),
    Imported(
        "a-skipped-task-inherits-a-failure-that-was-continued-on",
        dag(
            "{name: a, template: bad, continueOn: {failed: true}}",
            '{name: b, template: ok, dependencies: [a], when: "false"}',
        ),
        {"a": "Failed", "b": "Skipped"},
        "Failed",
    ),
    Imported(
        "a-failure-that-was-continued-on-at-the-end",
        dag("{name: a, template: bad, continueOn: {failed: true}}", "{name: b, template: ok}"),
        {"a": "Failed", "b": "Succeeded"},
    ),
    Imported(
        "a-failure-that-somebody-waits-for-counts-for-nothing",
        dag("{name: a, template: bad}", "{name: b, template: ok, depends: a.Failed}"),
        {"a": "Failed", "b": "Succeeded"},
    ),
    Imported(
        "steps-stop-at-a-failure",
        steps("{name: a, template: bad}, {name: b, template: ok}", "{name: c, template: ok}"),
        {"a": "Failed", "b": "Succeeded", "c": "Blocked"},
        "Failed",
    ),
    Imported(
        "steps-continue-on",
        steps("{name: a, template: bad, continueOn: {failed: true}}", "{name: b, template: ok" + OFF + "}"),
        {"a": "Failed", "b": "Skipped"},
    ),
]

DEPENDS = [
    Imported(
        "depends-on-states",
        dag(
            "{name: f, template: bad}",
            "{name: e, template: err}",
            '{name: s, template: ok, when: "false"}',
            "{name: o, template: ok, depends: f}",
            "{name: failed, template: ok, depends: f.Failed}",
            "{name: failed-of-error, template: ok, depends: e.Failed}",
            "{name: errored, template: ok, depends: e.Errored}",
            "{name: skipped, template: ok, depends: s.Skipped}",
            "{name: bare-skipped, template: ok, depends: s}",
            "{name: succeeded-skipped, template: ok, depends: s.Succeeded}",
            "{name: omitted, template: ok, depends: o.Omitted}",
            '{name: logic, template: ok, depends: "!s.Failed && (f.Succeeded || e.Errored)"}',
            more="",
        ).replace("dag: {", "dag: {failFast: false, "),
        {
            "f": "Failed",
            "e": "Failed",
            "s": "Skipped",
            "o": "Blocked",
            "failed": "Succeeded",
            "failed-of-error": "Blocked",
            "errored": "Succeeded",
            "skipped": "Succeeded",
            "bare-skipped": "Succeeded",
            "succeeded-skipped": "Blocked",
            "omitted": "Succeeded",
            "logic": "Succeeded",
        },
        "Failed",
    ),
    Imported(
        "depends-on-items",
        dag(
            "{name: m, template: bad, withItems: [1, 2]}",
            "{name: all, template: ok, depends: m.AllFailed}",
            "{name: any, template: ok, depends: m.AnySucceeded}",
        ),
        {"m": "Failed", "m[0]": "Failed", "m[1]": "Failed", "all": "Succeeded", "any": "Blocked"},
        "Failed",
    ),
]

CONDITIONS = [
    Imported(
        "when-reads-values",
        dag(
            said("a", "yes-1"),
            "{name: b, template: ok, depends: a, when: '{{tasks.a.outputs.parameters.o}} == yes-1'}",
            "{name: c, template: ok, depends: a, when: \"'{{tasks.a.outputs.parameters.o}}' == 'yes-1'\"}",
            "{name: d, template: ok, depends: a, when: \"{{= tasks.a.outputs.parameters.o != 'yes-1'}}\"}",
        ),
        {"a": "Succeeded", "b": "Failed", "c": "Succeeded", "d": "Skipped"},
        "Failed",
    ),
    Imported(
        "when-with-a-space-is-an-error",
        dag(
            '{name: a, template: ok, when: "a b == c"}',
            "{name: b, template: ok, depends: a.Errored}",
            "{name: c, template: ok, depends: a.Failed}",
        ),
        {"a": "Failed", "b": "Succeeded", "c": "Blocked"},
        "Failed",
    ),
    Imported(
        "when-that-is-an-error-keeps-its-group-from-starting",
        steps('{name: a, template: ok, when: "a b == c"}, {name: b, template: ok}', "{name: c, template: ok}"),
        {"a": "Blocked", "b": "Blocked", "c": "Blocked"},
        "Failed",
    ),
    Imported(
        "when-of-steps",
        steps(said("a", "x"), "{name: b, template: ok, when: '{{steps.a.outputs.parameters.o}} == y'}"),
        {"a": "Succeeded", "b": "Skipped"},
    ),
]

ABSENT = [
    Imported(
        "an-absent-output-is-the-default",
        dag(said("a", "x", more=OFF), said("b", '"{{tasks.a.outputs.parameters.o}}"', "sayd", ", depends: a")),
        {"a": "Skipped", "b": "Succeeded"},
        says={"b": "default"},
    ),
    Imported(
        "an-absent-output-without-a-default",
        dag(said("a", "x", more=OFF), said("b", '"{{tasks.a.outputs.parameters.o}}"', more=", depends: a")),
        {"a": "Skipped", "b": "Failed"},
        "Failed",
    ),
    Imported(
        "an-absent-output-in-a-longer-text",
        dag(said("a", "x", more=OFF), said("b", '"-{{tasks.a.outputs.parameters.o}}"', "sayd", ", depends: a")),
        {"a": "Skipped", "b": "Failed"},
        "Failed",
    ),
    Imported(
        "an-absent-output-in-an-expression",
        dag(
            said("a", "x", more=OFF),
            said("b", "\"{{= tasks.a.outputs.parameters.o ?? 'else' }}\"", more=", depends: a"),
        ),
        {"a": "Skipped", "b": "Succeeded"},
        says={"b": "else"},
    ),
    Imported(
        "an-absent-output-of-a-graph-with-a-default",
        dag(
            said("a", "x", more=OFF),
            more=given("{parameter: '{{tasks.a.outputs.parameters.o}}', default: d}"),
        ),
        {"a": "Skipped"},
        outputs={"r": "d"},
    ),
    Imported(
        "an-absent-output-of-a-graph",
        dag(said("a", "x", more=OFF), more=given("{parameter: '{{tasks.a.outputs.parameters.o}}'}")),
        {"a": "Skipped"},
        "Failed",
    ),
]

FAN_OUTS = [
    Imported(
        "items-and-their-aggregate",
        dag(
            said("a", '"{{item}}"', more=', withItems: [1, "x", {k: 1}, [1, 2], true, 1.5, "<&>"]'),
            said("b", '"{{tasks.a.outputs.parameters.o}}"', more=", depends: a"),
            said("c", '"{{tasks.a.outputs.parameters}}"', more=", depends: a"),
        ),
        {"a": "Succeeded", **{f"a[{i}]": "Succeeded" for i in range(7)}, "b": "Succeeded", "c": "Succeeded"},
        says={
            "a[2]": '{"k":1}',
            "a[3]": "[1,2]",
            "a[4]": "true",
            "a[6]": "<&>",
            "b": '["1","x","{\\"k\\":1}","[1,2]","true","1.5","\\u003c\\u0026\\u003e"]',
            "c": '[{"o":"1"},{"o":"x"},{"o":"{\\"k\\":1}"},{"o":"[1,2]"},{"o":"true"},{"o":"1.5"},'
            '{"o":"\\u003c\\u0026\\u003e"}]',
        },
    ),
    Imported(
        "an-aggregate-of-objects",
        dag(
            said("a", '"{{item}}"', more=", withItems: [{k: 1, z: [1, 2]}, {z: q, k: 2}]"),
            said("b", '"{{tasks.a.outputs.parameters.o}}"', more=", depends: a"),
            said("c", '"{{item.k}}-{{item.z}}"', more=", depends: a, withParam: '{{tasks.a.outputs.parameters.o}}'"),
        ),
        {
            **dict.fromkeys(("a", "a[0]", "a[1]", "b", "c", "c[0]", "c[1]"), "Succeeded"),
        },
        says={"b": '[{"k":1,"z":[1,2]},{"k":2,"z":"q"}]', "c[0]": "1-[1,2]", "c[1]": "2-q"},
    ),
    Imported(
        "a-condition-of-each-item",
        dag(
            said("a", '"{{item}}"', more=", withItems: [1, 2, 3], when: '{{item}} != 2'"),
            said("b", '"{{tasks.a.outputs.parameters.o}}"', more=", depends: a"),
        ),
        {"a": "Succeeded", "a[0]": "Succeeded", "a[1]": "Skipped", "a[2]": "Succeeded", "b": "Succeeded"},
        says={"b": '["1","3"]'},
    ),
    Imported(
        "no-items",
        dag(
            said("a", '"{{item}}"', more=", withParam: '[]'"),
            said("b", '"{{tasks.a.outputs.parameters.o}}"', "sayd", ", depends: a"),
        ),
        {"a": "Skipped", "b": "Succeeded"},
        says={"b": "default"},
    ),
    Imported(
        "an-empty-list-of-items-is-none",
        dag(said("a", '"{{item}}"', more=", withItems: []")),
        {"a": "Succeeded"},
        says={"a": "{{item}}"},
    ),
    Imported(
        "sequences",
        dag(
            said("down", '"{{item}}"', more=', withSequence: {start: "3", end: "1", format: "t%02X"}'),
            said("counted", '"{{item}}"', more=', withSequence: {start: "5", count: "2"}'),
            said("none", '"{{item}}"', more=', withSequence: {count: "0"}'),
        ),
        {
            **dict.fromkeys(("down", "down[0]", "down[1]", "down[2]"), "Succeeded"),
            **dict.fromkeys(("counted", "counted[0]", "counted[1]"), "Succeeded"),
            "none": "Skipped",
        },
        says={"down[0]": "t03", "down[2]": "t01", "counted[0]": "5", "counted[1]": "6"},
    ),
    Imported(
        "items-that-are-no-list",
        dag(said("a", '"{{item}}"', more=", withParam: '{}'")),
        {"a": "Failed"},
        "Failed",
    ),
    Imported(
        "steps-with-items",
        steps(
            said("a", '"{{item}}"', more=", withItems: [1, 2]"),
            said("b", '"{{steps.a.outputs.parameters.o}}"'),
        ),
        {"a": "Succeeded", "a[0]": "Succeeded", "a[1]": "Succeeded", "b": "Succeeded"},
        says={"b": '["1","2"]'},
    ),
]

TEXTS = [
    Imported(
        "values-are-read-again",
        dag(
            said("a", "\"{{='{'}}{workflow.parameters.p}} {{='{'}}{=1+1}} {{='{'}}{nope}}\""),
            said("b", '"{{tasks.a.outputs.parameters.o}}"', more=", depends: a"),
        ),
        {"a": "Succeeded", "b": "Succeeded"},
        says={"a": "P 2 {{nope}}", "b": "P 2 {{nope}}"},
        spec={"arguments": {"parameters": [{"name": "p", "value": "P"}]}},
    ),
    Imported(
        "statuses",
        dag(
            "{name: e, template: err}",
            "{name: o, template: ok, depends: e}",
            said("a", '"{{tasks.e.status}} {{tasks.o.status}}"', more=", depends: o.Omitted"),
        ),
        {"e": "Failed", "o": "Blocked", "a": "Succeeded"},
        says={"a": "Error Omitted"},
    ),
    Imported(
        "an-input-with-a-value-of-its-own",
        "[{name: main, dag: {tasks: [{name: a, template: own}]}}, {name: own, inputs: {parameters: "
        "[{name: size, default: '2'}, {name: v, value: '{{= asInt(inputs.parameters.size) * 3 }}'}]}, "
        "steps: [[{name: x, template: ok, when: 'false'}]], "
        "outputs: {parameters: [{name: o, valueFrom: {expression: inputs.parameters.v}}]}}]",
        {"a": "Succeeded"},
        says={"a": "6"},
    ),
]

HOOKS = [
    Imported(
        "a-hook-that-fails-means-nothing",
        dag("{name: a, template: ok, hooks: {exit: {template: bad}}}", "{name: b, template: ok, depends: a}"),
        {"a": "Succeeded", "b": "Succeeded"},
    ),
]

NESTED = [
    Imported(
        "graphs-in-graphs",
        "[{name: main, dag: {tasks: [{name: a, template: inner}, {name: b, template: ok, depends: a}]}}, "
        "{name: inner, dag: {tasks: [{name: c, template: ok}, {name: d, template: bad, depends: c}]}}]",
        {"a": "Failed", "a/c": "Succeeded", "a/d": "Failed", "b": "Blocked"},
        "Failed",
    ),
    Imported(
        "inline-templates",
        "[{name: main, dag: {tasks: [{name: a, inline: {steps: [[{name: b, template: ok}]]}}]}}]",
        {"a": "Succeeded", "a/b": "Succeeded"},
    ),
    Imported(
        "targets",
        dag("{name: a, template: ok}", "{name: b, template: ok, depends: a}", "{name: c, template: bad}").replace(
            "dag: {", "dag: {target: b, "
        ),
        {"a": "Succeeded", "b": "Succeeded"},
    ),
]

CASES = [*FAILURES, *DEPENDS, *CONDITIONS, *ABSENT, *FAN_OUTS, *TEXTS, *HOOKS, *NESTED]
