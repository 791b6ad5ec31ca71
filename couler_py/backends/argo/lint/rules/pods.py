"""What Argo and Kubernetes make a pod of: images, containers, volumes."""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import Flow, Template
from couler_py.backends.argo.lint.rules.graph import first_ring
from couler_py.backends.argo.lint.rules.references import nearest

OWN = ("wait", "init", "main")
"""Names of the containers that Argo itself puts into a pod."""
PLUGINS = "artifact-plugin-"


def images(flow: Flow) -> Iterator[Finding]:
    """What runs has an image, and a script has a source."""
    defaults = flow.spec.get("templateDefaults", {})
    for template in flow.all_templates:
        for what in ("container", "script"):
            data = template.data.get(what)
            if data is None:
                continue
            if not data.get("image") and not defaults.get(what, {}).get("image"):
                yield _no_image(template.where, (*template.path, what), data)
        if template.data.get("script") is not None and not template.data["script"].get("source"):
            yield Finding(
                "CLR483",
                f"the script of {template.where} is empty",
                (*template.path, "script", "source")
                if "source" in template.data["script"]
                else (*template.path, "script"),
                severity="warning",
                why="the interpreter gets an empty file",
                help="write `source`, or use `container`",
            )
        for path, container, where in others_of(template):
            if not container.get("image"):
                yield _no_image(where, path, container)


def _no_image(where: str, path: Path, data: JSON) -> Finding:
    return Finding(
        "CLR483",
        f"{where} has no image",
        (*path, "image") if "image" in data else path,
        why="a container is started from an image",
        help="add `image`",
    )


def others_of(template: Template) -> Iterator[tuple[Path, JSON, str]]:
    """The containers besides the main one, with their paths and how messages name them."""
    for what in ("sidecars", "initContainers"):
        for index, each in enumerate(template.data.get(what, ())):
            word = "the sidecar" if what == "sidecars" else "the init container"
            yield (*template.path, what, index), each, f"{word} {each.get('name', '')!r} of {template.where}"
    for index, each in enumerate((template.data.get("containerSet") or {}).get("containers", ())):
        path = (*template.path, "containerSet", "containers", index)
        yield path, each, f"the container {each.get('name', '')!r} of {template.where}"


def containers_of(template: Template) -> Iterator[tuple[Path, JSON, str]]:
    """All containers that a template writes, with their paths and how messages name them."""
    for what in ("container", "script"):
        if template.data.get(what) is not None:
            yield (*template.path, what), template.data[what], template.where
    yield from others_of(template)


def container_names(flow: Flow) -> Iterator[Finding]:
    """No container has a name that Argo gives to its own."""
    for template in flow.all_templates:
        for path, each, where in others_of(template):
            name, in_set = each.get("name", ""), path[-3] == "containerSet"
            plugin = name.startswith(PLUGINS)
            if plugin or (name in OWN and not (in_set and name == "main")):
                yield Finding(
                    "CLR483",
                    f"{where} has a name that Argo needs itself",
                    (*path, "name"),
                    severity="warning" if plugin else "error",
                    why=f"Argo adds containers called {', '.join(OWN)} and {PLUGINS}…; two of one name are no pod",
                    help="rename it",
                )


def container_sets(flow: Flow) -> Iterator[Finding]:
    """The containers of a set wait for each other without a ring, and `main` gives what the template gives."""
    for template in flow.all_templates:
        data = template.data.get("containerSet")
        if data is None:
            continue
        path = (*template.path, "containerSet")
        containers = data.get("containers") or ()
        if not containers:
            yield Finding("CLR482", f"the containerSet of {template.where} is empty", path, help="add containers")
            continue
        names = {each.get("name", "") for each in containers}
        for index, each in enumerate(containers):
            for at, name in enumerate(each.get("dependencies") or ()):
                if name not in names:
                    yield Finding(
                        "CLR482",
                        f"a container of {template.where} waits for {name!r}, which isn't there",
                        (*path, "containers", index, "dependencies", at),
                        help=nearest(name, names - {each.get("name", "")}),
                    )
        ring = first_ring({each.get("name", ""): each.get("dependencies") or () for each in containers})
        if ring:
            index = next(i for i, each in enumerate(containers) if each.get("name", "") == ring[0])
            yield Finding(
                "CLR482",
                f"containers of {template.where} wait for each other in a ring: {' -> '.join(ring)}",
                (*path, "containers", index, "dependencies"),
                why="none of them could ever begin",
                help="take one of the edges out",
            )
        if "main" not in names and (template.artifacts or template.output_parameters or template.output_artifacts):
            yield Finding(
                "CLR482",
                f"{template.where} has inputs or outputs, and no container called 'main'",
                (*path, "containers"),
                on="key",
                why="files come in and go out through the container of this name",
                help="call one of the containers `main`",
            )
        yield from _mounted_twice(data.get("volumeMounts"), (*path, "volumeMounts"), {})


