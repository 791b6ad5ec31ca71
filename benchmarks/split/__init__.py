"""Splitting big workflows: how long a run would take in parts, and what crosses, beside three other ways to cut."""
