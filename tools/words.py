"""Make the types in couler_py/backends/argo/words/ from the schemas beside them: part of `make schemas`.

Every object of Argo's four kinds becomes a `TypedDict` with the fields' own names. Objects that are equal are one type;
it has the name that Argo's or Kubernetes' API gives it, or, where the API has none, its field's behind its parent's.
`tools/descriptions.json.gz` knows these names, and what the API says about each field (see `tools/schemas.py`).
"""

from __future__ import annotations

import difflib
import gzip
import keyword
import re
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from couler_py.backends.argo.schema import PLURALS, schema  # noqa: E402
from couler_py.backends.argo.vocabulary import BODIES  # noqa: E402

OUTPUT = ROOT / "couler_py" / "backends" / "argo" / "words"
ARGO = "io.argoproj.workflow.v1alpha1."
META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
METADATA = ("name", "generateName", "namespace", "labels", "annotations", "finalizers", "ownerReferences")
"""What a person writes into `metadata`; the rest is the API server's."""

BODY_TYPES = ("ResourceTemplate", "HTTPTemplate", "DataTemplate", "ContainerSetTemplate", "DAGTemplate")
FORMS = {
    "container": "ContainerFields",
    "script": "ScriptFields",
    "resource": "ResourceFields",
    "suspend": "SuspendFields",
    "http": "HTTPFields",
    "data": "DataFields",
    "containerSet": "ContainerSetFields",
    "plugin": "PluginFields",
    "dag": "DAGFields",
    "steps": "StepsFields",
}
APART = (
    ("Parameter", "ParameterFields", ("name", "value")),
    ("Artifact", "ArtifactFields", ("name", "path", "from")),
    ("WorkflowSpec", "WorkflowFields", ("arguments",)),
)
"""Types whose other fields a function takes by name besides."""

RENAMED = {
    f"{ARGO}HTTP": "HTTPTemplate",
    f"{ARGO}HTTPHeader": "HTTPTemplateHeader",
    f"{ARGO}Data": "DataTemplate",
    f"{ARGO}Sequence": "WithSequence",
    f"{ARGO}Cache": "MemoizeCache",
}
"""Names that say too little among so many, or that mean something else too."""


class Field(msgspec.Struct, frozen=True):
    """One field of a type: its annotation, and what Argo's API says of it."""

    name: str
    type: str
    required: bool
    about: str


class Type(msgspec.Struct, frozen=True):
    """One TypedDict."""

    name: str
    about: str
    fields: tuple[Field, ...]
    kubernetes: bool


def descriptions() -> dict[str, Any]:
    """What Argo's API says in short: by definition, `about` it, and its `fields` with their definition."""
    packed = (ROOT / "tools" / "descriptions.json.gz").read_bytes()
    decoded: dict[str, Any] = msgspec.json.decode(gzip.decompress(packed))
    return decoded


