"""The Python that DAG files are made of.

Nothing here is imported: `couler_py/backends/airflow/helpers.py` reads it.
"""
