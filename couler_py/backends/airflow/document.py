"""A workflow as the data of a DAG file: the entrypoint's tasks, what runs after them, and the DAG itself."""

from __future__ import annotations

import msgspec

from couler_py.backends.airflow.about import about
from couler_py.backends.airflow.dag import asset, dag_call, dag_id
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.graph import GraphWriter
from couler_py.backends.airflow.groups import graph_outputs, judged, surrounding
from couler_py.backends.airflow.handlers import handler_statements
from couler_py.backends.airflow.helpers import reserved
from couler_py.backends.airflow.options import RUNNER_IMAGE
from couler_py.backends.airflow.published import published_places
from couler_py.backends.airflow.scope import Scope
from couler_py.backends.airflow.source import Assign, DagFile, Statement
from couler_py.ir.expr import WorkflowParameter
from couler_py.ir.model import Argument, Graph, Task, Template
from couler_py.printer.layout import call, items, keyword
from couler_py.printer.literal import literal, quoted
from couler_py.printer.names import Names


def dag_file(emission: Emission) -> DagFile:
    """The whole file as data. What can't be said is noted in the emission."""
    entry = entry_graph(emission)
    names = emission.names
    if emission.workflow.handlers:
        emission.published = published_places(emission, entry)
    scope = Scope(parameters=emission.parameters, published=emission.published)
    writer = GraphWriter(emission, entry, scope, names)
    body: list[Statement] = [*writer.write()]
    outputs = graph_outputs(entry, scope)
    handlers = emission.workflow.handlers
    assets = [keyword("outlets", items(map(asset, emission.own.assets)))] if emission.own.assets else []
    if writer.judged or handlers:
        result = names.free("result")
        body.append(Assign(result, call("judge", "None", judged(writer), *outputs, *assets)))
        if handlers:
            body += handler_statements(emission, scope, names, result)
    elif outputs or assets:
        body.append(Assign("", call("result_of_run", items(writer.ends()), *outputs, *assets)))
    chosen = emission.options
    settings = {
        "STORE": quoted(chosen.artifacts),
        "CLAIM": quoted(chosen.claim),
        "STORE_SECRET": quoted(chosen.store_secret),
        "RUNNER_IMAGE": quoted(chosen.runner or RUNNER_IMAGE),
        "SPECS": literal(emission.specs),
        "INCLUDES": literal(emission.includes),
    }
    return DagFile(
        about(emission),
        _function(emission),
        tuple(emission.constants),
        tuple(emission.definitions),
        dag_call(emission),
        tuple(body),
        emission.options.operators,
        settings,
    )


def _function(emission: Emission) -> str:
    """The name of the function that makes the DAG: what it calls its tasks is its own business."""
    taken = [each.name for each in emission.constants] + [each.name for each in emission.definitions]
    return Names([*reserved(emission.options.operators), *taken]).free(dag_id(emission))


def entry_graph(emission: Emission) -> Template:
    """The entrypoint as a graph: a single step gets one around it."""
    template = emission.templates[emission.workflow.entrypoint]
    if isinstance(template.body, Graph):
        return template
    given = tuple(
        Argument(each.name, WorkflowParameter(each.name))
        for each in template.inputs.parameters
        if each.name in emission.parameters
    )
    made = surrounding(f"run-{template.name}", template, Task(template.name, template.name, arguments=given))
    made = msgspec.structs.replace(made, inputs=type(made.inputs)())
    emission.add(made)
    return made
