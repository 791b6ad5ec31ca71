"""Names, order and templates of a recording; what never leaks from one to another."""

import threading

import pytest

import couler_py.dsl as couler
from couler_py.dsl.recorder import Recorder, current
from couler_py.ir import expr as ir
from couler_py.ir import to_json
from couler_py.ir.model import (
    After,
    Argument,
    ArtifactArgument,
    Container,
    External,
    InputArtifact,
    Inputs,
    OutputParameter,
    Outputs,
    Parameter,
    Template,
)
from couler_py.ir.types import INT, STR
from tests.unit.dsl.recorded import (
    add,
    argument,
    increase,
    make_file,
    number,
    numbers,
    read_file,
    say,
    sound,
    tasks,
    text_of,
)


def echo(name: str = "echo", image: str = "busybox", **changes) -> Template:
    return Template(name, Container(image, ("echo",)), **changes)


def test_a_call_is_named_after_its_function_and_counted():
    with couler.Workflow("test") as w:
        for _ in range(3):
            number()
    assert list(tasks(sound(w.build()))) == ["number", "number-2", "number-3"]


def test_a_given_name_is_used_verbatim_and_counts_give_way():
    with couler.Workflow("test") as w:
        one, two = number(), number()
        increase.named("number-2")(two)
        say.named("number")("x")
        add(one, two)
    found = tasks(sound(w.build()))
    assert list(found) == ["number-4", "number-3", "number-2", "number", "add"]
    assert argument(found["add"], "a") == ir.TaskOutput("number-4", "result")
    assert argument(found["add"], "b") == ir.TaskOutput("number-3", "result")


def test_a_name_that_is_not_legal_keeps_its_display_form():
    with couler.Workflow("test") as w:
        number.named("Hello World!")()
    (task,) = tasks(sound(w.build())).values()
    assert (task.name, task.display) == ("Hello-World", "Hello World!")


def test_two_calls_of_one_given_name_are_refused_naming_both_lines():
    with couler.Workflow("test"):
        number.named("a")()
        with pytest.raises(couler.RecordingError) as caught:
            number.named("a")()
    (found,) = caught.value.diagnostics
    assert found.code == "CLR141"
    assert found.source is not None
    ((_, other),) = found.related
    assert found.source.line == other.line + 2


def test_the_same_content_is_shared_and_another_is_refused_naming_both_lines():
    recorder = Recorder("test")
    with recorder.recording():
        recorder.call(echo(), {})
        recorder.call(echo(), {})
        with pytest.raises(couler.RecordingError, match="two different steps are named 'echo'") as caught:
            recorder.call(echo(image="alpine"), {})
    assert list(recorder.templates.by_name) == ["echo"]
    assert caught.value.diagnostics[0].source is not None


def test_generated_names_of_templates_are_counted():
    recorder = Recorder("test")
    with recorder.recording():
        recorder.call(echo(), {}, generated=True)
        recorder.call(echo(image="alpine"), {}, generated=True)
        recorder.call(echo(image="alpine"), {}, generated=True)
    found = tasks(couler.build(recorder))
    assert [(task.name, task.call) for task in found.values()] == [
        ("echo", "echo"),
        ("echo-2", "echo-2"),
        ("echo-3", "echo-2"),
    ]


def test_steps_without_data_between_them_are_not_ordered():
    with couler.Workflow("test") as w:
        number()
        number()
    assert all(task.after == () for task in tasks(sound(w.build())).values())


def test_order_that_a_person_writes():
    with couler.Workflow("test") as w:
        a, b, c, d = number(), number(), number(), number()
        a >> b >> c
        d.after(a, b)
        couler.after([c, d], a, kind="always")
    found = tasks(sound(w.build()))
    assert found["number-2"].after == (After("number"),)
    assert found["number-3"].after == (After("number-2"), After("number", "always"))
    assert found["number-4"].after == (After("number"), After("number-2"), After("number", "always"))


def test_order_across_graphs_is_order_of_what_holds_them():
    inner = []
    with couler.Workflow("test") as w:
        a, n = number(), number()
        couler.when(n > 0, lambda: inner.append(increase(n)) or increase(inner[0]).after(a))
        say("x").after(inner[0])
    found = tasks(sound(w.build()))
    assert After("number") in found["increase-branch"].after
    assert found["say"].after == (After("increase-branch"),)


def test_a_cycle_is_refused_where_it_closes():
    with couler.Workflow("test"):
        a = number()
        b = increase(a)
        c = increase(b)
        with pytest.raises(couler.RecordingError, match="number -> increase -> increase-2 -> number") as caught:
            a.after(c)
        with pytest.raises(couler.RecordingError, match="wait for itself"):
            a.after(a)
    assert len(caught.value.diagnostics[0].related) == 3


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: increase("1"), "'1' is not int"),
        (lambda: increase(text_of(1)), "wants int, but text_of is str"),
        (lambda: increase(numbers(2)), r"wants int, but numbers is list\[int\]"),
        (lambda: increase(make_file("a")), "wants a value"),
        (lambda: increase(say("a")), "gives nothing back"),
        (lambda: say({"a": number()}), "wants str"),
        (lambda: add(1, [number()]), "wants int"),
    ],
)
def test_an_argument_of_the_wrong_type_is_refused_at_its_line(use, message):
    with couler.Workflow("test"), pytest.raises(couler.RecordingError, match=message) as caught:
        use()
    source = caught.value.diagnostics[0].source
    assert source is not None
    assert source.file.endswith("test_recording.py")


