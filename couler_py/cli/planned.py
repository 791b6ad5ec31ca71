"""What `--dry-run` prints: every call that would have been sent, whole, but for secrets."""

from __future__ import annotations

from couler_py.backends import yaml
from couler_py.backends.base import Client, ClusterClient, NotOffered
from couler_py.cli.running import to_json


def show(client: Client, *, as_json: bool = False) -> None:
    """Print what a client would have sent. Raises `NotOffered` where the engine can't say."""
    if not isinstance(client, ClusterClient):
        raise NotOffered(f"the engine {client.engine} has no dry run")
    if as_json:
        print(to_json([each.shown() for each in client.planned]), end="")
        return
    for each in client.planned:
        shown = each.shown()
        tried = "the cluster would take it" if each.rehearsal is not None else "not tried: it has no dry run there"
        print(f"# {each.what}; {tried}\n# {each.method} {each.target}")
        if "body" in shown:
            print(yaml.dump(shown["body"]), end="")
        print("---")
