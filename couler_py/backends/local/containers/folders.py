"""The volumes of a step as folders and files of this machine that its containers mount."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from couler_py.backends.local.containers.group import Folder, Mount
from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.backends.local.steps.environment import missing_config_map
from couler_py.ir.pod import Volume, VolumeMount
from couler_py.store.masking import forms
from couler_py.store.secrets import SecretNotFoundError, read_secret

OPEN = 0o777  # whoever a container runs as may write: the folders around are closed to everybody else
SECRET, PUBLIC = 0o400, 0o444


class Volumes:
    """The volumes of one attempt, each made once for all containers that mount it; the request gets their files."""

    def __init__(self, context: Context, made: Call, scope: Scope, folder: Path, request: dict[str, Any]):
        self._context, self._scope, self._folder, self._request = context, scope, folder, request
        self._known = {volume.name: volume for volume in (*context.workflow.volumes, *made.template.pod.volumes)}
        self._claims = {claim.name for claim in context.workflow.volume_claims}
        self._places: dict[str, Path] = {}
        self._read_only: set[str] = set()
        self._secrets: dict[str, list[str]] = {}
        self.folders: list[Folder] = []

    def mounts(self, wanted: Iterable[VolumeMount], user: str) -> list[Mount]:
        """The mounts of a container that runs as `user`. Raises `TaskFailure`."""
        found = []
        for each in wanted:
            root = self._place(each.name)
            source = self._inside(root, self._scope.text(each.sub_path), each.name)
            self._hand_over(each.name, user)
            read_only = each.read_only or each.name in self._read_only
            found.append(Mount(str(source), os.path.normpath(each.path), read_only))
        return found

    def _place(self, name: str) -> Path:
        if name not in self._places:
            if name in self._claims:
                self._places[name] = self._shared(self._context.folder / "volumes" / name)
            elif name in self._known:
                self._places[name] = self._of(self._known[name])
            else:
                raise TaskFailure(f"there is no volume {name!r}")
        return self._places[name]

    def _of(self, volume: Volume) -> Path:
        kind, details = next(iter(volume.source.value.items()))
        own = self._folder / "volumes" / _file_name(volume.name)
        if kind == "emptyDir":
            return self._shared(own)
        if kind == "persistentVolumeClaim":
            return self._shared(self._context.home.path / "volumes" / _file_name(str(details["claimName"])))
        if kind in ("secret", "configMap"):
            self._read_only.add(volume.name)
            self._files(volume.name, kind, details, own)
            return own
        if kind == "hostPath" and self._context.options.allow_host:
            place = Path(str(details["path"]))
            if str(details.get("type", "")).endswith("OrCreate"):
                place.mkdir(parents=True, exist_ok=True)
            return place
        raise TaskFailure(f"the volume {volume.name!r} is a {kind}, which is no folder of this machine")

    def _shared(self, place: Path) -> Path:
        own = place.is_relative_to(self._folder)
        if not own:
            place.mkdir(parents=True, exist_ok=True)
        self.folders.append(Folder(str(place), OPEN, make=own))
        return place

    def _files(self, name: str, kind: str, details: dict[str, Any], place: Path) -> None:
        """The keys of a secret or ConfigMap as files, of which a secret's are gone with the step."""
        called = str(details["secretName"] if kind == "secret" else details["name"])
        data: dict[str, str] | None
        try:
            data = (
                read_secret(self._context.home, called)
                if kind == "secret"
                else self._context.options.config_maps.get(called)
            )
        except SecretNotFoundError as error:
            if not details.get("optional"):
                raise TaskFailure(str(error)) from None
            data = {}
        if data is None:
            if not details.get("optional"):
                raise TaskFailure(missing_config_map(self._context, called))
            data = {}
        chosen = {str(item["key"]): str(item["path"]) for item in details.get("items") or ()}
        names = chosen or {key: key for key in data}
        self._request["make"].append(str(place))
        self._request["clean"].append(str(place))
        for key, path in names.items():
            if key not in data:
                raise TaskFailure(f"{called!r} has no key {key!r}")
            file = self._inside(place, path, name)
            self._request["files"].append({"path": str(file), "text": data[key], "mode": SECRET})
            self._secrets.setdefault(name, []).append(str(file))
            if kind == "secret":
                self._request["redact"] += [form.decode("utf-8", "surrogateescape") for form in forms(data[key])]
            else:
                self.folders.append(Folder(str(file), PUBLIC))

    def _hand_over(self, name: str, user: str) -> None:
        """Let the user of a container read a secret: as its owner, where we may give files away and know its number."""
        kind = next(iter(self._known[name].source.value)) if name in self._known else ""
        number = user.partition(":")[0] or "0"
        if kind != "secret" or number == "0":
            return
        ours = os.geteuid() == 0 and number.isdigit()
        for file in self._secrets.get(name, ()):
            self.folders.append(Folder(file, SECRET, int(number)) if ours else Folder(file, PUBLIC))

    def _inside(self, root: Path, path: str, name: str) -> Path:
        """A path in a volume. A link that a step has put there doesn't lead out of it."""
        found = Path(os.path.normpath(root / path)) if path else root
        real = Path(os.path.realpath(found))
        if not found.is_relative_to(root) or not real.is_relative_to(os.path.realpath(root)):
            raise TaskFailure(f"the path {path!r} leads out of the volume {name!r}")
        if path and not found.exists() and name not in self._read_only:
            self._shared(found)
        return found


def _file_name(name: str) -> str:
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise TaskFailure(f"{name!r} is no name of a file")
    return name
