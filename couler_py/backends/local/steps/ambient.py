"""What this process's environment hands on to steps: all of it but our own settings and secrets."""

from __future__ import annotations

import os
import sys
from pathlib import Path

KEPT = ("COULER_HOME",)


def ambient() -> dict[str, str]:
    """The variables that every step finds. In a virtual environment its programs come first."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("COULER_") or name in KEPT}
    if sys.prefix != sys.base_prefix:
        variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{variables.get('PATH', os.defpath)}"
    return variables
