"""Fan-outs and fan-ins: lists known beforehand, empty ones, failed, tolerated and skipped items."""

from __future__ import annotations

from couler_py.ir.expr import Item, Literal, TaskItems
from couler_py.ir.model import Argument, Each, Sequence, Task
from tests.conformance.case import Case
from tests.conformance.podless import OFF, act, case, graph, said, saying

ITEMS_OF_M = Task(
    "i", "act", arguments=(Argument("does", Literal("S")), Argument("says", saying("i", [TaskItems("m")])))
)


def over(letters: str, **options: int) -> Each:
    return Each(Literal(list(letters)), **options)


def fan_out(name: str, letters: str, *, state: str, says: str = "", call: str = "act", status: str = "S",
            items: str = "", more: str = "", **options: int) -> Case:  # fmt: skip
    """A fan-out over items that end as their letter says, a reader by value, one by order, one on failure."""
    went = {"S": "v=S o=S h=K", "F": "v=B o=B h=S"}[state]
    return case(
        name,
        act("m", Item(), each=over(letters, **options), call=call),
        act("v", value="m"),
        act("o", order="m"),
        act("h", on_failure="m"),
        states=f"m={state} {went} {items} {more}",
        status=status,
        says=f"m={says}" if state == "S" else "",
    )


NESTED = graph("nested", act("inner", Item(), each=over("SS")), out=saying("n", [said("inner")]))

CASES = [
    fan_out("fan-out-all-succeed", "SSS", state="S", says="m(S);m(S);m(S)", items="m[0]=S m[1]=S m[2]=S"),
    fan_out("fan-out-of-one", "S", state="S", says="m(S)", items="m[0]=S"),
    fan_out("fan-out-of-none", "", state="S"),
    fan_out("fan-out-one-fails", "SFS", state="F", items="m[0]=S m[1]=F m[2]=S", status="F"),
    fan_out("fan-out-all-fail", "FF", state="F", items="m[0]=F m[1]=F", status="F"),
    fan_out("fan-out-tolerates-one", "SFS", state="S", says="m(S);m(S)", items="m[0]=S m[1]=F m[2]=S", tolerate=1),
    fan_out("fan-out-one-more-than-tolerated", "FSF", state="F", items="m[0]=F m[1]=S m[2]=F", status="F", tolerate=1),
    fan_out("fan-out-all-fail-and-are-tolerated", "FF", state="S", items="m[0]=F m[1]=F", tolerate=2),
    fan_out("fan-out-of-none-with-tolerance", "", state="S", tolerate=1),
    fan_out("fan-out-two-at-once", "SSSS", state="S", says="m(S);m(S);m(S);m(S)", parallel=2),
    fan_out("mapped-graph-all-give", "SS", state="S", says="work;work", call="mapped",
            more="m[0]/work=S m[1]/work=S"),
    fan_out("mapped-graph-some-give-nothing", "SKS", state="S", says="work;work", call="mapped",
            more="m[1]/work=K"),
    fan_out("mapped-graph-all-give-nothing", "KK", state="S", call="mapped"),
    fan_out("mapped-graph-one-fails", "SFK", state="F", call="mapped", status="F", items="m[1]=F"),
    fan_out("mapped-graph-failed-and-skipped-with-tolerance", "FKS", state="S", says="work", call="mapped",
            tolerate=1),
    fan_out("mapped-graph-skipped-items-are-not-failures", "KKF", state="S", call="mapped", tolerate=1),
    fan_out("mapped-graph-of-none", "", state="S", call="mapped"),
    case("fan-out-switched-off", act("m", "S", each=over("SS"), when=OFF), act("v", value="m"), act("o", order="m"),
         states="m=K v=K o=S", says="m= v=- o=o"),
    case("fan-out-skipped-by-a-value", act("k", "K"), act("m", each=over("SS"), value="k"), act("v", value="m"),
         states="k=K m=K v=K", says="v=-"),
    case("fan-out-blocked", act("f", "F"), act("m", each=over("SS"), order="f"), act("v", value="m"),
         states="f=F m=B v=B", status="F"),
    case("failed-fan-out-absolved", act("m", Item(), each=over("SF")), act("h", on_failure="m"),
         states="m=F h=S", says="h=h"),
    case("fan-out-as-failure-handler", act("f", "F"), act("m", each=over("SS"), on_failure="f"),
         states="f=F m=S", says="m=m(S);m(S)"),
    case("fan-in-is-one-value", act("m", Item(), each=over("SS")), act("r", value="m"),
         states="m=S r=S", says='r=r(["m(S)","m(S)"])'),
    case("fan-in-of-none-is-an-empty-list", act("m", Item(), each=over("")), act("r", value="m"),
         states="m=S r=S", says="r=r([])"),
    case("items-match-outputs-with-tolerated-failures", act("m", Item(), each=over("SFS", tolerate=1)), ITEMS_OF_M,
         states="m=S i=S", says='i=i(["S","S"])'),
    case("items-match-outputs-with-skipped-items", act("m", Item(), each=over("KSK"), call="mapped"), ITEMS_OF_M,
         states="m=S i=S", says='m=work i=i(["S"])'),
    case("items-of-an-empty-fan-out", act("m", Item(), each=over("")), ITEMS_OF_M,
         states="m=S i=S", says="i=i([])"),
    case("fan-out-over-a-sequence", act("m", each=Each(Sequence(count=Literal(3)))),
         states="m=S", says="m=m(0);m(1);m(2)"),
    case("fan-out-over-a-sequence-from-to", act("m", each=Each(Sequence(start=Literal(5), end=Literal(7)))),
         states="m=S", says="m=m(5);m(6);m(7)"),
    case("fan-out-over-a-sequence-of-none", act("m", each=Each(Sequence(count=Literal(0)))),
         states="m=S", says="m="),
    case("fan-out-over-the-list-of-another", act("m", Item(), each=over("SS")),
         act("n", each=Each(said("m"))), states="m=S n=S", says="n=n(m(S));n(m(S))"),
    case("fan-out-over-an-empty-list-of-another", act("m", each=over("")), act("n", each=Each(said("m"))),
         states="m=S n=S", says="n="),
    case("fan-out-over-an-absent-list", act("m", each=over("SS"), when=OFF), act("n", each=Each(said("m"))),
         act("after", order="n"), states="m=K n=K after=S", says="after=after"),
    case("fan-out-inside-a-nested-graph", act("g", call="nested"), states="g=S g/inner=S g/inner[1]=S",
         says='g=n(["inner(S)","inner(S)"])', templates=(NESTED,)),
]  # fmt: skip