def mounts(flow: Flow) -> Iterator[Finding]:
    """What is mounted is declared, and nothing lies at a place that is taken."""
    shared = _names(flow.spec.get("volumes")) | _names(flow.spec.get("volumeClaimTemplates"), "metadata")
    shared |= _names((flow.referred or {}).get("volumes")) | _names(
        (flow.referred or {}).get("volumeClaimTemplates"), "metadata"
    )
    for template in flow.all_templates:
        known = shared | _names(template.data.get("volumes"))
        for path, each in _with_mounts(template):
            for index, mount in enumerate(each.get("volumeMounts") or ()):
                name = mount.get("name", "")
                if name and name not in known and "{{" not in name and not (flow.is_library or flow.refers):
                    yield Finding(
                        "CLR484",
                        f"{template.where} mounts the volume {name!r}, which isn't declared",
                        (*path, "volumeMounts", index, "name"),
                        why="Argo can't make the pod: the step ends in Error",
                        help=nearest(name, known) or "declare it under `volumes` or `volumeClaimTemplates`",
                    )
        container = template.data.get("container")
        if container is not None:
            places: dict[str, tuple[str, Path]] = {}
            for index, mount in enumerate(container.get("volumeMounts") or ()):
                at = (*template.path, "container", "volumeMounts", index, "mountPath")
                places.setdefault(mount.get("mountPath", ""), (f"the volume {mount.get('name', '')!r}", at))
            for index, artifact in enumerate(template.data.get("inputs", {}).get("artifacts", ())):
                yield from _taken(template, artifact, index, places)


def _taken(template: Template, artifact: JSON, index: int, places: dict[str, tuple[str, Path]]) -> Iterator[Finding]:
    place = artifact.get("path", "")
    path = (*template.path, "inputs", "artifacts", index, "path")
    what = f"the artifact {artifact.get('name', '')!r}"
    if place and place in places:
        other, at = places[place]
        yield Finding(
            "CLR457",
            f"{what} of {template.where} would lie at {place!r}, where {other} is",
            path,
            why="one of them would hide the other",
            help="choose another path",
            related=((other, at),),
        )
    places.setdefault(place, (what, path))


def _mounted_twice(items: list[JSON] | None, path: Path, seen: dict[str, int]) -> Iterator[Finding]:
    for index, each in enumerate(items or ()):
        place = each.get("mountPath", "")
        if place in seen:
            yield Finding(
                "CLR457",
                f"a second volume is mounted at {place!r}",
                (*path, index, "mountPath"),
                why="one of them would hide the other",
                help="choose another path",
                related=(("the first one", (*path, seen[place])),),
            )
        seen.setdefault(place, index)


def _with_mounts(template: Template) -> Iterator[tuple[Path, JSON]]:
    for what in ("container", "script", "containerSet"):
        if template.data.get(what) is not None:
            yield (*template.path, what), template.data[what]
    for path, each, _ in others_of(template):
        yield path, each


def _names(items: list[JSON] | None, inside: str = "") -> set[str]:
    found = (each.get(inside, {}) if inside else each for each in items or ())
    return {each.get("name", "") for each in found}


def volumes_twice(flow: Flow) -> Iterator[Finding]:
    """Two volumes of one name: one of them is never mounted."""
    for what, path, items in (
        ("volume", (*flow.path, "volumes"), flow.spec.get("volumes")),
        *(("volume", (*t.path, "volumes"), t.data.get("volumes")) for t in flow.all_templates),
    ):
        seen: dict[str, int] = {}
        for index, each in enumerate(items or ()):
            name = each.get("name", "")
            if name in seen:
                yield Finding(
                    "CLR443",
                    f"a second {what} {name!r}",
                    (*path, index, "name"),
                    severity="warning",
                    why="mounts find the first one; this one is never used",
                    help="rename it",
                    related=(("the first one", (*path, seen[name], "name")),),
                )
            seen.setdefault(name, index)
