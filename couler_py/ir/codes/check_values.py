"""Diagnostic codes of the check: arguments, references, types, expressions."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR210",
        "An argument that nobody takes",
        "The called template has no input of that name.",
        example="train(dat=x)",
        instead="train(data=x)",
    ),
    Code(
        "CLR211",
        "A missing argument",
        "An input without a default must be given: by the step that calls the template, or, for the entrypoint, by a "
        "parameter of the workflow. A parameter's default is for callers who leave it out.",
        example="train()  # def train(data: str)",
        instead="train('s3://...')",
    ),
    Code(
        "CLR212",
        "A value of the wrong type",
        "Values are checked when the workflow is built. An int is a good float; nothing else is converted.",
        example="train(epochs='3')  # def train(epochs: int)",
        instead="train(epochs=3)",
    ),
    Code(
        "CLR213",
        "An output of the wrong type",
        "What one step returns is not what the other takes. The message names both places. `Any` fits both ways.",
        example="def score() -> str: ...\ndef publish(score: float): ...\npublish(score())",
        instead="def score() -> float: ...\npublish(score())",
    ),
    Code(
        "CLR214",
        "An argument given twice",
        "Each input takes one value.",
        example='Task("a", "t", (Argument("x", Literal(1)), Argument("x", Literal(2))))',
        instead='Task("a", "t", (Argument("x", Literal(2)),))',
    ),
    Code(
        "CLR215",
        "A file where a value is asked for, or the reverse",
        "Files and folders (`Path`) travel as artifacts, everything else as values.",
        example="def load() -> Path: ...\ndef train(data: str): ...\ntrain(load())",
        instead="def train(data: Path): ...\ntrain(load())",
    ),
    Code(
        "CLR216",
        "A file that can be absent and is needed",
        "`.or_else(None)` lets a file be absent; who reads it must be able to do without.",
        example="def report(plot: Path): ...\nreport(maybe.plot.or_else(None))",
        instead="def report(plot: Path | None): ...\nreport(maybe.plot.or_else(None))",
    ),
    Code(
        "CLR218",
        "A parameter that can have no value",
        "The list of values that a parameter may have is empty.",
        example='Parameter("size", enum=())',
        instead='Parameter("size", enum=("small", "large"))',
    ),
    Code(
        "CLR221",
        "An output that the step doesn't have",
        "The step is there; what is read of it isn't among its outputs.",
        example="train().scroe",
        instead="train().score",
    ),
    Code(
        "CLR222",
        "A parameter that the workflow doesn't have",
        "The run's parameters are those that the workflow declares.",
        example='WorkflowParameter("sed")',
        instead='WorkflowParameter("seed")',
    ),
    Code(
        "CLR223",
        "An input that the template doesn't have",
        "Inside a template, inputs are those that it declares.",
        example='Template("t", Container("alpine", args=(Text((Input("y"),)),)), Inputs((Parameter("x"),)))',
        instead='Template("t", Container("alpine", args=(Text((Input("x"),)),)), Inputs((Parameter("x"),)))',
    ),
    Code(
        "CLR224",
        "A reference that has no meaning there",
        "Outputs of steps are known in their own graph; the item of a fan-out in its arguments (a `when` on a fan-out "
        "is read once, before there are items); own outputs in the outputs of functions and loops; the status and "
        "the failures of the run in handlers; the last attempt in the condition of a retry; the number of the "
        "attempt inside a step.",
        example="couler.map(lambda m: couler.when(m > 1, lambda: train(m)), [1, 2])  # as a `when` on the fan-out",
        instead="a graph that takes the item and holds the `when`, mapped over the list",
    ),
    Code(
        "CLR225",
        "An own output that isn't there",
        "A function's or a loop's output is made from one that the function returns, or the loop's body has.",
        example='Loop("body", until=Own("dnoe"))',
        instead='Loop("body", until=Own("done"))',
    ),
    Code(
        "CLR226",
        "A value that nobody publishes",
        "Handlers don't see the outputs of steps, but values that steps publish by name.",
        example="couler.on_exit(lambda: report(couler.published('bset').or_else(0.0)))",
        instead="couler.on_exit(lambda: report(couler.published('best').or_else(0.0)))",
    ),
    Code(
        "CLR227",
        "A value that is too large",
        "A value reaches a step in its environment, where Linux allows 128 KiB for one string; encoded, that leaves "
        "96,000 bytes. Larger things travel as files.",
        example="train([0.0] * 100_000)",
        instead="train(numbers())  # def numbers() -> Path",
    ),
    Code(
        "CLR228",
        "A value that can't travel",
        "Values travel as JSON: strings of valid Unicode, integers of 64 bits, finite floats (NaN and the infinities "
        "as the strings that stand for them), lists, objects with string keys, at most 100 levels deep.",
        example="Literal({1: 'a'})",
        instead="Literal({'1': 'a'})",
    ),
    Code(
        "CLR245",
        "An output that comes from nowhere",
        "Each output says where it comes from, in one way that its template can: a path or the standard output of a "
        "container, an expression over a graph's steps or a loop's body, a query on a resource, what is supplied to "
        "a suspended step.",
        example='Template("t", Container("alpine"), outputs=Outputs((OutputParameter("x"),)))',
        instead='Template("t", Container("alpine"), outputs=Outputs((OutputParameter("x", path="/tmp/x"),)))',
    ),
    Code(
        "CLR246",
        "Outputs that don't fit what the function returns",
        "A function that returns one object has one output, one that returns fields has an output for each, one "
        "that returns nothing has none.",
        example='Function("f", ..., returns="none") with an output "result"',
        instead='Function("f", ..., returns="one") with an output "result"',
    ),
    Code(
        "CLR250",
        "A fan-out over something that is no list",
        "`map` runs a step for each element of a list: one written down, a range, or an output whose type is a list.",
        example="def count() -> int: ...\ncouler.map(train, count())",
        instead="def models() -> list[str]: ...\ncouler.map(train, models())",
    ),
    Code(
        "CLR251",
        "A list longer than the fan-out may be",
        "`max_items` (1,000 without saying) keeps a wrong list from flooding a cluster.",
        example="couler.map(train, range(2000))",
        instead="couler.map(train, range(2000), max_items=2000)",
    ),
    Code(
        "CLR252",
        "A bound of a fan-out that makes no sense",
        "`parallel` and `max_items` are at least 1, `tolerate` is at least 0.",
        example="couler.map(train, items, parallel=0)",
        instead="couler.map(train, items, parallel=1)",
    ),
    Code(
        "CLR253",
        "More at once than there can be",
        "`parallel` is larger than the longest list that the fan-out takes.",
    ),
    Code(
        "CLR254",
        "A range that is none",
        "A range has a count or an end, not both, and its numbers are ints.",
        example="Sequence(count=Literal(3), end=Literal(9))",
        instead="Sequence(count=Literal(3))",
    ),
    Code(
        "CLR261",
        "A loop carries something that isn't there",
        "`carry` leads an output of the body to an input of its next iteration; both must be the body's.",
        example='Loop("body", until, carry=(Carry("stat", "state"),))',
        instead='Loop("body", until, carry=(Carry("state", "state"),))',
    ),
    Code(
        "CLR262",
        "A loop carries a value of the wrong type",
        "The output that is carried on must fit the input that takes it, and each input takes one.",
        example="def body(n: int) -> str: ...",
        instead="def body(n: int) -> int: ...",
    ),
    Code(
        "CLR263",
        "A loop that can't run",
        "The body runs at least once, so `max_iterations` is at least 1.",
        example="couler.loop(body, until=done, max_iterations=0)",
        instead="couler.loop(body, until=done, max_iterations=10)",
    ),
    Code(
        "CLR264",
        "A loop doesn't know how to begin",
        "The first iteration gets the loop's own inputs, by name; an input of the body without a default must be "
        "among them.",
        example="couler.loop(body, until=done)  # def body(n: int)",
        instead="couler.loop(body, until=done, n=0)",
    ),
    Code(
        "CLR270",
        "A condition that is neither true nor false",
        "There is no truthiness: a number, a string or a list is no condition.",
        example="couler.when(step(), go)",
        instead="couler.when(step() > 0, go)",
    ),
    Code(
        "CLR271",
        "An operation on values that don't have it",
        "Only numbers are computed with, only two numbers or two strings have an order, only lists and objects have "
        "members. In every run the step would fail.",
        example="name() < 3  # def name() -> str",
        instead="size() < 3  # def size() -> int",
    ),
    Code(
        "CLR272",
        "An integer that engines compare differently",
        "Beyond ±2^53 a double can't tell an integer from its neighbour, and some engines compare doubles.",
        example="couler.when(n == 9007199254740993, go)",
        instead="couler.when(couler.format('{}', n) == '9007199254740993', go)",
    ),
    Code(
        "CLR273",
        "A comparison that is always the same",
        "The two sides have no value in common: a string is never a number, and steps end Succeeded, Failed, Skipped "
        "or Blocked.",
        example="couler.when(count() == '3', go)  # def count() -> int",
        instead="couler.when(count() == 3, go)",
    ),
    Code(
        "CLR276",
        "An expression that is too deep",
        "Expressions are at most 100 levels deep; engines read them recursively. A sum over many values is a step's "
        "work.",
        example="functools.reduce(operator.add, many_outputs)",
        instead="total(many_outputs)  # def total(numbers: list[int]) -> int",
    ),
)
