"""Conditions in words."""

from __future__ import annotations

import pytest

from couler_py.nl import ask
from couler_py.nl.offline import conditions
from couler_py.nl.offline.script import Script


@pytest.mark.parametrize(
    ("said", "field", "op", "value", "loop"),
    [
        ("if the accuracy is above 0.9", "accuracy", ">", 0.9, False),
        ("only if accuracy >= 90%", "accuracy", ">=", 0.9, False),
        ("when the F1 score is 0.8 or higher", "f1_score", ">=", 0.8, False),
        ("unless the error rate is below 0.1", "error_rate", ">=", 0.1, False),
        ("if there are no critical findings", "critical_findings", "==", 0, False),
        ("until val loss < 0.1", "val_loss", "<", 0.1, True),
        ("wenn die Genauigkeit größer als 0,9 ist", "genauigkeit", ">", 0.9, False),
        ("si la precisión es mayor que 0.85", "precision", ">", 0.85, False),
        ("如果准确率大于 0.9", "", ">", 0.9, False),
        ("A recall of 0.8 or more means", "recall", ">=", 0.8, False),
        ("Recall under 0.3? Then", "recall", "<", 0.3, False),
        ("with an RMSE below 2.5", "rmse", "<", 2.5, False),
        ("Under 0.7 accuracy:", "accuracy", "<", 0.7, False),
        ("with zero critical findings:", "critical_findings", "==", 0, False),
        ("should the F1 be lower than 0.7", "f1", "<", 0.7, False),
        ("Liegt der Fehler unter 0.1,", "fehler", "<", 0.1, False),
    ],
)
def test_a_comparison_with_a_number(said: str, field: str, op: str, value: float, loop: bool) -> None:
    [found] = conditions.read(Script(said)).values()

    assert (found.kind, found.field, found.op, found.value, found.loop) == ("number", field, op, value, loop)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("if it is good enough", "open"),
        ("if the new model is better than the one in production", "flag"),
        ("if the upload fails", "failed"),
        ("once the tests pass", "passed"),
        ("if heads", "text"),
        ("heads ->", "text"),
        ("if it is valid", "flag"),
        ("if the row counts differ", "flag"),
        ("if the service is down", "flag"),
        ("on failure restore it", "failed"),
        ("if somebody says so,", "flag"),
        ("until the loss stops improving", "flag"),
    ],
)
def test_other_conditions_are_known_by_what_they_need(said: str, kind: str) -> None:
    [found] = conditions.read(Script(said)).values()

    assert found.kind == kind


def test_a_range_has_two_ends() -> None:
    [found] = conditions.read(Script("if it's between 0.8 and 0.9")).values()

    assert (found.op, found.value, found.upper) == (">=", 0.8, 0.9)


def test_what_is_done_is_no_part_of_a_condition_without_a_comma() -> None:
    script = Script("if the boss likes it send the report")

    conditions.read(script)

    assert script.rest.endswith("send the report")


@pytest.mark.parametrize("number", ["1e400", "-1e309", "9" * 400])
def test_a_number_beyond_all_others_is_no_error(number: str) -> None:
    assert ask(f"load a.csv, train until the loss is below {number}, at most 5 times").text
