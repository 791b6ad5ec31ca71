"""Diagnostic codes of the area: cli."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR701",
        "The file raises while it is loaded",
        "To know its workflow, couler runs the file once, as `python FILE` would. What it raises then is shown with "
        "the lines of your own files. Bodies of steps don't run at that time: what they need belongs inside them, and "
        "what only a program needs belongs under `if __name__ == '__main__':`.",
        example="import torch  # not installed here\n\n@couler.step(packages=['torch'])\ndef train() -> float: ...",
        instead="@couler.step(packages=['torch'])\ndef train() -> float:\n    import torch\n    ...",
    ),
    Code(
        "CLR702",
        "There is no such file or module",
        "The first argument is a Python file (`flow.py`), a module that can be imported from here (`package.flow`), "
        "or an IR file that `couler compile --to ir` wrote (`flow.json`); after a colon the name of one of several "
        "workflows in it (`flow.py:nightly`).",
    ),
    Code(
        "CLR703",
        "The file has no workflow",
        "A file has a workflow if it holds a function with `@couler.workflow`, a `couler.Workflow`, or calls of "
        "Couler's verbs (`couler.run_container(...)`). Steps alone are no workflow: nothing calls them.",
        example="@couler.step\ndef greet(name: str) -> str: ...",
        instead="@couler.step\ndef greet(name: str) -> str: ...\n\n@couler.workflow\ndef hello(name: str = 'world'):\n"
        "    return greet(name)",
    ),
    Code(
        "CLR704",
        "It isn't clear which workflow of the file is meant",
        "The workflow of a file is the one named after the colon, else the one that the file hands to `couler.run` at "
        "its end, else the only one in it that no other calls, else what verbs recorded.",
        example="couler run flows.py",
        instead="couler run flows.py:nightly",
    ),
    Code(
        "CLR705",
        "The workflow has no such parameter",
        "The parameters of a workflow are the arguments of its function, or what `Workflow.parameter` declared. "
        "`couler plan FILE` and the error list them.",
    ),
    Code(
        "CLR706",
        "The value of a parameter is not of its type",
        "A parameter of type str takes the text as it is typed; every other type takes JSON: `-p n=3`, `-p on=true`, "
        '`-p \'names=["a", "b"]\'`. `-p NAME=@FILE` reads the value from a file, and `-p NAME=@@x` is the text '
        "`@x`. Where a type allows strings and other values, JSON is tried first: `-p 'x=\"5\"'` is the string 5.",
        example="couler run flow.py -p rounds=three",
        instead="couler run flow.py -p rounds=3",
    ),
    Code(
        "CLR707",
        "A parameter without a default is missing",
        "A parameter whose argument has no default has to be given for every run.",
        example="couler run flow.py",
        instead="couler run flow.py -p source=data.csv",
    ),
    Code(
        "CLR708",
        "A workflow that wasn't written here would run as processes",
        "Steps that are processes may do all that you may. For what you wrote in Python that is what you want. A "
        "workflow from elsewhere (Argo's YAML, an IR file, a document that a program has loaded) runs in containers; "
        "where there is neither podman nor docker, it runs only after you have said that you know it.",
        example="couler run downloaded.json",
        instead="couler print downloaded.json   # read it\ncouler run downloaded.json --runtime process",
    ),
    Code(
        "CLR709",
        "Passes leave a workflow in Argo's own words as it is",
        "A document that was imported, or written with `couler_py.argo_native`, is written out for Argo as it stands: "
        "no pass changes it, whatever is asked for by `--split`, `--retry-platform` and the like. For other engines it "
        "is translated first, and passes work on that.",
        example="couler compile imported.yaml --to argo --split auto",
        instead="couler compile imported.yaml --to argo",
    ),
)
