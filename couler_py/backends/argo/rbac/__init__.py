"""The least rights: of a workflow's pods (`executor.py`, `kubectl.py`), and of whoever submits it (`submitter.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from couler_py.backends.argo.names import name_of
from couler_py.backends.argo.rbac import executor, submitter
from couler_py.backends.argo.rbac.rules import Account, documents, token
from couler_py.ir.diagnostics import Diagnostic

JSON = dict[str, Any]


def of_pods(
    workflows: Sequence[JSON], others: Iterable[JSON] = (), namespace: str = ""
) -> tuple[list[JSON], tuple[Diagnostic, ...]]:
    """The documents that give the pods of workflows what they need, and what couldn't be found out.

    Raises `ValueError` where the namespace has to be known.
    """
    found: list[JSON] = []
    findings: list[Diagnostic] = []
    tokens: dict[str, None] = {}
    library = [*workflows, *others]
    for workflow in workflows:
        where = namespace or workflow["metadata"].get("namespace", "")
        needs = executor.needs(workflow, library)
        findings += needs.findings
        for account, rules in needs.rules.items():
            found += documents(_role(workflow, account.name), account, rules, where)
        for account_name in needs.tokens:
            if account_name not in tokens:
                tokens[account_name] = None
                found.append(token(account_name, where))
    return found, tuple(dict.fromkeys(findings))


def of_submitter(
    given: Sequence[JSON], account: Account, secrets: Iterable[str] = (), namespace: str = ""
) -> list[JSON]:
    """The documents that let an account submit these documents and steer their runs.

    Raises `ValueError` where the namespace has to be known.
    """
    where = namespace or given[-1]["metadata"].get("namespace", "")
    return documents(f"{name_of(given[-1]['metadata'])}-submitter", account, submitter.rules(given, secrets), where)


def _role(workflow: JSON, account: str) -> str:
    return f"{name_of(workflow['metadata'])}-{'pods' if account == 'default' else account}"


__all__ = ["Account", "of_pods", "of_submitter"]
