"""Argo Workflows: the IR as documents of its API."""
