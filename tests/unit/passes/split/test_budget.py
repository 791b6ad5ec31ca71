"""What `split=` and `--split` take, and what they say of what they don't."""

from __future__ import annotations

import math
from typing import Any

import pytest

from couler_py.passes.split import Budget, SplitError
from couler_py.passes.split.budget import budget_of

KNOWN = "the budgets are tasks, pods, bytes, status, slots, start"


@pytest.mark.parametrize(
    ("given", "budget"),
    [
        ("auto", Budget()),
        ("tasks=100,slots=8", Budget(tasks=100, slots=8)),
        (" bytes=1e6 , start=0.5", Budget(bytes=1_000_000, start=0.5)),
        (Budget(pods=3), Budget(pods=3)),
        ("off", None),
        (False, None),
        (None, None),
    ],
)
def test_a_budget_is_a_text_or_itself(given: Any, budget: Budget | None) -> None:
    assert budget_of(given) == budget


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", 'give "auto", "off", a Budget, or budgets like "tasks=100,slots=8"'),
        (100, 'give "auto", "off", a Budget, or budgets like "tasks=100,slots=8"'),
        ("tasks=x", "tasks is a whole number, not 'x'"),
        ("tasks=", "tasks is a whole number, not ''"),
        ("slots=1.5", "slots is a whole number, not '1.5'"),
        ("start=soon", "start is a number, not 'soon'"),
        ("task=100", f"there is no budget 'task'; {KNOWN}"),
        ("tasks=0", f"a budget of 0 tasks holds nothing: give 1 or more; {KNOWN}"),
        ("start=nan", f"a part can't start nan seconds after it may: give 0 or more; {KNOWN}"),
        ("tasks=1,tasks=2", "says one budget twice"),
    ],
)
def test_what_is_no_budget_is_refused_in_words_of_the_option(given: Any, said: str) -> None:
    with pytest.raises(SplitError) as refused:
        budget_of(given)
    assert str(refused.value).startswith(f"split={given!r}")
    assert str(refused.value).endswith(said)


@pytest.mark.parametrize("slots", [math.nan, 2.5, "8", True])
def test_a_budget_counts_in_whole_numbers(slots: Any) -> None:
    with pytest.raises(SplitError, match="a budget of slots is a whole number, not"):
        Budget(slots=slots)
