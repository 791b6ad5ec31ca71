"""Sweeps: the same step with many settings, chosen by a search that learns from earlier ones.

`recording.py` makes a workflow of a sweep out of maps and loops; `study.py`, `trial.py` and `summary.py` are what its
steps do where they run, plain functions whose source travels.
"""
