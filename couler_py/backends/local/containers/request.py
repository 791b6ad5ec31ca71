"""An attempt in containers as a request to whoever supervises it: the conductor as its command, the group as a file."""

from __future__ import annotations

import hashlib
import posixpath
import sys
from pathlib import Path
from typing import Any

from msgspec import UNSET

import couler_py
from couler_py.backends.local.containers import group as groups
from couler_py.backends.local.containers import security
from couler_py.backends.local.containers.folders import OPEN, Volumes
from couler_py.backends.local.containers.functions import INPUTS, OUTPUTS, SCRIPT, included, variables
from couler_py.backends.local.containers.group import Folder, Group, Member, Mount, Take
from couler_py.backends.local.containers.images import Images
from couler_py.backends.local.containers.readiness import probe
from couler_py.backends.local.containers.resources import cpu_limit, memory_limit
from couler_py.backends.local.containers.runtimes import installed
from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.imported.expansion import expanded
from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.backends.local.steps import environment
from couler_py.ir.expr import TextLike
from couler_py.ir.model import ContainerSet, Function, Script
from couler_py.ir.pod import Container
from couler_py.runner import source
from couler_py.store import artifacts

STARTER = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from couler_py.backends.local.containers.conduct import main; main()"
)
"""What starts the conductor, with nothing but the standard library and ourselves to import."""
REMOVAL = 15.0  # seconds that taking containers away may take, after the grace of the step
READABLE = 0o755  # of files that whoever a container runs as has to read, or run
SELINUX = Path("/sys/fs/selinux/enforce")


async def complete(
    context: Context, made: Call, number: int, folder: Path, gpus: tuple[str, ...], request: dict[str, Any]
) -> None:
    """Add to a request all that an attempt in containers needs. Raises `TaskFailure`."""
    await _Builder(context, made, number, folder, gpus, request).build()


