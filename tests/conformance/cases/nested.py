"""Graphs as tasks of graphs: their edges, conditions, outcome and outputs."""

from __future__ import annotations

from couler_py.ir.expr import Compare, First, Input, Literal
from tests.conformance.podless import ABSENT, OFF, ON, act, case, graph, said

GOOD = graph("good", act("x"), act("y", value="x"), out=said("y"))
BAD = graph("bad", act("x", "F"), act("y", order="x"), out=said("y"))
MENDED = graph("mended", act("x", "F"), act("mend", on_failure="x"), act("y", order="mend"), out=said("y"))
CLEANED = graph("cleaned", act("x", "F"), act("clean", always="x"), act("y", order="clean"), out=said("y"))
EMPTYISH = graph("all-off", act("x", "K"), act("y", "K"), out=said("y", ABSENT))
FORGIVING = graph("forgiving", act("x", "F"), act("mend", on_failure="x"), out=said("x", ABSENT))
OUTER = graph("outer", act("in", call="good"), act("after", value="in"), out=said("after"))
OUTER_BAD = graph("outer-bad", act("in", call="bad"), act("after", on_failure="in"), out=said("after", ABSENT))
CHOICE = graph(
    "choice",
    act("yes", when=Compare("==", Input("does"), Literal("S"))),
    act("no", when=Compare("!=", Input("does"), Literal("S"))),
    out=First((said("yes"), said("no"))),
)

CASES = [
    case("nested-graph-gives-its-output", act("g", call="good"), act("r", value="g"),
         states="g=S g/x=S g/y=S r=S", says="r=r(y(x))", templates=(GOOD,)),
    case("nested-graph-fails", act("g", call="bad"), act("r", value="g"), act("h", on_failure="g"),
         states="g=F g/x=F g/y=B r=B h=S", status="F", templates=(BAD,)),
    case("nested-graph-absolved-from-outside", act("g", call="bad"), act("h", on_failure="g"),
         states="g=F h=S", says="h=h", templates=(BAD,)),
    case("nested-graph-absolved-inside", act("g", call="mended"), act("r", value="g"),
         states="g=S g/x=F g/mend=S g/y=S r=S", says="r=r(y)", templates=(MENDED,)),
    case("nested-always-does-not-absolve", act("g", call="cleaned"), act("r", value="g"),
         states="g=F g/x=F g/clean=S g/y=S r=B", status="F", templates=(CLEANED,)),
    case("nested-graph-with-nothing-run-succeeds", act("g", call="all-off"), act("r", value="g"),
         states="g=S g/x=K g/y=K r=S", says="r=r(-)", templates=(EMPTYISH,)),
    case("absolved-output-caught-inside", act("g", call="forgiving"), act("r", value="g"),
         states="g=S g/x=F r=S", says="r=r(-)", templates=(FORGIVING,)),
    case("nested-graph-switched-off", act("g", "K", call="good"), act("v", value="g"), act("o", order="g"),
         act("e", or_else="g"), states="g=K v=K o=S e=S", says="v=- o=o e=e(-)", templates=(GOOD,)),
    case("nested-graph-skipped-by-a-value", act("k", "K"), act("g", call="good", value="k"), act("o", order="g"),
         states="k=K g=K o=S", says="o=o", templates=(GOOD,)),
    case("nested-graph-blocked", act("f", "F"), act("g", call="good", order="f"), act("h", on_failure="g"),
         states="f=F g=B h=S", says="h=h", templates=(GOOD,)),
    case("nested-graph-as-failure-handler", act("f", "F"), act("g", call="good", on_failure="f"),
         act("r", value="g"), states="f=F g=S r=S", says="r=r(y(x))", templates=(GOOD,)),
    case("nested-graph-as-always-task", act("f", "F"), act("g", call="mended", always="f"),
         states="f=F g=S g/mend=S", status="F", templates=(MENDED,)),
    case("nested-failing-graph-as-handler", act("f", "F"), act("g", call="bad", on_failure="f"),
         states="f=F g=F", status="F", templates=(BAD,)),
    case("nested-twice", act("g", call="outer"), act("r", value="g"),
         states="g=S g/in=S g/in/x=S g/after=S r=S", says="r=r(after(y(x)))", templates=(OUTER, GOOD)),
    case("nested-twice-failure-absolved-between", act("g", call="outer-bad"), act("r", value="g"),
         states="g=S g/in=F g/in/x=F g/after=S r=S", says="r=r(after)", templates=(OUTER_BAD, BAD)),
    case("first-of-tasks-inside-a-graph", act("p", call="choice"), act("q", "F", call="choice"),
         act("r", value="p q"), states="p=S p/yes=S p/no=K q=S q/yes=K q/no=S r=S", says="r=r(yes,no)",
         templates=(CHOICE,)),
    case("one-graph-called-three-times", act("g1", call="good"), act("g2", call="good", value="g1"),
         act("g3", "K", call="good", value="g2"), act("r", or_else="g3", value="g1"),
         states="g1=S g2=S g3=K r=S", says="r=r(y(x),-)", templates=(GOOD,)),
    case("if-else-join-first-branch", act("c"), act("then", call="good", value="c", when=ON),
         act("else", call="outer", value="c", when=OFF), act("join", first="then else"),
         states="c=S then=S else=K join=S", says="join=join(y(x))", templates=(GOOD, OUTER)),
    case("if-else-join-other-branch", act("c"), act("then", call="good", value="c", when=OFF),
         act("else", call="outer", value="c", when=ON), act("join", first="then else"),
         states="c=S then=K else=S join=S", says="join=join(after(y(x)))", templates=(GOOD, OUTER)),
    case("if-else-join-with-a-failing-branch", act("then", call="bad", when=ON),
         act("else", call="good", when=OFF), act("join", first="then else"),
         states="then=F else=K join=B", status="F", templates=(BAD, GOOD)),
    case("if-else-join-behind-a-skip", act("k", "K"), act("then", call="good", value="k", when=ON),
         act("else", call="good", value="k", when=OFF), act("join", first="then else"),
         act("after", or_else="join"),
         states="k=K then=K else=K join=K after=S", says="after=after(-)", templates=(GOOD,)),
    case("if-without-else-needs-or-else", act("then", call="good", when=OFF), act("join", or_else="then"),
         states="then=K join=S", says="join=join(-)", templates=(GOOD,)),
    case("first-of-three-takes-the-earliest-present", act("a", "K"), act("b"), act("c"),
         act("r", first="a b c"), states="a=K b=S c=S r=S", says="r=r(b)"),
    case("first-follows-the-order-written", act("a"), act("b"), act("r", first="b a"),
         states="a=S b=S r=S", says="r=r(b)"),
    case("first-waits-for-all", act("a"), act("b1"), act("b2", "F", order="b1"), act("r", first="a b2"),
         states="a=S b1=S b2=F r=B", status="F"),
]  # fmt: skip
