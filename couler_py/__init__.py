"""Write a workflow once, in Python; run it here, on Argo Workflows and on Apache Airflow."""

__version__ = "0.1.0"
