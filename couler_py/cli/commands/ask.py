"""`couler ask TEXT`: a workflow from a description."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from couler_py import api
from couler_py.cli import asking, running
from couler_py.cli.commands.compile import write as write_bundle
from couler_py.cli.commands.print import write
from couler_py.cli.console import clean, console
from couler_py.cli.errors import UsageError
from couler_py.cli.exits import USAGE
from couler_py.cli.load import load
from couler_py.ir.model import Workflow
from couler_py.nl import Draft, ask

_SUFFIX = {"argo": ".yaml", "airflow": ".dag.py", "ir": ".json"}


def command(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What the workflow should do; - reads it from stdin.")],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="PATH", help="The Python file to write, or - for stdout.")
    ] = "-",
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="MODEL",
            envvar="COULER_MODEL",
            help="offline, which needs nothing; openai:NAME; or a server, as http://localhost:11434/v1.",
        ),
    ] = "offline",
    refine: Annotated[
        str | None, typer.Option("--refine", metavar="FILE", help="Change the workflow of a file as the text says.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="ENGINE", help="Write what an engine reads, too: argo, airflow, ir.")
    ] = None,
    run: Annotated[bool, typer.Option("--run", help="Run it on this machine, after a yes.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Take the stated defaults, and run without asking.")] = False,
    share_source: Annotated[
        bool, typer.Option("--share-source", help="Send the source of fitting steps of your lake to the model, too.")
    ] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Ask anew what was asked before.")] = False,
    prices: Annotated[
        str | None, typer.Option("--prices", metavar="FILE", help="Your prices for a million tokens, as TOML.")
    ] = None,
    form: Annotated[str, typer.Option("--format", metavar="text|json", help="How the answer is told.")] = "text",
) -> None:
    """Write a workflow that a text describes, as Python source."""
    if form not in ("text", "json"):
        raise UsageError(f"--format {form}: there is text and json")
    if text == "-":
        text = sys.stdin.read()
    old = load(refine).workflow if refine is not None else None
    told = asking.options(model, yes=yes, share_source=share_source, cache=not no_cache, prices=prices)
    draft = ask(text, model=model, refine=old, **told)
    before = "" if old is None else _source(old)
    if form == "json":
        sys.stdout.write(running.to_json(_as_json(draft, before)))
    else:
        _tell(draft, before, refine or "")
        asking.tell_cost(draft)
    if draft.workflow is None:
        raise typer.Exit(USAGE)
    if draft.questions and not yes:
        console(stderr=True).print("the draft stands as it is said above; `--yes` takes it so", style="dim")
    if output != "-":
        write(draft.source, output)
    elif form == "text" and refine is None:
        sys.stdout.write(draft.source)
    if to is not None:
        _compiled(draft, to, output)
    if run:
        _run(draft, yes=yes)


def _source(workflow: Workflow) -> str:
    from couler_py.printer import print_python

    return print_python(workflow)


def _tell(draft: Draft, before: str, file: str) -> None:
    """Say what there is to say, on stderr: the source alone is for stdout."""
    out = console(stderr=True)
    for flag in draft.flags:
        out.print(f"not followed: {clean(flag.text)}", style="bold red")
        out.print(f"  {flag.why}")
    for each in draft.impossible:
        out.print(f"impossible: {clean(each)}", style="bold red")
    for command_ in draft.commands:
        out.print(f"it has the command: {clean(command_)}", style="yellow")
    if before and draft.workflow is not None:
        for line in _difference(before, draft.source, file):
            print(clean(line))
    elif draft.explanation:
        out.print(clean(draft.explanation))
    for title, texts in (
        ("assumed", draft.assumptions),
        ("open", [_asked(each.text, each.default) for each in draft.questions]),
    ):
        for text in texts:
            out.print(f"{title}: {clean(text)}")
    if draft.unused:
        out.print(f"not used: {clean(' '.join(draft.unused))}", style="dim")


def _asked(text: str, default: str) -> str:
    return f"{text} (else: {default})" if default else text


def _difference(before: str, after: str, file: str) -> list[str]:
    name = Path(file).name
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")
    return list(lines)


def _as_json(draft: Draft, before: str) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(draft)
    if before:
        found["diff"] = _difference(before, draft.source, "flow.py") if draft.workflow is not None else []
    return found


def _compiled(draft: Draft, to: str, output: str) -> None:
    bundle = api.compile(draft.workflow, to=to)
    path = Path("workflow.py" if output == "-" else output).with_suffix(_SUFFIX.get(bundle.engine, ".txt"))
    for written in write_bundle(bundle, str(path)):
        console(stderr=True).print(f"wrote {written}")


def _run(draft: Draft, *, yes: bool) -> None:
    """Run a draft in its images, after a yes: what was drafted is no program that the person wrote."""
    from couler_py.backends.local.client import LocalClient

    assert draft.workflow is not None
    if "NotImplementedError" in draft.source:
        console(stderr=True).print(
            "steps that are still to be written will fail when the run comes to them", style="yellow"
        )
    if not yes and not (sys.stdin.isatty() and typer.confirm("Run it now?", err=True)):
        raise UsageError("--run needs a yes: answer it on a terminal, or give --yes")
    client = LocalClient()
    bundle = api.compile(draft.workflow, to="local")
    setting = api.settings_of(draft.workflow).runtime
    try:
        runtime = client.choose_runtime(None, setting, trusted=False)
    except ValueError as error:
        raise UsageError(str(error)) from None
    running.watch(client, lambda: client.submit(bundle, runtime=runtime))
