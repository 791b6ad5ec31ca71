"""A workflow as a page: its picture and its parts."""

from __future__ import annotations

from msgspec import UNSET

from couler_py.ir.model import Parameter, Template, Workflow
from couler_py.ir.types import describe
from couler_py.report.cards import Plot, Table, Text
from couler_py.report.graph.phrase import phrase
from couler_py.report.page import Section, page, value_text


def workflow_page(workflow: Workflow, picture: str) -> str:
    """The HTML of a page with the picture (SVG), the parameters and the templates of a workflow."""
    about = (Text(workflow.description),) if workflow.description else ()
    sections = [Section("", (*about, Plot("", picture)))]
    if workflow.parameters:
        rows = tuple(_parameter(parameter) for parameter in workflow.parameters)
        sections.append(Section("Parameters", (Table(("name", "type", "default", "about"), rows),)))
    rows = tuple(_template(template) for template in workflow.templates)
    sections.append(Section("Templates", (Table(("name", "kind", "image", "inputs", "outputs", "written in"), rows),)))
    facts = {"written in": str(workflow.source)} if workflow.source else {}
    if workflow.schedule:
        facts["starts"] = ", ".join(workflow.schedule.crons)
    return page(workflow.display or workflow.name, sections, facts=facts)


def _parameter(parameter: Parameter) -> tuple[str, ...]:
    default = "required" if parameter.default is UNSET else value_text(parameter.default)
    return (parameter.name, describe(parameter.type), default, parameter.description)


def _template(template: Template) -> tuple[str, ...]:
    image = getattr(template.body, "image", "")
    inputs, outputs = template.inputs, template.outputs
    return (
        template.display or template.name,
        str(template.body.__struct_config__.tag),
        phrase(image) if image else "",
        ", ".join([each.name for each in inputs.parameters] + [each.name for each in inputs.artifacts]),
        ", ".join([each.name for each in outputs.parameters] + [each.name for each in outputs.artifacts]),
        str(template.source or ""),
    )