class Making:
    """Collects the types of the schemas, each once."""

    def __init__(self) -> None:
        self.types: dict[str, Type] = {}
        self._known = descriptions()
        self._alike: dict[str, set[str]] = {}
        self._unnamed: dict[str, str] = {}

    def learn(self, node: dict[str, Any], definition: str) -> None:
        """Note what objects of the API look like, so that one whose name isn't known is told by its fields."""
        while step := node.get("items") or node.get("additionalProperties"):
            node = step
        if definition in self._known and "properties" in node:
            self._alike.setdefault(_look(node), set()).add(definition)
        for field, child in node.get("properties", {}).items():
            about = self._known.get(definition, {"fields": {}})["fields"].get(field, ("", ""))
            self.learn(child, about[1])

    def _told_by_fields(self, node: dict[str, Any], wanted: str) -> str:
        alike = self._alike.get(_look(node), set())
        near = difflib.SequenceMatcher
        return max(sorted(alike), key=lambda one: near(None, wanted, one.rpartition(".")[2]).ratio(), default="")

    def annotation(self, node: dict[str, Any], definition: str, wanted: str, kubernetes: bool = False) -> str:
        """The type of a node; `definition` is its name in the API, "" where it has none."""
        kind = node.get("type")
        if "enum" in node:
            return f"Literal[{', '.join(_text(value) for value in node['enum'])}]"
        if "properties" in node:
            return self._object(node, definition, wanted, kubernetes)
        if kind == "array":
            return f"Sequence[{self.annotation(node['items'], definition, wanted, kubernetes)}]"
        if kind == "object" and "additionalProperties" in node:
            value = self.annotation(node["additionalProperties"], definition, wanted, kubernetes)
            return f"Mapping[str, {value}]"
        if kind == "object":
            return "Mapping[str, Any]"
        if isinstance(kind, list):
            return " | ".join(_SIMPLE[each] for each in sorted(kind))
        return _SIMPLE[kind] if kind else "Any"

    def _object(self, node: dict[str, Any], definition: str, wanted: str, kubernetes: bool) -> str:
        definition = definition or self._told_by_fields(node, wanted)
        kubernetes = definition.startswith("io.k8s") if definition else kubernetes
        name = RENAMED.get(definition) or definition.rpartition(".")[2] or self._unnamed.setdefault(_look(node), wanted)
        known = self._known.get(definition, {"about": "", "fields": {}})
        fields = []
        self._claim(name)
        for field, child in sorted(node["properties"].items()):
            about, ref = known["fields"].get(field, ("", ""))
            wish = name + field[0].upper() + field[1:]
            type_ = "Template" if field == "inline" else self.annotation(child, ref, wish, kubernetes)
            # What a body lacks may stand in `templateDefaults`, or side by side with it: see `forms`.
            required = field in node.get("required", ()) and name not in BODY_TYPES
            fields.append(Field(field, type_, required, about))
        return self._add(Type(name, known["about"], tuple(fields), kubernetes))

    def _claim(self, name: str) -> None:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"{name!r} can't name a type")

    def _add(self, made: Type) -> str:
        known = self.types.get(made.name)
        if known is None:
            self.types[made.name] = made
        elif _shape(known) != _shape(made):
            known_fields = {field.name: field for field in known.fields}
            for field in made.fields:
                other = known_fields.setdefault(field.name, field)
                if other.type != field.type:
                    raise ValueError(f"{made.name}.{field.name} is {other.type} here and {field.type} there")
            # The same API type where some of its fields are required, or refused: the type takes what either takes.
            required = {f.name for f in known.fields if f.required} & {f.name for f in made.fields if f.required}
            fields = tuple(
                msgspec.structs.replace(known_fields[name], required=name in required) for name in sorted(known_fields)
            )
            self.types[made.name] = msgspec.structs.replace(known, fields=fields)
        return made.name

    def metadata(self) -> None:
        """The type of `metadata`, which the CRDs leave open."""
        known = self._known[META]
        types = {"labels": "Mapping[str, str]", "annotations": "Mapping[str, str]", "finalizers": "Sequence[str]"}
        types["ownerReferences"] = "Sequence[Mapping[str, Any]]"
        fields = [Field(name, types.get(name, "str"), False, known["fields"][name][0]) for name in sorted(METADATA)]
        self.types["ObjectMeta"] = Type("ObjectMeta", known["about"], tuple(fields), True)


_SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def _look(node: dict[str, Any]) -> str:
    """What tells objects of one type: their fields, what these are, and the fields of what they hold."""
    inside = {
        field: [child.get("type"), sorted(child.get("items", child).get("properties", {}))]
        for field, child in node["properties"].items()
    }
    return msgspec.json.encode(inside, order="sorted").decode()


def _shape(type_: Type) -> tuple[tuple[str, str, bool], ...]:
    return tuple((field.name, field.type, field.required) for field in type_.fields)


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def collected() -> dict[str, Type]:
    """Every type of the four kinds, by name, in alphabetical order."""
    making = Making()
    specs = [(schema(kind)["properties"]["spec"], "WorkflowSpec") for kind in PLURALS if kind != "CronWorkflow"]
    specs.append((schema("CronWorkflow")["properties"]["spec"], "CronWorkflowSpec"))
    for spec, name in specs:
        making.learn(spec, ARGO + name)
    for spec, name in specs:
        making.annotation(spec, ARGO + name, name)
    making.metadata()
    return dict(sorted(making.types.items()))


# ---- as source


def module(title: str, types: list[Type], imports: list[str]) -> str:
    """A module of TypedDicts."""
    bodies = "\n\n".join(_class(each) for each in types)
    wanted = [name for name in ("Any", "Literal", "Required", "TypedDict") if re.search(rf"\b{name}\b", bodies)]
    abstract = [name for name in ("Mapping", "Sequence") if re.search(rf"\b{name}\[", bodies)]
    lines = [f'"""{title} Made by `make schemas`."""', "", "from __future__ import annotations", ""]
    if abstract:
        lines.append(f"from collections.abc import {', '.join(abstract)}")
    lines.append(f"from typing import {', '.join(wanted)}")
    if imports:
        lines.append("")
        lines += imports
    listed = "\n".join(f'    "{each.name}",' for each in sorted(types, key=lambda each: each.name))
    return "\n".join(lines) + f"\n\n{bodies}\n\n__all__ = [\n{listed}\n]\n"


