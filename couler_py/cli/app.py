"""The group of all commands. It knows their names and summaries; their modules are imported when called."""

from __future__ import annotations

import difflib
import importlib
import keyword
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from couler_py.cli import profiles
from couler_py.cli.exits import MEANINGS

WRITE, RUN, LOOK, CLUSTER, SET = "Write", "Run", "Look and steer", "On a cluster", "Settings"

COMMANDS: dict[str, tuple[str, str]] = {
    "ask": (WRITE, "Write a workflow that a text describes, as Python source."),
    "lint": (WRITE, "Say what is wrong with a workflow, without running it."),
    "graph": (WRITE, "Draw a workflow as a picture (SVG), a page (HTML) or Mermaid text."),
    "plan": (WRITE, "Say what a run would do: levels, critical path, resources, engines, sizes, and what passes do."),
    "compile": (WRITE, "Write what an engine reads: Argo YAML, a DAG file for Airflow, or the IR as JSON."),
    "convert": (WRITE, "Write Argo's YAML for another engine, and say what isn't portable."),
    "print": (WRITE, "Write a workflow as Python source that builds the same workflow."),
    "import": (WRITE, "Write Argo's YAML, or a DAG of Airflow, as a Python program that builds the same."),
    "lock": (WRITE, "Pin the packages of a workflow's steps, with all that they need."),
    "image": (WRITE, "Build and push the container images of a workflow's steps."),
    "engines": (WRITE, "Show which engine can do what."),
    "explain": (WRITE, "Explain a diagnostic code, as CLR201."),
    "lake": (WRITE, "Keep steps and workflows for drafts to find again: add, list, search."),
    "run": (RUN, "Run a workflow on this machine and watch it."),
    "deploy": (RUN, "Put a workflow where an engine keeps them: Airflow's folder of DAGs."),
    "submit": (RUN, "Compile a workflow and start it on an engine."),
    "resume": (RUN, "Go on with a run that was stopped from outside: an approval, a dead engine."),
    "retry": (RUN, "Run the failed tasks of a run again and keep what succeeded."),
    "backfill": (RUN, "Run the past instants of a workflow's schedule, each once."),
    "rerun": (RUN, "Start a new run of the workflow of an old one, with its parameters or others."),
    "resubmit": (RUN, "Start a new run like an old one, on the cluster that has it."),
    "pause": (RUN, "Let Airflow start nothing of a workflow, until `couler unpause`."),
    "unpause": (RUN, "Go on with a workflow that was paused."),
    "suspend": (RUN, "Start no further steps of a run until `couler resume`."),
    "stop": (RUN, "Stop a run: running steps end, no others start, exit handlers run."),
    "terminate": (RUN, "End a run and its steps now, without exit handlers."),
    "runs": (LOOK, "List runs, newest first."),
    "show": (LOOK, "Show all of a run, or of one of its tasks."),
    "status": (LOOK, "Show how a run stands now."),
    "watch": (LOOK, "Watch a run until it ends."),
    "logs": (LOOK, "Print what the steps of a run wrote."),
    "artifacts": (LOOK, "List the files that a run left, or fetch them."),
    "get": (LOOK, "Print the object of a run as its cluster has it."),
    "events": (LOOK, "Show what was told of a run to others, and deliver what waits."),
    "metrics": (LOOK, "Print the numbers of a run for Prometheus."),
    "report": (LOOK, "Write a run as one HTML page."),
    "diff": (LOOK, "Show two runs beside each other."),
    "why": (LOOK, "Say why a step was computed, and not taken from the cache."),
    "resources": (LOOK, "Say what steps used, what they asked for in vain, and what to ask for."),
    "export": (LOOK, "Write a run as a folder or archive to mail."),
    "delete": (LOOK, "Forget runs and what they left."),
    "cache": (LOOK, "Look at results that steps keep for others: list, show, prune, clear, replay."),
    "checkpoint": (LOOK, "Look at what training steps have saved: ls, verify, diff, reshard, export."),
    "gc": (LOOK, "Free what nothing needs any more."),
    "template": (CLUSTER, "Keep templates on a cluster: apply, create, list, get, delete."),
    "cron": (CLUSTER, "Keep schedules on a cluster: apply, create, list, get, suspend, resume, delete."),
    "rbac": (CLUSTER, "Print the least rights that a workflow, and whoever submits it, needs there."),
    "secrets": (SET, "Keep secrets on this machine for steps that name them: set, list, delete."),
    "config": (SET, "Show the settings that hold here, and where each comes from."),
}
"""By name: what it is for, and its summary. Plain text, no panels: rich alone would double the time of `--help`."""

HELP = """Write a workflow once, in Python; run it here, on Argo Workflows and on Apache Airflow.

FILE is a Python file, a module (package.flows), Argo's YAML or an IR file (flow.json). FILE:NAME
picks one of several workflows in it.
"""


class LazyGroup(TyperGroup):
    """Commands by name. Listing them imports none; the one that is called is imported."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A stand-in with the summary, for help and completion of names."""
        if cmd_name not in COMMANDS:
            return None
        summary = COMMANDS[cmd_name][1]
        return TyperCommand(cmd_name, help=summary, rich_markup_mode=None)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands by subject, then what exit codes mean."""
        subjects = dict.fromkeys(subject for subject, _ in COMMANDS.values())
        for subject in subjects:
            with formatter.section(subject):
                formatter.write_dl([(name, summary) for name, (about, summary) in COMMANDS.items() if about == subject])
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in MEANINGS.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, from its own module."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            hint = f" Did you mean {near[0]!r}?" if near else f" `{ctx.command_path} --help` lists them."
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        found = super().resolve_command(ctx, args)
        name: str = found[0] or ""
        return (name, load(name), found[2])

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what goes wrong is shown to a person, and becomes the exit code."""
        from couler_py.cli.errors import exit_on_error

        with exit_on_error():
            return super().invoke(ctx)


def load(name: str) -> Any:
    """The command of that name, from `couler_py.cli.commands.NAME` (`NAME_` where the name is a word of Python's)."""
    module = importlib.import_module(f"couler_py.cli.commands.{name}{'_' if keyword.iskeyword(name) else ''}")
    app: typer.Typer | None = getattr(module, "app", None)
    if app is None:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(module.command)
    return profiles.add(typer.main.get_command(app), name)


def group() -> Any:
    """The whole command line."""
    app = typer.Typer(
        cls=LazyGroup,
        help=HELP,
        no_args_is_help=True,
        rich_markup_mode=None,
        add_completion=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(
        version: Annotated[
            bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
        ] = False,
    ) -> None:
        pass

    return profiles.add(typer.main.get_command(app), "")


def _print_version(value: bool) -> None:
    if value:
        from couler_py import __version__

        typer.echo(f"couler-py {__version__}")
        raise typer.Exit
