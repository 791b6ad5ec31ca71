"""What has one right answer is rewritten in the text, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.backends.argo.lint import lint
from couler_py.backends.argo.lint.fix import fix
from couler_py.backends.yaml_reader import load
from tests.unit.backends.argo.lint.mutants import CRON, GRAPH, MUTANTS, WORKFLOW


def pieces(name: str) -> str:
    """A workflow with a piece of text in its spec, at the place where the example stands."""
    return WORKFLOW.replace("  entrypoint: main\n", f"  entrypoint: main\n{name}")


FIXES = {
    "a mutex in a block": (
        "  synchronization:\n    mutex: # the one\n      name: a\n      namespace: b # of b\n",
        "  synchronization:\n    mutexes: # the one\n    - name: a\n      namespace: b # of b\n",
    ),
    "a mutex in brackets": (
        "  synchronization: {mutex: {name: a}}\n",
        "  synchronization: {mutexes: [{name: a}]}\n",
    ),
    "a mutex indented by four": (
        "  synchronization:\n    mutex:\n        name: a\n",
        "  synchronization:\n    mutexes:\n      - name: a\n",
    ),
    "a mutex indented by one": (
        "  synchronization:\n    mutex:\n     name: a\n     namespace: b\n",
        "  synchronization:\n    mutexes:\n    - name: a\n      namespace: b\n",
    ),
    "a semaphore": (
        "  synchronization:\n    semaphore:\n      configMapKeyRef:\n        name: a\n        key: b\n",
        "  synchronization:\n    semaphores:\n    - configMapKeyRef:\n        name: a\n        key: b\n",
    ),
    "a time to live": (
        "  ttlSecondsAfterFinished: 60 # a minute\n",
        "  ttlStrategy:\n    secondsAfterCompletion: 60 # a minute\n",
    ),
    "yes": ("  suspend: yes # wait\n", "  suspend: true # wait\n"),
    "an octal number": ("  parallelism: 010\n", "  parallelism: 8\n"),
    "a number for text": ("  serviceAccountName: 1.10\n", '  serviceAccountName: "1.10"\n'),
    "a boolean for text": ("  serviceAccountName: yes\n", '  serviceAccountName: "yes"\n'),
    "a date": ("  serviceAccountName: 2024-01-01\n", '  serviceAccountName: "2024-01-01"\n'),
    "spaces in a tag": (
        '  serviceAccountName: "{{ workflow.parameters.city }}-{{workflow.name }}"\n',
        '  serviceAccountName: "{{workflow.parameters.city}}-{{workflow.name}}"\n',
    ),
}


@pytest.mark.parametrize(("before", "after"), FIXES.values(), ids=FIXES)
def test_a_mistake_with_one_answer_is_mended(before: str, after: str) -> None:
    assert fix(pieces(before)) == pieces(after)


@pytest.mark.parametrize(("before", "after"), FIXES.values(), ids=FIXES)
def test_mended_text_has_no_findings_and_stays(before: str, after: str) -> None:
    assert [each.message for each in lint(pieces(after)) if each.code < "CLR440"] == []
    assert fix(pieces(after)) == pieces(after)


@pytest.mark.parametrize(("before", "after"), FIXES.values(), ids=FIXES)
def test_line_breaks_are_those_of_the_file(before: str, after: str) -> None:
    assert fix(pieces(before).replace("\n", "\r\n")) == pieces(after).replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('schedule: "0 3 * * *" # at three', 'schedules:\n  - "0 3 * * *" # at three'),
        ("schedule: 0 3 1,15 * *", "schedules:\n  - 0 3 1,15 * *"),
        ("schedule:\n    '@daily'", "schedules:\n  - '@daily'"),
    ],
)
def test_a_schedule_becomes_a_list(before: str, after: str) -> None:
    schedules = 'schedules: ["0 3 * * *"]'
    assert fix(CRON.replace(schedules, before)) == CRON.replace(schedules, after)
    assert lint(CRON.replace(schedules, after)) == []


def test_what_a_cache_said_beside_its_name_goes() -> None:
    memoize = "    memoize:\n      key: a\n      maxAge: 1h\n      cache:\n        configMap:\n          name: a\n"
    memoize += "%s    container"
    before = WORKFLOW.replace("    container", memoize % "          key: b # never read\n")
    assert fix(before) == WORKFLOW.replace("    container", memoize % "")


def test_dependencies_beside_depends_become_depends() -> None:
    old = "        depends: a\n        template: work\n"
    c = "      - name: c\n        dependencies:\n        - a\n        - b\n        template: work\n"
    assert fix(GRAPH.replace(old, old + c)) == GRAPH.replace(
        old, old + "      - name: c\n        depends: a && b\n        template: work\n"
    )


def test_what_goes_on_after_a_failure_moves_to_those_that_wait() -> None:
    mixed = GRAPH.replace(
        "      - name: a\n", "      - name: a\n        continueOn: {failed: true, error: false}\n"
    ).replace(
        "        depends: a\n        template: work\n",
        "        template: work\n        dependencies: [a]\n      - {name: c, template: work, depends: b.Failed}\n",
    )
    assert fix(mixed) == GRAPH.replace(
        "        depends: a\n        template: work\n",
        "        template: work\n        depends: (a.Succeeded || a.Skipped || a.Daemoned || a.Failed)\n"
        "      - {name: c, template: work, depends: b.Failed}\n",
    )


@pytest.mark.parametrize(
    "tasks",
    [
        # nothing waits for c: that it may fail, `depends` can't say
        "      - {name: c, template: work, dependencies: [a], continueOn: {failed: true}}\n",
        # another names b in its `depends`: what it waits for would change
        "      - {name: c, template: work, dependencies: [b]}\n      - {name: d, template: work, depends: b}\n",
        # there is no x
        "      - {name: c, template: work, dependencies: [x]}\n",
        # a comment would be lost
        "      - name: c\n        template: work\n        dependencies:\n        - a # first\n        - b\n",
    ],
)
def test_a_graph_without_one_right_answer_stays(tasks: str) -> None:
    text = GRAPH.replace("        depends: a\n", "        depends: a\n        continueOn: {failed: true}\n").replace(
        "  - name: work", f"{tasks}  - name: work"
    )
    assert fix(text) == text


@pytest.mark.parametrize(
    "text",
    [
        pieces("  synchronization:\n    mutex: &m\n      name: a\n"),
        pieces("  synchronization:\n    mutex: *m\n").replace("metadata:", "metadata: &m"),
        pieces("  synchronization: {mutex: {name: a}, mutexes: [{name: b}]}\n"),
        pieces("  synchronization:\n    mutex:\n"),
        pieces("  ttlSecondsAfterFinished: 3\n  ttlStrategy: {secondsAfterSuccess: 3}\n"),
        pieces("  podPriority: 3\n"),
        pieces('  serviceAccountName: "{{ .Values.name }}{{= 1 + 1 }}{{ mine }}"\n'),
        "a: [\n---\n" + pieces("  suspend: yes\n"),
        "kind: ConfigMap\ndata: {a: yes}\n",
        "",
    ],
)
def test_what_has_no_one_answer_or_is_nobodys_stays(text: str) -> None:
    assert fix(text) == text


def test_a_byte_order_mark_stays() -> None:
    assert fix("\ufeff" + pieces("  suspend: yes\n")) == "\ufeff" + pieces("  suspend: true\n")


def test_thousands_of_mistakes_in_one_file_are_mended_each_where_it_stands() -> None:
    words = [word for number in range(3000) for word in ("yes", str(number))]
    before = "".join(f"  - {{name: {word}}}\n" for word in words)
    after = "".join(f'  - {{name: "{word}"}}\n' for word in words)
    assert fix(pieces(f"  imagePullSecrets:\n{before}")) == pieces(f"  imagePullSecrets:\n{after}")


def test_of_the_items_of_a_list_each_is_mended_by_itself() -> None:
    items = [
        "- apiVersion: v1\n  kind: ConfigMap\n  data: {a: yes}\n",
        "- apiVersion: argoproj.io/v1alpha1\n  kind: Workflow\n  spec: {suspend: yes}\n",
    ]
    text = "apiVersion: v1\nkind: List\nitems:\n" + "".join(items * 2)
    assert fix(text) == text.replace("suspend: yes", "suspend: true")


def test_of_right_files_only_spaces_in_tags_change(reference_data: Path) -> None:
    for path in sorted((reference_data / "argo" / "examples").rglob("*.yaml")):
        text = path.read_text()
        mended = fix(text)
        assert trimmed(mended) == trimmed(text), path
        assert fix(mended) == mended, path


def trimmed(text: str) -> str:
    """The text without spaces inside the braces of tags."""
    return re.sub(r"\{\{\s*(?!=)(.*?)\s*\}\}", r"{{\1}}", text)


MISTAKES = [*FIXES.values()]


@given(
    st.lists(st.sampled_from([before for before, _ in MISTAKES]), max_size=4, unique_by=lambda text: text.split(":")[0])
)
def test_fixes_don_t_disturb_each_other_and_change_no_other_line(mistakes: list[str]) -> None:
    text = pieces("".join(mistakes))
    mended = fix(text)
    answers = dict(FIXES.values())
    assert mended == pieces("".join(answers[each] for each in mistakes))
    assert fix(mended) == mended


@given(st.sampled_from([mutant.text for mutant in MUTANTS if len(mutant.text) < 2000]))
def test_fixing_adds_no_finding(text: str) -> None:
    before = [(each.code, each.message) for each in lint(text)]
    assert {(each.code, each.message) for each in lint(fix(text))} <= set(before)


def test_data_that_is_right_stays_the_same_data() -> None:
    text = pieces("  suspend: yes\n  parallelism: 010\n")
    assert load(fix(text)) == load(text)
