"""Argo's documents written in Python, in Argo's own words: what `couler_py.argo_native` offers.

A document is recorded as the JSON data that it is. What is written is checked against the schema of Argo's CRDs at its
line; nothing is lowered, renamed or filled in.
"""
