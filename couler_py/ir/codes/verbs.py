"""Diagnostic codes of the area: Couler's verbs."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR180",
        "An empty output was used as a value",
        "A container without `output=` can be waited for, but it has no value to compare or to pass on. What "
        "couler.run_script prints is its output; a container writes one to a file that it declares.",
        example='result = couler.run_container(image="alpine", command=["date"])\n'
        'couler.when(couler.equal(result, "x"), go)',
        instead='out = couler.create_parameter_artifact(path="/tmp/date")\n'
        'result = couler.run_container(image="alpine", command=["sh", "-c", "date > /tmp/date"], output=out)\n'
        'couler.when(couler.equal(result, "x"), go)',
    ),
    Code(
        "CLR181",
        "A verb was given something it can't take",
        "The arguments of Couler's verbs are checked where they are given, and each message says what is expected. "
        "Nothing that a verb is given is dropped.",
    ),
    Code(
        "CLR182",
        "A step that isn't there was named",
        "couler.set_dependencies names steps that were recorded before, by their `step_name` or, without one, by the "
        "name of the function that called the verb.",
        example='couler.set_dependencies(lambda: b(), dependencies=["A"])',
        instead='couler.set_dependencies(lambda: a(step_name="A"), dependencies=None)\n'
        'couler.set_dependencies(lambda: b(), dependencies=["A"])',
    ),
    Code(
        "CLR183",
        "One name, two steps",
        "Inside couler.dag a function that appears in several edges is one step. Two calls of the same `step_name` "
        "with different content can't be one, and couler.set_dependencies can't tell two steps of one name apart.",
        example="couler.dag([[lambda: job('A', image='one')], [lambda: job('A', image='two'), c]])",
        instead="couler.dag([[a], [a, c]])",
    ),
    Code(
        "CLR184",
        "A dependency expression can't be read",
        "A text given to couler.set_dependencies is Argo's: names of steps, each with a state after a dot where "
        "wanted, joined by &&, || and !, with parentheses.",
        example='couler.set_dependencies(f, dependencies="A and B")',
        instead='couler.set_dependencies(f, dependencies="A && B.Succeeded")',
    ),
    Code(
        "CLR185",
        "Something of Couler's that this package doesn't do",
        "A few of Couler's arguments ran code of a file on import, or stood for one company's cluster. They are "
        "refused with what to write instead, rather than ignored.",
        example='couler.config_workflow(cluster_config_file="cluster.py")',
        instead='couler.config_workflow(name="x", service_account="runner")  # and PodSettings, tolerations, volumes',
    ),
    Code(
        "CLR186",
        "A secret can't be made so",
        "The data of a secret is a dict of texts. It goes to the secret store of the engine when the workflow is "
        "submitted, and never into the workflow.",
        example='couler.create_secret({"password": 7})',
        instead='couler.create_secret({"password": "7"})',
    ),
)
