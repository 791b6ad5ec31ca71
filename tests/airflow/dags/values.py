"""DAGs of the sort that people have: parameters, XComs, templates, mapped tasks. `RESULTS` is what tasks give."""

from __future__ import annotations

import json
import logging
from typing import Any

from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import PythonOperator, PythonVirtualenvOperator
from airflow.sdk import DAG, Param, dag, task, task_group

log = logging.getLogger(__name__)
LIMIT = 3
FACTORS = {"small": 2, "large": 10}

RESULTS = {
    "taskflow": {"extract": {"rows": [1, 2, 3], "name": "orders"}, "transform": 6, "load": "orders: 6"},
    "several_outputs": {"split": {"low": [1], "high": [5, 9]}, "count": 2},
    "classic_xcom": {"push": [1, 2], "pull": 3, "more": 13},
    "parameters": {"greet": "hello ada", "double": 6, "show": "ada 3"},
    "helpers": {"scale": 20},
    "templated": {"say": "3 it's classic", "read": "3 it's classic!"},
    "mapped": {"numbers": [1, 2, 3], "square": [1, 4, 9], "total": 14},
    "mapped_with_more": {"times": [10, 20], "total": 30},
    "mapped_over_pairs": {"pair": ["a1", "a2", "b1", "b2"]},
    "mapped_over_objects": {"describe": ["x=1", "y=2"]},
    "mapped_bash": {"say": ["one", "two"], "join": "one two"},
    "mapped_group": {"wave.add_one": [2, 3], "wave.double": [4, 6], "total": 10},
    "chosen_by_value": {"size": 7, "large": 70, "join": 70},
    "a_default_for_what_was_skipped": {"size": 1, "join": "nothing"},
    "lists_of_results": {"one": 1, "two": 2, "add": 3},
    "from_the_context": {"where": "from_the_context", "both": [1, 1]},
}


@dag(schedule=None)
def taskflow():
    @task
    def extract() -> dict[str, Any]:
        return json.loads('{"rows": [1, 2, 3], "name": "orders"}')

    @task
    def transform(orders: dict[str, Any]) -> int:
        return sum(orders["rows"])

    @task
    def load(total: int, name: str) -> str:
        log.info("loading %s", name)
        return f"{name}: {total}"

    orders = extract()
    load(transform(orders), orders["name"])


taskflow()


@dag(schedule=None)
def several_outputs():
    @task(multiple_outputs=True)
    def split(numbers):
        return {
            "low": [each for each in numbers if each < LIMIT],
            "high": [each for each in numbers if each >= LIMIT],
        }

    @task
    def count(numbers):
        return len(numbers)

    count(split([1, 5, 9])["high"])


several_outputs()


def push():
    return [1, 2]


def pull(ti):
    values = ti.xcom_pull(task_ids="push")
    return sum(values)


def more(factor, **context):
    instance = context["ti"]
    return factor + instance.xcom_pull(task_ids="pull")


with DAG("classic_xcom", schedule=None):
    (
        PythonOperator(task_id="push", python_callable=push)
        >> PythonOperator(task_id="pull", python_callable=pull)
        >> PythonOperator(task_id="more", python_callable=more, op_kwargs={"factor": 10})
    )

with DAG(
    "parameters",
    schedule=None,
    params={"name": "ada", "count": Param(3, type="integer", minimum=1), "mode": Param("a", enum=["a", "b"])},
):

    @task
    def greet(name):
        return f"hello {name}"

    @task
    def double(params):
        return params["count"] * 2

    @task
    def show(**kwargs):
        return f"{kwargs['params']['name']} {kwargs['params']['count']}"

    greet("{{ params.name }}") >> double() >> show()


def scaled(value):
    return value * FACTORS["large"]


with DAG("helpers", schedule=None):

    @task
    def scale():
        return scaled(2)

    scale()

with DAG("templated", schedule=None, params={"word": "classic"}):

    @task
    def number():
        return 3

    say = BashOperator(
        task_id="say", bash_command="echo first; echo {{ ti.xcom_pull(task_ids='number') }} \"it's {{ params.word }}\""
    )

    @task
    def read(text):
        return f"{text}!"

    number() >> say >> read(say.output)

with DAG("mapped", schedule=None):

    @task
    def numbers():
        return [1, 2, 3]

    @task
    def square(x: int):
        return x * x

    @task
    def total(xs):
        return sum(xs)

    total(square.expand(x=numbers()))

with DAG("mapped_with_more", schedule=None):

    @task(max_active_tis_per_dagrun=1)
    def times(x, factor=2):
        return x * factor

    @task
    def total(xs):
        return sum(xs)

    total(times.partial(factor=10).expand(x=[1, 2]))

with DAG("mapped_over_pairs", schedule=None):

    @task
    def pair(letter, number):
        return f"{letter}{number}"

    pair.expand(letter=["a", "b"], number=[1, 2])

with DAG("mapped_over_objects", schedule=None):

    @task
    def describe(name, value):
        return f"{name}={value}"

    describe.expand_kwargs([{"name": "x", "value": 1}, {"name": "y", "value": 2}])

with DAG("mapped_bash", schedule=None):

    @task
    def join(words):
        return " ".join(words)

    join(BashOperator.partial(task_id="say").expand(bash_command=["echo one", "echo two"]).output)

with DAG("mapped_group", schedule=None):

    @task
    def total(xs):
        return sum(xs)

    @task_group
    def wave(n):
        @task
        def add_one(n):
            return n + 1

        @task
        def double(n):
            return n * 2

        return double(add_one(n))

    total(wave.expand(n=[1, 2]))

with DAG("chosen_by_value", schedule=None):

    @task
    def size():
        return 7

    @task.branch
    def choose(size):
        return "large" if size > LIMIT else "small"

    @task(task_id="large")
    def large(size):
        return size * 10

    @task(task_id="small")
    def small(size):
        return size

    @task(trigger_rule="none_failed_min_one_success")
    def join(one, other):
        return one or other

    found = size()
    first, second = large(found), small(found)
    choose(found) >> [first, second]
    join(first, second)

with DAG("a_default_for_what_was_skipped", schedule=None):

    @task
    def size():
        return 1

    @task.branch
    def choose(size):
        return "large" if size > LIMIT else "small"

    @task(task_id="large")
    def large():
        return "much"

    small = EmptyOperator(task_id="small")

    @task(trigger_rule="none_failed_min_one_success")
    def join(found):
        return found or "nothing"

    found = large()
    choose(size()) >> [found, small] >> join(found)

with DAG("lists_of_results", schedule=None):

    @task
    def one():
        return 1

    @task
    def two():
        return 2

    @task
    def add(numbers):
        return sum(numbers)

    add([one(), two()])


def where(dag_id):
    return dag_id


def both(x, run_id=None):
    assert run_id
    return [x, x]


with DAG("from_the_context", schedule=None):
    PythonOperator(task_id="where", python_callable=where, op_args=["{{ dag.dag_id }}"])
    PythonOperator(task_id="both", python_callable=both, op_kwargs={"x": 1})

with DAG("needs_packages", schedule=None):

    def count():
        import attr

        return len(attr.__name__)

    PythonVirtualenvOperator(task_id="count", python_callable=count, requirements=["attrs>=20"])
