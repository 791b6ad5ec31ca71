"""Git repositories as artifacts: cloned by git itself, with the secrets that the workflow names.

Addresses, revisions and names are arguments, never options. Secrets reach git by its environment and a file of mode
0600 that goes when it is done; no command line and no message has them.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.ir.storage import Git, SecretRef
from couler_py.store.home import Home
from couler_py.store.secrets import read_key

ASK = """#!/bin/sh
case "$1" in
Username*) printf '%s\\n' "$COULER_GIT_USERNAME" ;;
*) printf '%s\\n' "$COULER_GIT_PASSWORD" ;;
esac
"""
"""What git runs to ask for a name or a password (gitcredentials(7), GIT_ASKPASS)."""


class GitError(Exception):
    """What git said when it failed."""


def clone(home: Home, storage: Git, scope: Scope, target: Path) -> None:
    """Clone a repository and check a revision out. Raises `TaskFailure` and `GitError`."""
    with tempfile.TemporaryDirectory(dir=home.path / "tmp") as folder:
        environment = _environment(home, storage, Path(folder))
        options = [] if storage.depth is None else [f"--depth={storage.depth}"]
        if storage.branch:
            options.append(f"--branch={storage.branch}")
        if storage.single_branch:
            options.append("--single-branch")
        _git(["clone", *options, "--", scope.text(storage.repo), str(target)], environment, None)
        revision = scope.text(storage.revision)
        if revision.startswith("-"):
            raise TaskFailure(f"{revision!r} is no revision")
        if revision:
            if storage.depth is not None:
                _git(["fetch", f"--depth={storage.depth}", "origin", "--", revision], environment, target)
            _git(["checkout", "--detach", revision, "--"], environment, target)
        if not storage.disable_submodules:
            _git(["submodule", "update", "--init", "--recursive"], environment, target)
        shutil.rmtree(target / ".git")


def without_user(url: str) -> str:
    """An address without the name and password that may stand before its host."""
    scheme, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}" if mark else url


def _environment(home: Home, storage: Git, folder: Path) -> dict[str, str]:
    """What git finds in its environment: nobody to ask, or who answers with the secrets."""

    def secret(ref: SecretRef) -> str:
        return read_key(home, ref.name, ref.key)

    environment = dict(os.environ, GIT_TERMINAL_PROMPT="0")
    if storage.username is not None or storage.password is not None:
        ask = folder / "ask"
        ask.write_text(ASK)
        ask.chmod(0o700)
        environment["GIT_ASKPASS"] = str(ask)
        environment["COULER_GIT_USERNAME"] = "" if storage.username is None else secret(storage.username)
        environment["COULER_GIT_PASSWORD"] = "" if storage.password is None else secret(storage.password)
    command = ["ssh"]
    if storage.ssh_private_key is not None:
        key = folder / "key"
        key.touch(mode=0o600)
        key.write_text(secret(storage.ssh_private_key).rstrip("\n") + "\n")  # ssh takes no key without it
        command += ["-i", str(key), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"]
    if storage.insecure_ignore_host_key:
        command += ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
    if len(command) > 1:
        environment["GIT_SSH_COMMAND"] = shlex.join(command)
    return environment


def _git(arguments: list[str], environment: dict[str, str], folder: Path | None) -> None:
    command = ["git", "-c", "protocol.ext.allow=never", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip() or f"git {arguments[0]} failed"
        raise GitError(" ".join(without_user(word) if "://" in word else word for word in said.split(" ")))
