"""Calls of an engine's API, as JSON over HTTP: said as data, repeated where that is safe, failures in words.

What differs between engines is what their errors look like and what helps against them: `failures.Words`.
"""

from __future__ import annotations
