"""The workflow diamond_explicit: A → B, C → D.

Written by couler-py: change the program that it was made from, not this file.
"""

from datetime import UTC, datetime

from airflow import __version__ as airflow_version
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.sdk import dag

if tuple(map(int, airflow_version.split(".")[:2])) < (3, 1):
    raise RuntimeError(f"this DAG needs Airflow 3.1 or later, not {airflow_version}")


@dag(
    "diamond_explicit",
    schedule=None,
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    catchup=False,
    doc_md=__doc__,
)
def diamond_explicit():
    a = KubernetesPodOperator(
        task_id="A", image="alpine:3", cmds=["echo"], arguments=["A"]
    )
    b = KubernetesPodOperator(
        task_id="B", image="alpine:3", cmds=["echo"], arguments=["B"]
    )
    c = KubernetesPodOperator(
        task_id="C", image="alpine:3", cmds=["echo"], arguments=["C"]
    )
    d = KubernetesPodOperator(
        task_id="D", image="alpine:3", cmds=["echo"], arguments=["D"]
    )
    a >> [b, c]
    [b, c] >> d


diamond_explicit()
