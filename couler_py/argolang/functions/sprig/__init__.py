"""Argo's `sprig.*`: the functions of github.com/Masterminds/sprig 3.3.0, without `env` and `expandenv`.

Those that give another value each time, ask the network or make certificates are known by name and not evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from couler_py.argolang.functions.sprig.encoding import ENCODING
from couler_py.argolang.functions.sprig.lists import LISTS
from couler_py.argolang.functions.sprig.maps import MAPS
from couler_py.argolang.functions.sprig.numbers import NUMBERS
from couler_py.argolang.functions.sprig.patterns import PATTERNS
from couler_py.argolang.functions.sprig.reflection import REFLECTION
from couler_py.argolang.functions.sprig.texts import TEXTS
from couler_py.argolang.functions.sprig.times import TIMES
from couler_py.argolang.functions.sprig.versions import VERSIONS
from couler_py.argolang.functions.sprig.words import WORDS
from couler_py.argolang.values import Function

_RANDOM = "its value is random"
_KEYS = "it makes keys and certificates, or reads them"
_UNSAID = {
    **{
        name: ((*("int",) * count,), _RANDOM)
        for name, count in {
            "randAlphaNum": 1,
            "randAlpha": 1,
            "randAscii": 1,
            "randNumeric": 1,
            "randBytes": 1,
            "randInt": 2,
            "uuidv4": 0,
        }.items()
    },
    "shuffle": (("string",), _RANDOM),
    "getHostByName": (("string",), "it asks the network"),
    "bcrypt": (("string",), _RANDOM),
    "htpasswd": (("string", "string"), _RANDOM),
    "genPrivateKey": (("string",), _KEYS),
    "derivePassword": (("int", "string", "string", "string", "string"), "it can't be called with a plain number"),
    "buildCustomCert": (("string", "string"), _KEYS),
    "genCA": (("string", "int"), _KEYS),
    "genCAWithKey": (("string", "int", "string"), _KEYS),
    "genSelfSignedCert": (("string", "any", "any", "int"), _KEYS),
    "genSelfSignedCertWithKey": (("string", "any", "any", "int", "string"), _KEYS),
    "genSignedCert": (("string", "any", "any", "int", "any"), _KEYS),
    "genSignedCertWithKey": (("string", "any", "any", "int", "any", "string"), _KEYS),
    "encryptAES": (("string", "string"), _RANDOM),
    "decryptAES": (("string", "string"), _KEYS),
}

SPRIG: Mapping[str, Function] = MappingProxyType(
    {
        name: Function(f"sprig.{name}", each.parameters, each.variadic, each.apply, each.why, each.optional, each.timed)
        for table in (TEXTS, WORDS, NUMBERS, LISTS, MAPS, ENCODING, PATTERNS, REFLECTION, TIMES, VERSIONS)
        for name, each in table.items()
    }
    | {name: Function(f"sprig.{name}", kinds, why=why) for name, (kinds, why) in _UNSAID.items()}
)