def _class(type_: Type) -> str:
    plain = [field for field in type_.fields if not keyword.iskeyword(field.name)]
    odd = [field for field in type_.fields if keyword.iskeyword(field.name)]
    head = ""
    base = "TypedDict"
    if odd:
        base = f"_{type_.name}"
        pairs = ", ".join(f'"{field.name}": {_annotation(field)}' for field in odd)
        head = f'{base} = TypedDict("{base}", {{{pairs}}}, total=False)\n\n\n'
    return head + class_source(type_.name, base, type_.about, plain)


def class_source(name: str, base: str, about: str, fields: list[Field]) -> str:
    """One class, its fields documented."""
    lines = [f"class {name}({base}, total=False):", _doc(about or f"{name} of Argo's API.", 4), ""]
    for field in fields:
        lines.append(f"    {field.name}: {_annotation(field)}")
        if field.about:
            lines.append(_doc(field.about, 4))
    if not fields:
        lines.pop()
    return "\n".join(lines) + "\n"


def _annotation(field: Field) -> str:
    return f"Required[{field.type}]" if field.required else field.type


def _doc(about: str, indent: int) -> str:
    pad = " " * indent
    text = about.replace("\\", "\\\\").replace('"""', "'''").rstrip('"')
    if len(text) + indent + 6 <= 118:
        return f'{pad}"""{text}"""'
    first = textwrap.wrap(text, 114 - indent, break_long_words=False, break_on_hyphens=False)[0]
    rest = textwrap.wrap(text[len(first) :].strip(), 118 - indent, break_long_words=False, break_on_hyphens=False)
    lines = [f'{pad}"""{first}', *(pad + line for line in rest), f'{pad}"""']
    return "\n".join(lines)


def forms(types: dict[str, Type]) -> list[Type]:
    """The fields of each kind of template side by side with those of its body; a name of both is the template's."""
    template = types["Template"]
    shared = [f for f in template.fields if f.name not in (*BODIES, "name", "inputs", "outputs")]
    own = {field.name for field in template.fields}
    found = [Type("TemplateFields", "What a template of any kind may say beside its body.", tuple(shared), False)]
    for body, name in FORMS.items():
        field = next(each for each in template.fields if each.name == body)
        inner = types.get(field.type)
        fields = [] if inner is None else [f for f in inner.fields if f.name not in own and f.name != "tasks"]
        fields = [msgspec.structs.replace(f, required=False) for f in fields]
        whole = Field(body, field.type, False, f"The body itself, for fields of `{body}` that the template has too.")
        about = f"What `couler_py.argo_native.{_function(body)}` takes: fields of a template, and of its `{body}`."
        found.append(Type(name, about, tuple(sorted([*fields, whole], key=lambda f: f.name)), False))
    bodies = [msgspec.structs.replace(f, required=False) for f in template.fields if f.name in BODIES]
    found.append(Type("RawTemplateFields", "What `couler_py.argo_native.template` takes.", tuple(bodies), False))
    for whole_type, name, left in APART:
        fields = [f for f in types[whole_type].fields if f.name not in left]
        found.append(Type(name, f"The fields of {whole_type} but for {' and '.join(left)}.", tuple(fields), False))
    scheduled = [f for f in types["CronWorkflowSpec"].fields if f.name in ("stopStrategy", "when")]
    about = "What the option `argo=` of a workflow takes: fields of its `spec`, and those that only a CronWorkflow has."
    found.append(Type("ScheduledWorkflowSpec", about, (*types["WorkflowSpec"].fields, *scheduled), False))
    found.append(_partial(template))
    about = "What `argo_task` of a step takes: the fields of a task of a dag."
    found.append(Type("TaskAdditions", about, tuple(f for f in types["DAGTask"].fields if f.name != "name"), False))
    return found


def _partial(template: Type) -> Type:
    about = "What the option `argo=` of a step takes: the fields of a template, none of them required."
    fields = tuple(msgspec.structs.replace(field, required=False) for field in template.fields if field.name != "name")
    return Type("TemplateAdditions", about, fields, False)


