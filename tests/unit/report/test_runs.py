"""The page of a run: what it tells, in which order, within which bounds, and that it is only ever text."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.report import cards, entries, gantt, graph, logs, measured, previews
from couler_py.report.facts import Area, Attachment, AttemptFacts, Log, Look, Picture, RunFacts, Series, TaskFacts
from couler_py.report.runs import run_page
from tests.unit.report.reading import HOSTILE, Tags

PNG = b"\x89PNG\r\n\x1a\n"


def demo(**more: Any) -> RunFacts:
    tasks = (
        TaskFacts("train", "Succeeded", 1, 2.0, 100.5, 102.5, metrics={"loss": ((0, 1.0), (1, 0.5))}, ready=100.0),
        TaskFacts(
            "pick", "Failed", 2, 1.0, 102.5, 103.5, "exit code 1\nValueError: no <good> model",
            metrics={"acc": ((0, 0.9),)},
            tries=(
                AttemptFacts(0, "Failed", 102.5, 102.9, "exit code 1", 1, log=Log("first try\n")),
                AttemptFacts(
                    1, "Failed", 103.0, 103.5, "exit code 1\nValueError: no <good> model", 1, 0.25, 3 * 1024**2,
                    log=Log("second try\nValueError: no <good> model\n"),
                ),
            ),
        ),
        TaskFacts("tell", "Blocked"),
        TaskFacts("load", "Succeeded", 0, 0.0, 100.0, 100.0, cached="demo-0/load", outputs={"n": 3}),
    )  # fmt: skip
    facts: dict[str, Any] = {
        "run": "demo-1",
        "workflow": "demo",
        "status": "Failed",
        "started": 100.0,
        "finished": 104.5,
        "parameters": {"seed": 3},
        "outputs": {"score": 0.98},
        "tasks": tasks,
    }
    return RunFacts(**(facts | more))


def ids(tags: Tags) -> set[str]:
    return {str(attributes["id"]) for _, attributes in tags.found if "id" in attributes}


def links(tags: Tags) -> list[str]:
    return [str(anchor["href"]) for anchor in tags.of("a")]


def test_a_page_shows_parameters_outputs_tasks_metrics_and_places() -> None:
    found = [
        Attachment("train/plot", "/x/plot.png", "image/png", PNG),
        Attachment("pick/report", "/x/report.html", "text/html", b"<h1>hi</h1>"),
        Attachment("result", "/x/result", "text/html", b"<h1>hi</h1>"),
        Attachment("train/model", "s3://bucket/model"),
        Attachment("train/scores", "/x/scores.csv", "text/csv", b"model,score\nsvm,0.98\n", 21),
    ]
    tags = Tags(run_page(demo(), found))
    for text in ("demo-1", "0.98", "seed", "acc", "4.5 s", "s3://bucket/model", "svm", "3 MiB", "demo-0/load"):
        assert text in tags.text
    drawn = ["what all tasks used together"] * 2 + ["train/plot", ""]  # the last is that of the metric
    assert [image["alt"] for image in tags.of("img")] == drawn
    assert [frame["srcdoc"] for frame in tags.of("iframe")] == ["<h1>hi</h1>"]


def test_what_failed_stands_first_with_its_last_lines_and_how_to_go_on() -> None:
    html = run_page(demo())
    text = Tags(html).text
    head = text[: text.index("Parameters")]
    assert "exit code 1: ValueError: no <good> model" in head
    assert "second try\nValueError: no <good> model" in head
    assert "first try" not in head
    assert "1 task was blocked by it and never started." in head
    assert "couler logs demo-1 pick" in head
    assert "couler retry demo-1" in head


def test_a_run_that_succeeded_says_nothing_of_failures() -> None:
    tasks = (TaskFacts("a", "Succeeded", 1, 1.0, 100.0, 101.0),)
    text = Tags(run_page(demo(status="Succeeded", tasks=tasks, message=""))).text
    assert "couler retry" not in text
    assert "couler logs" not in text


def test_every_link_leads_to_a_place_in_the_page() -> None:
    areas = (Area("pick", "pick, failed", 10, 20, 50, 30), Area("gone", "gone", 0, 0, 1, 1))
    picture = Picture("<svg/>", 200, 100, areas)
    tags = Tags(run_page(demo(picture=picture)))
    assert {link.removeprefix("#") for link in links(tags)} <= ids(tags)
    (box,) = [anchor for anchor in tags.of("a") if anchor.get("aria-label") == "pick, failed"]
    assert (box["href"], box["style"]) == ("#t1", "left:5.0%;top:20.0%;width:25.0%;height:30.0%")


def test_a_page_is_the_same_each_time_it_is_made() -> None:
    assert run_page(demo()) == run_page(demo())


def test_times_are_in_utc_wherever_the_page_is_made() -> None:
    assert "1970-01-01 00:01:40 UTC" in Tags(run_page(demo())).text


def test_a_page_has_no_script_asks_for_nothing_and_runs_without_either() -> None:
    tags = Tags(run_page(demo(), [Attachment("x", "/x", "image/png", PNG)]))
    assert tags.of("script") == tags.of("link") == tags.of("form") == []
    assert all(str(image["src"]).startswith("data:") for image in tags.of("img"))
    assert all(href.startswith("#") for href in links(tags))
    assert [name for _, attributes in tags.found for name in attributes if name.startswith("on")] == []


def everywhere(text: str) -> str:
    attempt = AttemptFacts(0, "Failed", 1.0, 4.0, text, 1, 1.0, 5, (Look(1, 0, 5), Look(2, 1, 6)), Log(text))
    task = TaskFacts(
        text, "Failed", 2, 1.0, 1.0, 4.0, text, text, {text: ((0, 1.0), (1, 2.0)), "m": ((0, 1.0),)}, "graph", 0.5,
        (attempt, attempt), {text: text}, text,
    )  # fmt: skip
    cached = TaskFacts("c", "Succeeded", 1, 1.0, 1.0, 4.0, cached=text)
    table = io.StringIO()
    csv.writer(table).writerows([[text, "b"], ["1", text]])
    picture = Picture("<svg/>", 10, 10, (Area(text, text, 0, 0, 5, 5),))
    return run_page(
        RunFacts(text, text, "Failed", text, 0.0, 5.0, text, {text: text}, {text: text}, (task, cached), None, picture),
        [
            Attachment(text, text, "text/csv", table.getvalue().encode(errors="replace")),
            Attachment(text, text, "text/html", text.encode(errors="replace")),
            Attachment(text, text, "text/plain", f"{text} ".encode(errors="replace")),
        ],
    )


def test_hostile_text_stays_text_wherever_it_comes_from() -> None:
    tags = Tags(everywhere(HOSTILE))
    assert tags.of("script") == []
    assert [image for image in tags.of("img") if image["src"] == "x"] == []
    assert "49" not in tags.text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1))
@settings(max_examples=30)
def test_no_text_adds_an_element_or_an_attribute(text: str) -> None:
    plain = [(name, set(attributes)) for name, attributes in Tags(everywhere("x")).found if name not in ("td", "th")]
    found = [(name, set(attributes)) for name, attributes in Tags(everywhere(text)).found if name not in ("td", "th")]
    assert found == plain


# ---- bounds


def test_of_many_tasks_all_that_failed_are_listed_and_the_page_says_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(entries, "MOST", 50)
    monkeypatch.setattr(gantt, "MOST_ROWS", 40)
    tasks = [TaskFacts(f"t{number}", "Succeeded", 1, 1.0, float(number), number + 1.0) for number in range(60)]
    tasks[55] = TaskFacts("broken", "Failed", 1, 0.001, 55.0, 55.001, "boom")
    tags = Tags(run_page(RunFacts("r", "w", "Failed", started=0.0, finished=61.0, tasks=tuple(tasks))))
    assert "#t55" in links(tags)
    assert "10 tasks are not listed: those that failed and the longest are." in tags.text
    assert "20 more tasks have no row here: those that failed and the longest have." in tags.text
    assert {link.removeprefix("#") for link in links(tags)} <= ids(tags)


def test_logs_of_failed_tasks_get_the_room_first() -> None:
    def task(name: str, status: str) -> TaskFacts:
        return TaskFacts(name, status, tries=(AttemptFacts(0, status, log=Log("x" * 40)),))

    tasks = [task("a", "Succeeded"), task("b", "Succeeded"), task("c", "Failed")]
    found, missing = logs.chosen(tasks, most=100)
    assert set(found) == {(2, 0), (0, 0)}
    assert missing == 1


def test_the_last_lines_of_a_log_are_shown_and_those_before_are_folded() -> None:
    found = logs.excerpt(Log("".join(f"line {number}\n" for number in range(50)), left_out=7))
    assert found.last.split("\n") == [f"line {number}" for number in range(30, 50)]
    assert found.before.split("\n") == [f"line {number}" for number in range(30)]
    assert (found.lines_before, found.left_out) == (30, 7)


def test_artifacts_beyond_the_bound_are_counted_and_the_same_content_is_shown_once() -> None:
    files = [Attachment(name, name, "image/png", PNG + name.encode() * 20) for name in ("a", "b", "c")]
    shown, missing = previews.cards([*files, files[0]], most=60)
    assert ([card.title for card in shown if hasattr(card, "title")], missing) == (["a", "b"], 1)


# ---- the graph


def test_boxes_of_a_fan_out_are_counted_by_the_states_of_its_items() -> None:
    items = [("m[0]", "Succeeded"), ("m[1]", "Failed"), ("m[0]/x", "Succeeded")]
    found = graph.tally([("m", "Failed"), *items, ("a", "Skipped")])
    assert (found["m"].state, found["m"].counts) == ("Failed", (("Failed", 1), ("Succeeded", 1)))
    assert (found["m/x"].state, found["a"].state) == ("Succeeded", "Skipped")


# ---- what was measured


def test_a_long_series_is_thinned_to_what_a_plot_can_show_and_keeps_its_last_point() -> None:
    series = tuple((float(step), float(step)) for step in range(100_000))
    found = measured.thinned(series)
    assert len(found) <= measured.POINTS + 1
    assert (found[0], found[-1]) == (series[0], series[-1])
    assert measured.thinned(series[:10]) == series[:10]


def test_a_curve_goes_from_step_to_step_in_whatever_order_they_were_logged() -> None:
    def drawn(series: Series) -> list[cards.Card]:
        return list(measured.cards([TaskFacts("a", "Succeeded", metrics={"loss": series})]))

    assert drawn(((1.0, 9.0), (2.0, 2.0), (0.0, 0.0), (1.0, 1.0))) == drawn(((0.0, 0.0), (1.0, 1.0), (2.0, 2.0)))


def test_a_run_with_thousands_of_metrics_says_which_have_no_plot() -> None:
    curves = {f"m{number}": ((0.0, 1.0), (1.0, 2.0)) for number in range(50)}
    single = {f"s{number}": ((0.0, 1.0),) for number in range(1200)}
    found = list(measured.cards([TaskFacts("a", "Succeeded", metrics=curves | single)]))
    assert [type(card).__name__ for card in found] == ["Plot"] * 40 + ["Text", "Table", "Text"]
    assert found[40] == cards.Text("10 more metrics have no plot here.")
    assert found[42] == cards.Text("200 more values are not listed.")
