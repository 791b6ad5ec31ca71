"""Diagnostic codes of the area: airflow import."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR530",
        "reading a DAG needs Airflow",
        "A DAG is what its file makes of Airflow's classes, so it is read by a Python that has Airflow and the "
        "providers that the file imports. That is the one of this environment, or the one that `--python` "
        "names. Nothing of couler-py has to be installed there.",
        example="couler import dag.py --from airflow --trust",
        instead="couler import dag.py --from airflow --trust --python /opt/airflow/bin/python",
    ),
    Code(
        "CLR531",
        "Airflow can't read the file",
        "The file raised an error when Airflow imported it, or it makes no DAG, or several of which none was chosen.",
        example="couler import dags.py --from airflow --trust",
        instead="couler import dags.py --from airflow --trust --dag nightly",
    ),
    Code(
        "CLR532",
        "importing a DAG runs its file",
        "A DAG can't be read without running the file that makes it, with all that stands at its top level. So it is "
        "done only when it was said that the file may be trusted.",
        example="couler import dag.py --from airflow",
        instead="couler import dag.py --from airflow --trust",
    ),
    Code(
        "CLR533",
        "a task without a counterpart",
        "The task's operator, or something that it was given, has no word in a workflow of ours. A step of its name "
        "stands in its place, with the same edges, that fails and says so: write what it did. With `--partial` the "
        "task is left out instead, and what waited for it waits for what it waited for.",
    ),
    Code(
        "CLR534",
        "a trigger rule without an edge of its own",
        "Our edges say what all_success, all_failed, all_done, none_failed, none_failed_min_one_success and one_failed "
        "say. Another rule got the edge that is nearest to it, and the message says what is different.",
    ),
    Code(
        "CLR535",
        "a setting that has no word here",
        "A setting of the DAG or of a task was left out, because a workflow has no word for it. Everything else of the "
        "task is as it was.",
    ),
    Code(
        "CLR536",
        "something that means a little else here",
        "What was imported runs in another order, or ends in another state, than on Airflow in the case that the "
        "message names. Airflow, for example, judges a run by its last tasks alone; here a failure that nothing "
        "absolves makes the run Failed.",
    ),
    Code(
        "CLR537",
        "a step that needs Airflow where it runs",
        "The source of a Python task imports Airflow: a hook, a variable, an exception. The step is kept as it is, and "
        "fails where Airflow isn't installed. Use the library behind the hook, take variables as parameters of the "
        "workflow, and raise plain exceptions; or give the step an image that has Airflow.",
    ),
)
