"""Loops without pods: carried values, the last iteration's outputs, the greatest number of iterations."""

from __future__ import annotations

from couler_py.ir.expr import Compare, Contains, Input, Length, Literal, Own, Text
from couler_py.ir.model import Carry, Inputs, Loop, OutputParameter, Outputs, Parameter, Template
from tests.conformance.podless import act, case, graph, said

# Adds an "x" to the text it is given; the text is carried.
GROW = graph("grow", act("a"), out=Text((Input("says"), "x")))
FALTER = graph("falter", act("a", "F"), out=said("a"))
LATE = graph(
    "late",
    act("a", "F", when=Compare("==", Length(Input("says")), Literal(3))),
    out=Text((Input("says"), "x")),
)


def loop(body: str, until: object, most: int = 10, name: str = "loop") -> Template:
    return Template(
        name,
        Loop(body, until=until, carry=(Carry("out", "says"),), max_iterations=most),  # type: ignore[arg-type]
        Inputs((Parameter("does"), Parameter("says"))),
        Outputs((OutputParameter("out", value=Own("out")),)),
    )


def length(number: int) -> Compare:
    return Compare(">=", Length(Own("out")), Literal(number))


AT_ONCE = Literal(True)
CASES = [
    case("loop-runs-once-at-least", act("l", call="loop"), act("r", value="l"),
         states="l=S r=S", says="r=r(lx)", templates=(loop("grow", AT_ONCE), GROW)),
    case("loop-carries-its-output", act("l", call="loop"), act("r", value="l"),
         states="l=S r=S", says="r=r(lxxx)", templates=(loop("grow", length(4)), GROW)),
    case("loop-ends-at-the-last-iteration", act("l", call="loop"),
         states="l=S", says="l=lxx", templates=(loop("grow", length(3), most=2), GROW)),
    case("loop-without-an-end-is-failed", act("l", call="loop"), act("h", on_failure="l"),
         states="l=F h=S", says="h=h", templates=(loop("grow", length(9), most=3), GROW)),
    case("loop-ends-when-an-iteration-fails", act("l", call="loop"), act("r", value="l"),
         states="l=F r=B", status="F", templates=(loop("falter", AT_ONCE), FALTER)),
    case("loop-ends-when-a-later-iteration-fails", act("l", call="loop"), act("h", on_failure="l"),
         states="l=F h=S", says="h=h", templates=(loop("late", length(9)), LATE)),
    case("loop-switched-off", act("l", "K", call="loop"), act("r", or_else="l"),
         states="l=K r=S", says="r=r(-)", templates=(loop("grow", AT_ONCE), GROW)),
    case("loop-blocked", act("f", "F"), act("l", call="loop", order="f"), act("h", on_failure="l"),
         states="f=F l=B h=S", says="h=h", templates=(loop("grow", AT_ONCE), GROW)),
    case("loop-until-a-text-holds-another", act("l", call="loop"),
         states="l=S", says="l=lxx", templates=(loop("grow", Contains(Own("out"), Literal("xx"))), GROW)),
    case("loop-whose-body-is-a-step", act("l", call="loop"),
         states="l=S", says="l=l", templates=(loop("act", AT_ONCE),)),
]  # fmt: skip