def test_a_mismatch_names_both_steps_and_their_lines():
    with couler.Workflow("test"):
        text = text_of(1)
        with pytest.raises(couler.RecordingError) as caught:
            increase(text)
    (found,) = caught.value.diagnostics
    places = [what for what, _ in found.related]
    assert places == ["text_of comes from here", "increase is defined here"]


def test_a_template_that_lacks_or_does_not_know_an_input():
    template = echo(
        inputs=Inputs((Parameter("x", INT), Parameter("y", STR, "a")), (InputArtifact("f", "/f"),)),
        outputs=Outputs((OutputParameter("out", path="/out"),)),
    )
    recorder = Recorder("test")
    with recorder.recording():
        with pytest.raises(couler.RecordingError, match="needs the argument 'x'"):
            recorder.call(template, {})
        with pytest.raises(couler.RecordingError, match="needs the argument 'f'"):
            recorder.call(template, {"x": 1})
        with pytest.raises(couler.RecordingError, match="has no input 'z'"):
            recorder.call(template, {"x": 1, "f": make_file("a"), "z": 1})
        assert recorder.call(template, {"x": 1, "f": make_file("a")})._couler_type == STR


def test_values_inside_of_containers_travel():
    @couler.step
    def report(scores: dict[str, list[int]]) -> None: ...

    with couler.Workflow("test") as w:
        report({"a": [number(), 2], "b": []})
    found = tasks(sound(w.build()))
    assert argument(found["report"], "scores") == ir.Record(
        ("a", "b"),
        (ir.Record((), (ir.TaskOutput("number", "result"), ir.Literal(2)), "list"), ir.Literal([])),
    )


def test_sequential_recordings_order_each_call_behind_the_one_before():
    recorder = Recorder("test", sequential=True)
    with recorder.recording():
        n = number()
        couler.concurrent([lambda: (text_of(1), text_of(2)), lambda: say("b")])
        couler.when(n > 0, lambda: say("then"), otherwise=lambda: say("else"))
        couler.map(lambda x: increase(x), [1, 2])
    found = tasks(couler.build(recorder))
    edges = {name: [edge.task for edge in task.after] for name, task in found.items()}
    assert edges == {
        "number": [],
        "text_of": ["number"],
        "text_of-2": ["text_of"],
        "say": ["number"],
        "say-2": ["text_of-2", "say"],
        "say-3": ["text_of-2", "say"],
        "increase": ["say-2", "say-3"],
    }


def test_threads_record_apart():
    built = {}
    barrier = threading.Barrier(2)

    def build(name: str, count: int) -> None:
        with couler.Workflow(name) as w:
            barrier.wait()
            for _ in range(count):
                number()
            barrier.wait()
        built[name] = list(tasks(w.build()))

    threads = [threading.Thread(target=build, args=(f"w{count}", count)) for count in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == {"w2": ["number", "number-2"], "w3": ["number", "number-2", "number-3"]}


def test_nothing_is_in_progress_after_an_exception():
    @couler.workflow
    def broken():
        number()
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        broken.build()
    assert current() is None
    assert number(3) == 3


def test_a_workflow_is_the_same_bytes_each_time():
    @couler.workflow
    def flow(a: int = 1):
        couler.map(lambda x: increase(add(x, a)), numbers(3))

    assert to_json(flow.build()) == to_json(flow.build())


@pytest.mark.parametrize("verb", [lambda: couler.map(number, [1]), lambda: couler.when(True, lambda: number())])
def test_verbs_outside_of_a_workflow_say_so(verb):
    with pytest.raises(couler.RecordingError, match="outside of a workflow"):
        verb()


def test_a_template_on_the_engine_takes_values_and_files():
    recorder = Recorder("test")
    with recorder.recording():
        found = recorder.external(External("shared", "train"), {"x": number(), "data": make_file("a")})
        say(found.answer)
        read_file(found.artifact("model"))
    graph = tasks(couler.build(recorder))
    assert graph["train"].arguments == (Argument("x", ir.TaskOutput("number", "result")),)
    assert graph["train"].artifacts == (ArtifactArgument("data", ir.TaskArtifact("make_file", "result")),)
    assert argument(graph["say"], "text") == ir.TaskOutput("train", "answer")
    assert argument(graph["read_file"], "source") == ir.TaskArtifact("train", "model")


def test_a_text_that_is_not_unicode_is_told_of_where_it_stands() -> None:
    recorder = Recorder("test")
    with (
        recorder.recording(),
        pytest.raises(couler.RecordingError, match="holds half of a surrogate pair at 3") as caught,
    ):
        recorder.call(echo(image="caf\udce9"), {})
    assert [found.code for found in caught.value.diagnostics] == ["CLR228"]
