"""Types as annotations, with the classes that they name."""

from __future__ import annotations

from collections.abc import Callable

from couler_py.ir.types import Choice, DictOf, Field, ListOf, Record, Scalar, Type, UnionOf
from couler_py.printer.layout import INDENT, Doc, Group, Named, call, flat, statement
from couler_py.printer.literal import literal, quoted
from couler_py.printer.names import Names, camel, identifier, is_identifier
from couler_py.printer.options import UnsayableError

IMPORTS = {
    "Any": "typing",
    "Literal": "typing",
    "NotRequired": "typing",
    "TypedDict": "typing",
    "Annotated": "typing",
    "Enum": "enum",
    "datetime": "datetime",
    "Path": "pathlib",
}
"""Where the names that annotations use come from."""

_SCALARS = {"none": "None", "any": "Any"}


class Annotations:
    """Types of one module as source. Classes that aren't there yet are written, each once."""

    def __init__(self, names: Names, known: dict[Type, str], imported: Callable[[str, str], str]):
        self._names = names
        self._classes: dict[Type, str] = dict(known)
        self._imported = imported
        self.definitions: list[str] = []

    def name(self, name: str) -> str:
        """A name from the standard library, which the module imports."""
        return self._imported(name, IMPORTS[name])

    def of(self, type_: Type) -> str:
        """The annotation of values of a type."""
        match type_:
            case Scalar(name="any"):
                return self.name("Any")
            case Scalar(name="datetime"):
                return self.name("datetime")
            case Scalar(name=name):
                return _SCALARS.get(name, name)
            case ListOf(item=item):
                return f"list[{self.of(item)}]"
            case DictOf(value=value):
                return f"dict[str, {self.of(value)}]"
            case UnionOf(options=options):
                if not _is_plain(options):
                    raise UnsayableError("a union that Python makes another one of")
                return " | ".join(self.of(option) for option in options)
            case Choice(name=""):
                return self.choice(type_)
            case Choice() | Record():
                return self._class(type_)

    def choice(self, type_: Choice) -> str:
        """One of some values, without a class."""
        return f"{self.name('Literal')}[{', '.join(flat(literal(value)) for value in type_.values)}]"

    def file(self, optional: bool) -> str:
        """The annotation of a file or folder."""
        return f"{self.name('Path')} | None" if optional else self.name("Path")

    def described(self, annotation: str, text: str) -> str:
        """An annotation that carries a description."""
        return f"{self.name('Annotated')}[{annotation}, {quoted(text)}]" if text else annotation

    def _class(self, type_: Choice | Record) -> str:
        found = self._classes.get(type_)
        if found is None:
            wanted = type_.name if is_identifier(type_.name) else camel(type_.name)
            found = self._names.free(wanted if wanted[:1].isupper() else camel(wanted))
            self._classes[type_] = found
            self.definitions.append(self.define(found, type_))
        return found

    def define(self, name: str, type_: Choice | Record) -> str:
        """The definition of a class for values of a type, under a name."""
        return self._enum(name, type_) if isinstance(type_, Choice) else self._typed_dict(name, type_)

    def _enum(self, name: str, type_: Choice) -> str:
        base = self.name("Enum")
        members = Names()
        pairs = [
            (members.free(identifier(value if isinstance(value, str) else f"value {place}").strip("_").upper()), value)
            for place, value in enumerate(type_.values, 1)
        ]
        if name == type_.name:
            body = "\n".join("    " + statement(f"{member} = ", literal(value), INDENT) for member, value in pairs)
            return f"class {name}({base}):\n{body}"
        given = Group("[", tuple(literal((member, value)) for member, value in pairs), "]")
        return statement(f"{name} = ", call(base, quoted(type_.name), given))

    def _typed_dict(self, name: str, type_: Record) -> str:
        base = self.name("TypedDict")
        fields = [(field.name, self._field(field)) for field in type_.fields]
        # Python changes names with two underscores in the body of a class.
        plain = all(is_identifier(field) and not field.startswith("__") for field, _ in fields)
        if name == type_.name and fields and plain:
            body = "\n".join(f"    {field}: {annotation}" for field, annotation in fields)
            return f"class {name}({base}):\n{body}"
        pairs: tuple[Doc, ...] = tuple(Named((quoted(field), ": "), annotation) for field, annotation in fields)
        return statement(f"{name} = ", call(base, quoted(type_.name), Group("{", pairs, "}")))

    def _field(self, field: Field) -> str:
        inner = self.of(field.type)
        return inner if field.required else f"{self.name('NotRequired')}[{inner}]"


def _is_plain(options: tuple[Type, ...]) -> bool:
    """Whether Python keeps a union as it is written: different options, each of one kind."""
    odd = any(isinstance(option, UnionOf) or option == Scalar("any") for option in options)
    return len(options) > 1 and len(set(options)) == len(options) and not odd
