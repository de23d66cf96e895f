"""What the array API standard asks of a namespace, and of what says what it can do.

Comes in: a version of the standard. Goes out: the module `brimstone`, and its `Info`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from ..runtime.device import current_device, device_named
from ..targets import TARGETS
from .dtypes import ALL, DEFAULTS, DType
from .errors import ArgumentError, fail
from .functions.types import isdtype

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
VERSION, NEW_AXIS = VERSIONS[-1], None
E_, INF, NAN, PI = 2.718281828459045, float("inf"), float("nan"), 3.141592653589793


def namespace(api_version: str | None = None) -> ModuleType:
    """The module whose functions take tensors."""
    if api_version is not None and api_version not in VERSIONS:
        problem = f"the version {api_version!r} of the array API is not known"
        fail(ArgumentError, "__array_namespace__", problem, hint=f"known: {', '.join(VERSIONS)}")
    return import_module(__name__.partition(".")[0])


class Info:
    """What the standard's inspection functions say."""

    def capabilities(self) -> dict[str, Any]:
        """Which optional behaviour there is."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> Any:
        """Where tensors are made."""
        return current_device()

    def devices(self) -> tuple[Any, ...]:
        """All devices."""
        return tuple([device_named(name) for name in TARGETS])

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """What numbers become where no dtype is named."""
        return {
            "real floating": DEFAULTS[float],
            "complex floating": DEFAULTS[complex],
            "integral": DEFAULTS[int],
            "indexing": DEFAULTS[int],
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The dtypes of a kind, by name; the standard's own where no kind is named."""
        standard = [each for each in ALL if each.name not in _BEYOND]
        return {each.name: each for each in standard if kind is None or isdtype(each, kind)}


_BEYOND = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16")


def info() -> Info:
    """What this namespace can do."""
    return Info()
