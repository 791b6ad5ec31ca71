"""What people and platform teams choose once, outside of any workflow: `couler.toml`, its profiles, the environment.

`load` gives what holds in a folder. Later sources win, key by key:

1. the defaults of `Settings`
2. the user's file, `$XDG_CONFIG_HOME/couler/couler.toml` (`~/.config/couler/couler.toml`)
3. `[tool.couler]` of the project's pyproject.toml
4. `couler.toml` in the project's root
5. the chosen profile, `[profiles.NAME]` of these files
6. the environment: `COULER_NAMESPACE`, `COULER_CACHE_BUDGET`, …
7. what is typed on the command line or given to a function

Settings are data. No key names a command, a plugin or code to run, so that a project which somebody hands over can be
opened without fear of its `couler.toml`.
"""

from __future__ import annotations

from couler_py.settings.loading import load as load
from couler_py.settings.loading import using as using
from couler_py.settings.model import CacheSettings as CacheSettings
from couler_py.settings.model import EventSettings as EventSettings
from couler_py.settings.model import LocalSettings as LocalSettings
from couler_py.settings.model import LogSettings as LogSettings
from couler_py.settings.model import OpenLineage as OpenLineage
from couler_py.settings.model import ResourceDefaults as ResourceDefaults
from couler_py.settings.model import SecretSettings as SecretSettings
from couler_py.settings.model import Settings as Settings
from couler_py.settings.model import Toleration as Toleration
from couler_py.settings.model import Webhook as Webhook
from couler_py.settings.policy import Policy as Policy
from couler_py.settings.policy import PolicySource as PolicySource
from couler_py.settings.problems import SettingsError as SettingsError
from couler_py.settings.projects import root_of as root_of
from couler_py.settings.sizes import size_of as size_of
