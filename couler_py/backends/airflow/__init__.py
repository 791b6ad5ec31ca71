"""Apache Airflow 3: a workflow as one readable DAG file."""

from couler_py.backends.airflow.backend import BACKEND as BACKEND

__all__ = ["BACKEND"]