class _Builder:
    """Puts one group together, container by container."""

    def __init__(
        self,
        context: Context,
        made: Call,
        number: int,
        folder: Path,
        gpus: tuple[str, ...],
        request: dict[str, Any],
    ):
        self.context, self.made, self.folder, self.request, self.gpus = context, made, folder, request, gpus
        self.number = number
        self.scope: Scope = context.scope(made, attempt=number)
        self.template = made.template
        self.pod = security.pod_fields(context.workflow, self.template)
        self.volumes = Volumes(context, made, self.scope, folder, request)
        self.images = _images(context)
        self.members = 0
        self.folders: list[Folder] = []
        digest = hashlib.sha256(str(folder).encode("utf-8", "surrogateescape")).hexdigest()[:12]
        self.name = f"couler-{context.facts.id[:40]}-{digest}"

    async def build(self) -> None:
        body = self.template.body
        init = [await self.member(each, each.name) for each in self.template.pod.init_containers]
        sidecars = [await self.member(each, each.name) for each in self.template.pod.sidecars]
        if isinstance(body, ContainerSet):
            waits = dict(body.dependencies)
            main = [
                await self.member(each, each.name, waits=list(waits.get(each.name, ())), shared=body)
                for each in body.containers
            ]
        else:
            assert isinstance(body, Container | Script | Function)
            main = [await self.member(body, "main")]
        group = Group(
            runtime=self.images.runtime.kind,
            program=self.images.runtime.program,
            folder=str(self.folder),
            main=main,
            init=init,
            sidecars=sidecars,
            labels={
                "dev.couler.run": self.context.facts.id,
                "dev.couler.attempt": self.request["id"],
                "dev.couler.home": str(self.context.home.path),
            },
            network=self.context.options.network,
            host=security.namespaces(self.context.workflow, self.template),
            grace=self.context.options.grace,
            retries=body.retry if isinstance(body, ContainerSet) else 0,
            daemon=self.template.daemon,
            python=isinstance(body, Function),
            salvage=bool(self.request["salvage"]),
            unlabelled=SELINUX.exists(),
            left=str(self.folder / "left") if isinstance(body, Function) else "",
        )
        await self.result(group)

    async def result(self, group: Group) -> None:
        """Complete the container that gives the result, with what goes in and out, and hand the group over."""
        body = self.template.body
        result = group.result
        if isinstance(body, Function):
            mounts, takes = await self.function(body)
        else:
            mounts, takes = self.declared(result)
        result.mounts.extend(mounts)
        group.takes.extend(takes)
        group.folders.extend([*self.folders, *self.volumes.folders])
        request = self.request
        request["files"].append({"path": str(self.folder / groups.FILE), "text": groups.to_json(group), "mode": 0o600})
        request["command"] = [sys.executable, "-I", "-S", "-c", STARTER, _root(), str(self.folder)]
        request["directory"] = str(self.folder)
        request["grace"] = self.context.options.grace + REMOVAL
        request["make"] = [str(self.folder / "outputs"), *request["make"]]
        request["clean"] += [str(self.folder / name) for name in ("inputs", "left", "volumes", "script")]

    async def member(
        self,
        body: Container | Script | Function,
        called: str,
        *,
        waits: list[str] | None = None,
        shared: ContainerSet | None = None,
    ) -> Member:
        """One container, with what all kinds of them have."""
        image = await self.images.get(self.scope.text(body.image), body.pull_policy)
        surroundings = environment.of_body(self.context, self.scope, body, self.number)
        values = environment.run_facts(self.context, self.number) | surroundings.declared
        if isinstance(body, Function):
            values |= variables(self.context, self.made, body)
        self.environment(values)
        self.request["redact"] += surroundings.secrets
        fields = security.plain(body.extra)
        bounds = security.security(self.pod, fields)
        user = bounds.user or image.user
        if bounds.not_root and user.partition(":")[0] in ("", "0", "root"):
            raise TaskFailure(f"it must not run as root (runAsNonRoot), and {image.shown} does: give runAsUser")
        command, args = self.words(body, surroundings.declared)
        mounts = self.volumes.mounts([*body.mounts, *(shared.mounts if shared is not None else ())], user)
        if isinstance(body, Script | Function):
            mounts.append(self.script(body))
        directory = "" if isinstance(body, Function) else self.scope.text(body.working_dir)
        return Member(
            name=f"{self.name}-{self.members - 1}",
            called=called,
            image=image.id,
            shown=image.shown,
            command=command,
            args=args,
            mounts=mounts,
            directory=directory,
            user=bounds.user,
            cpu=cpu_limit(body.resources),
            memory=memory_limit(body.resources),
            gpus=list(self.gpus) if body.resources.gpu else [],
            capabilities=list(bounds.capabilities),
            privileged=bounds.privileged,
            read_only=bounds.read_only,
            ports=security.host_ports(fields),
            waits=waits or [],
            probe=probe(fields) if self.template.daemon else None,
            home=image.directory,
        )

    def environment(self, values: dict[str, str]) -> None:
        """Hand the variables of the next container to the conductor."""
        for name, value in values.items():
            if "\0" in value:
                raise TaskFailure(f"the environment variable {name} holds a NUL character, which none can")
            self.request["env"][f"{groups.ENVIRONMENT}{self.members}_{name}"] = value
        self.members += 1

    def words(self, body: Container | Script | Function, declared: dict[str, str]) -> tuple[list[str], list[str]]:
        """The command of a container and its arguments; an empty command is the image's own."""
        if isinstance(body, Function):
            return [*body.command, SCRIPT], []

        def word(text: TextLike) -> str:
            said = self.scope.text(text)
            return expanded(said, declared) if self.context.imported else said

        command = [word(each) for each in body.command]
        args = [word(each) for each in body.args] if isinstance(body, Container) else []
        if any("\0" in each for each in (*command, *args)):
            raise TaskFailure("an argument of the command holds a NUL character, which none can")
        if isinstance(body, Script):
            return ([*command, SCRIPT], []) if command else ([], [SCRIPT])
        return command, args

    def script(self, body: Script | Function) -> Mount:
        """The file of a script, mounted where the command finds it."""
        text = source(self.template) if isinstance(body, Function) else self.scope.text(body.source)
        place = str(self.folder / "script")
        self.request["files"].append({"path": place, "text": text, "mode": READABLE})
        self.folders.append(Folder(place, READABLE))
        return Mount(place, SCRIPT, True)

    async def function(self, body: Function) -> tuple[list[Mount], list[Take]]:
        """What a Python step finds and leaves: folders that it shares with the conductor."""
        left, inputs = self.folder / "left", self.folder / "inputs"
        self.folders.append(Folder(str(left), OPEN, make=True))
        mounts = [Mount(str(left), OUTPUTS)]
        for wanted in self.template.inputs.artifacts:
            if wanted.name in self.made.artifacts:
                self.give(wanted.name, str(inputs / wanted.name), wanted.mode)
        if self.request["inputs"]:
            self.folders.append(Folder(str(inputs), 0o755, make=True))
            mounts.append(Mount(str(inputs), INPUTS, True))
        mounts += await included(self.context, body)
        takes = [self.take(each.name, "", each.name, value=True) for each in self.template.outputs.parameters]
        takes += [
            self.take(each.name, "", each.name, optional=each.optional) for each in self.template.outputs.artifacts
        ]
        return mounts, takes

    def declared(self, result: Member) -> tuple[list[Mount], list[Take]]:
        """What a container finds and leaves at the paths that it declares."""
        mounts, takes = [], []
        for number, wanted in enumerate(self.template.inputs.artifacts):
            if wanted.name in self.made.artifacts and wanted.path:
                place = str(self.folder / "inputs" / str(number))
                self.give(wanted.name, place, wanted.mode)
                mounts.append(Mount(place, _absolute(wanted.path, result), True))
        for number, output in enumerate(self.template.outputs.parameters):
            optional = output.default is not UNSET
            if output.stdout or (not output.path and output.name == "result"):
                place = self.request["stdout"] = str(self.folder / "stdout")
                self.request["outputs"].append(
                    {"name": output.name, "kind": "parameter", "path": place, "optional": optional}
                )
            elif output.path:
                path = _absolute(output.path, result)
                takes.append(self.take(output.name, path, f"value-{number}", value=True, optional=optional))
            else:
                raise TaskFailure(f"nothing says where the output {output.name!r} is written: give it a path")
        for number, left in enumerate(self.template.outputs.artifacts):
            path = _absolute(left.path, result)
            takes.append(self.take(left.name, path, f"file-{number}", optional=left.optional))
        return mounts, takes

    def give(self, name: str, place: str, mode: int | None) -> None:
        ref = artifacts.reference(self.made.artifacts[name])
        self.request["inputs"].append({"name": name, "ref": ref, "path": place, "mode": mode})

    def take(self, name: str, path: str, at: str, *, value: bool = False, optional: bool = False) -> Take:
        """An output, for the conductor to take out of the container, and then for the store to keep."""
        place = str(self.folder / "outputs" / at)
        kind = "parameter" if value else "artifact"
        self.request["outputs"].append({"name": name, "kind": kind, "path": place, "optional": optional})
        return Take(name, path or posixpath.join(OUTPUTS, name), place, value, optional)


def _images(context: Context) -> Images:
    """The images of the run. Raises `TaskFailure` where its runtime has been taken away meanwhile."""
    if context.images is None:
        runtime = installed(context.options.runtime)
        if runtime is None:
            raise TaskFailure(f"{context.options.runtime} is no longer installed here")
        context.images = Images(runtime)
    return context.images


def _absolute(path: str, member: Member) -> str:
    """A path in a container. A relative one is in its working folder."""
    return posixpath.normpath(posixpath.join("/", member.home, member.directory, path))


def _root() -> str:
    """The folder that our package is imported from."""
    return str(Path(couler_py.__file__).absolute().parent.parent)
