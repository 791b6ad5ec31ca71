"""The options of an engine: what it says of one that it can't have."""

from __future__ import annotations

import pytest

from couler_py.backends.airflow.options import Options as OfAirflow
from couler_py.backends.argo.options import Options as OfArgo
from couler_py.backends.base import OptionError
from couler_py.backends.given import options_from


def test_what_is_given_is_taken_and_the_rest_has_its_default() -> None:
    assert options_from({"operators": "local"}, OfAirflow, "airflow") == OfAirflow(operators="local")
    assert options_from({"kind": None}, OfArgo, "argo") == OfArgo()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"operatrs": "local"}, "x: there is no option 'operatrs'; did you mean 'operators'?"),
        ({"operators": "lcal"}, "x: operators can't be 'lcal'; it is one of docker, kubernetes, local"),
        (
            {"zz": 1},
            "x: there is no option 'zz'; the options are operators, artifacts, claim, runner, store_secret, dag_id, "
            "namespace, on_unsupported",
        ),
    ],
)
def test_a_mistake_is_told_with_what_there_is(given: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError) as raised:
        options_from(given, OfAirflow, "x")
    assert str(raised.value) == said


def test_an_option_that_may_be_left_out_has_its_words_too() -> None:
    with pytest.raises(OptionError, match=r"kind can't be 'Job'; it is one of .*Workflow"):
        options_from({"kind": "Job"}, OfArgo, "argo")


def test_a_value_of_another_type_is_refused() -> None:
    with pytest.raises(OptionError, match=r"Expected `str`, got `int` - at `\$.dag_id`; the options are operators"):
        options_from({"dag_id": 1}, OfAirflow, "airflow")