def _function(body: str) -> str:
    return {"containerSet": "container_set"}.get(body, body)


def _named(source: str, types: Iterable[str]) -> list[str]:
    """Those of the types that the source names, but for its documentation."""
    words = set(re.findall(r"\w+", re.sub(r'""".*?"""', "", source, flags=re.S)))
    return sorted(words.intersection(types))


def form_module(types: dict[str, Type]) -> str:
    """The module of `forms`."""
    made = forms(types)
    forms_of_template = {*FORMS.values(), "RawTemplateFields"}
    bodies = "\n\n".join(
        class_source(one.name, made[0].name if one.name in forms_of_template else "TypedDict", one.about, [*one.fields])
        for one in made
    )
    used = _named(bodies, types)
    title = "The fields of each kind of template, flat, as functions take them."
    lines = [f'"""{title} Made by `make schemas`."""', "", "from __future__ import annotations", ""]
    lines += [
        "from collections.abc import Mapping, Sequence",
        "from typing import Any, Literal, Required, TypedDict",
        "",
    ]
    for home, kubernetes in (("argo", False), ("kubernetes", True)):
        names = [name for name in used if types[name].kubernetes == kubernetes]
        lines.append(f"from couler_py.backends.argo.words.{home} import (")
        lines += [f"    {name}," for name in names] + [")"]
    listed = "\n".join(f'    "{each.name}",' for each in sorted(made, key=lambda each: each.name))
    return "\n".join(lines) + f"\n\n\n{bodies}\n\n__all__ = [\n{listed}\n]\n"


def package(types: dict[str, Type]) -> str:
    """The package: every name, loaded when it is first used."""
    homes = {
        "argo": [name for name, each in types.items() if not each.kubernetes],
        "kubernetes": [name for name, each in types.items() if each.kubernetes],
        "forms": [each.name for each in forms(types)],
    }
    lines = [
        '"""Argo\'s and Kubernetes\' objects as types, in their own words. Made by `make schemas`.',
        "",
        "A value of one is a plain dict; type checkers and editors know its fields. Each name is loaded when it is",
        'first used.\n"""',
        "",
        "from __future__ import annotations",
        "",
        "import importlib",
        "from typing import TYPE_CHECKING, Any",
        "",
        "if TYPE_CHECKING:",
    ]
    for home in sorted(homes):
        names = [f"        {name} as {name},\n" for name in sorted(homes[home])]
        lines.append(f"    from couler_py.backends.argo.words.{home} import (\n{''.join(names)}    )")
    lines += ["", "", "def __getattr__(name: str) -> Any:"]
    lines += ['    for home in ("argo", "kubernetes", "forms"):']
    lines += ['        module = importlib.import_module(f"couler_py.backends.argo.words.{home}")']
    lines += ["        if name in module.__all__:", "            found = globals()[name] = getattr(module, name)"]
    lines += ["            return found"]
    lines += ['    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")']
    return "\n".join(lines) + "\n"


def files() -> dict[str, str]:
    """The modules by file name, not yet formatted."""
    types = collected()
    kubernetes = [each for each in types.values() if each.kubernetes]
    argo = [each for each in types.values() if not each.kubernetes]
    text = "\n".join(_class(each) for each in argo)
    needed = "".join(f"    {name},\n" for name in _named(text, (each.name for each in kubernetes)))
    imports = [f"from couler_py.backends.argo.words.kubernetes import (\n{needed})", ""]
    return {
        "__init__.py": package(types),
        "kubernetes.py": module("Objects of Kubernetes' API that Argo's documents hold.", kubernetes, []),
        "argo.py": module("Objects of Argo's API.", argo, imports),
        "forms.py": form_module(types),
    }


def formatted(source: str) -> str:
    """The source as this project formats it."""
    import subprocess

    ruff = Path(sys.executable).with_name("ruff")
    for command in (["check", "--fix", "--quiet", "--select", "I,F401", "-"], ["format", "-"]):
        done = subprocess.run([ruff, *command], input=source, capture_output=True, text=True, check=True, cwd=ROOT)
        source = done.stdout
    return source


def main() -> int:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for name, source in files().items():
        (OUTPUT / name).write_text(formatted(source), encoding="utf-8")
        print(f"{(OUTPUT / name).relative_to(ROOT)}  {len(source)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
