"""Diagnostic codes of the area: native."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR190",
        "a field that Argo doesn't have",
        "What is written in Argo's own words, with `couler_py.argo_native` or in an option `argo=`, is held against "
        "the schema of Argo's CRDs. A field that isn't in it would be dropped by the API server without a word.",
        example='argo.container("a", image="alpine:3.20", comand=["true"])',
        instead='argo.container("a", image="alpine:3.20", command=["true"])',
    ),
    Code(
        "CLR191",
        "a value that the field doesn't take",
        "Argo's fields are text, numbers, truth values, lists and objects, as the schema of its CRDs says. Some take "
        "one of a few words. Numbers and truth values can't stand where text is asked for: YAML would keep them what "
        "they are, and the API server refuses them.",
        example='argo.container("a", image="alpine:3.20", env=[{"name": "N", "value": 3}])',
        instead='argo.container("a", image="alpine:3.20", env=[{"name": "N", "value": "3"}])',
    ),
    Code(
        "CLR192",
        "Argo's own words in the wrong place",
        "Templates are written under `with argo.Workflow(...):` (or another kind of document), and called under "
        '`with argo.dag("name"):` or `with argo.steps("name"):`.',
    ),
    Code(
        "CLR193",
        "the same thing given twice",
        "Two templates of a document, or two tasks of a graph, have one name; or a field or argument is given in two "
        "ways at once.",
    ),
    Code(
        "CLR194",
        "argo= says otherwise than the workflow",
        "The option `argo=` adds fields to what is emitted for Argo, in Argo's own words. What the step or workflow "
        "says in the words of the DSL is already there: say it once. Objects are merged field by field, and lists of "
        "named objects name by name; text, numbers and other lists can't be merged.",
        example='@couler.step(retries=2, argo={"retryStrategy": {"limit": 5}})',
        instead='@couler.step(retries=2, argo={"retryStrategy": {"expression": "asInt(lastRetry.exitCode) > 1"}})',
    ),
    Code(
        "CLR195",
        "a document that can't be written as Python",
        "`couler import` writes a program that builds an equal document, and proves it before it gives the program "
        "out. There is none for data that is no document of Argo's: without `metadata` or `spec`, or with fields "
        "beside these. `couler lint FILE` says more.",
    ),
)
