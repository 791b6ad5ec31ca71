"""What a step prints, where others read it: on Argo `outputs.result`, which no template declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from couler_py.ir.expr import Raw, TaskOutput
from couler_py.ir.model import Graph, Http, OutputParameter, Script, Template
from couler_py.ir.pod import Container
from couler_py.passes.portable.nodes import nodes

RESULT = "result"
_READ = re.compile(r"""(?:tasks|steps)(?:\.|\[['"])([-\w]+)(?:['"]\])?\??\.outputs\??\.result\b""")
"""A result that an expression reads (workflow/controller/operator.go, generateOutputResultRegex)."""


def with_results(templates: Iterable[Template]) -> tuple[Template, ...]:
    """The templates, each whose result somebody reads with an output of that name."""
    known = {template.name: template for template in templates}
    read = {called for template in known.values() for called in _read(template, known)}
    return tuple(_printing(template) if name in read else template for name, template in known.items())


def _read(template: Template, known: Mapping[str, Template]) -> Iterable[str]:
    """The names of the templates whose results a graph reads."""
    if not isinstance(template.body, Graph):
        return
    calls = {task.name: task.call for task in template.body.tasks}
    for node in nodes(template):
        names: list[str] = []
        if isinstance(node, TaskOutput) and node.name == RESULT:
            names = [node.task]
        elif isinstance(node, Raw):
            names = _READ.findall(node.text)
        for name in names:
            call = calls.get(name)
            if isinstance(call, str) and call in known:
                yield call


def _printing(template: Template) -> Template:
    if not isinstance(template.body, Container | Script | Http):
        return template
    if any(output.name == RESULT for output in template.outputs.parameters):
        return template
    printed = OutputParameter(RESULT, stdout=True)
    outputs = msgspec.structs.replace(template.outputs, parameters=(*template.outputs.parameters, printed))
    return msgspec.structs.replace(template, outputs=outputs)
