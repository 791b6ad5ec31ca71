"""The page with every diagnostic code: what `couler explain` prints."""

from __future__ import annotations

from couler_py.ir.codes import explanations
from couler_py.ir.diagnostics import Code

AREAS = {
    "CLR1": "Writing a workflow",
    "CLR2": "The check, whatever the engine",
    "CLR3": "Imported workflows on other engines",
    "CLR4": "Argo Workflows",
    "CLR5": "Apache Airflow",
    "CLR6": "This machine",
    "CLR7": "The command line",
    "CLR8": "Printing a workflow as Python",
    "CLR9": "Policies",
}
HEAD = """# Diagnostics

Everything that couler finds wrong has a code, a place, a reason and a way out. `couler explain CODE` prints what
stands here.
"""


def files() -> dict[str, str]:
    """The page by its path below docs/."""
    parts = [HEAD]
    area = ""
    for code in explanations().values():
        if code.code[:4] != area:
            area = code.code[:4]
            parts.append(f"## {AREAS[area]}\n")
        parts.append(_section(code))
    return {"diagnostics.md": "\n".join(parts)}


def _section(code: Code) -> str:
    lines = [f"### {code.code}: {code.title} {{ #{code.code.lower()} }}", "", code.text.strip(), ""]
    for label, example in (("Wrong:", code.example), ("Right:", code.instead)):
        if example:
            lines += [label, "", "~~~~~ python", example.strip("\n"), "~~~~~", ""]
    return "\n".join(lines)
