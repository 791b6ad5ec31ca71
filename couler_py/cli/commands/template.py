"""`couler template …`: workflow templates on a cluster."""

from __future__ import annotations

from couler_py.cli import stored

app = stored.app("WorkflowTemplate", "template")
