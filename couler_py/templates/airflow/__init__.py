"""The Python that DAG files are made of.

Nobody imports it: `couler_py/backends/airflow/helpers.py` reads it. Each DAG file gets
the definitions that it uses, as they stand here, with the imports that these need. So
this is formatted for Airflow's users (88 columns), uses nothing of ours, and says what
a reader of a DAG wants to know. What stands in functions inside a definition runs in
the workers, everything else when the file is read.
"""
