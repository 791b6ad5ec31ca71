"""What Argo would refuse of a document, said at the lines of the program that writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from couler_py.backends.argo.paths import Path
from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.model import Source

if TYPE_CHECKING:
    from couler_py.backends.argo.lint import Finding
    from couler_py.backends.argo.native.workflows import Written

JSON = dict[str, Any]


def findings(written: Written) -> tuple[Diagnostic, ...]:
    """What the linter says of a document, each finding at the line of its task, its template, or the document.

    Needs the extra `argo` (jsonschema-rs).
    """
    from couler_py.backends.argo.lint import lint_documents

    data = written.data
    return tuple(_diagnostic(finding, written, data) for _, finding in lint_documents([data]))


def _diagnostic(finding: Finding, written: Written, data: JSON) -> Diagnostic:
    step, source = place(written, data, finding.path)
    related = tuple((what, place(written, data, path)[1]) for what, path in finding.related)
    return Diagnostic(
        finding.code,
        finding.severity,
        finding.message,
        source=source,
        step=step,
        why=finding.why,
        help=finding.help,
        related=related,
    )


def place(written: Written, data: JSON, path: Path) -> tuple[str, Source]:
    """The task, template or document that a place in the data belongs to: its name, and where it was written."""
    recording = written.recording
    home = path[1:] if path[:1] == ("spec",) else ()
    home = home[1:] if home[:1] == ("workflowSpec",) else home
    if home[:1] != ("templates",) or len(home) < 2:
        return written.name, written.source
    inner = data["spec"]["workflowSpec"] if written.kind == "CronWorkflow" else data["spec"]
    template = inner["templates"][home[1]]
    name = template.get("name", "")
    if (task := _task(template, home[2:])) and (name, task) in recording.tasks:
        return f"{name}.{task}", recording.tasks[name, task]
    return name, recording.places.get(name, written.source)


def _task(template: JSON, path: Path) -> str:
    match path:
        case ("dag", "tasks", int(number), *_):
            return str(template["dag"]["tasks"][number].get("name", ""))
        case ("steps", int(group), int(number), *_):
            return str(template["steps"][group][number].get("name", ""))
        case _:
            return ""
