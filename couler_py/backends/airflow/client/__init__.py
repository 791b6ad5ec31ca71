"""Runs on Airflow, steered through the REST API of its api-server. Needs the extra `airflow`.

`AirflowClient` (`runs.py`) is what people hold; `Server` (`server.py`) has a method for each call; `tree.py` reads the
tasks of a workflow out of the tasks of its DAG. JSON is sent, repeated and refused as `backends/rest/` does it.
"""

from __future__ import annotations

from couler_py.backends.airflow.client.deploying import Deployed, place, write
from couler_py.backends.airflow.client.runs import AirflowClient

__all__ = ["AirflowClient", "Deployed", "place", "write"]
