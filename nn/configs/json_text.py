"""Configs as JSON: `nn.to_json(config)` and `nn.from_json(Config, text)`, and as files.

Comes in: a dataclass of settings, or a text and the class that it is to be. Goes out: the text, or
an object of the class. All that does not fit is said at once, each with its path in the text.
Never: code or a class that the text names; a file that is half written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from ...frontend.errors import ArgumentError, fail
from .kinds import kind_of
from .misfit import Misfit

T = TypeVar("T")


def to_json(config: Any) -> str:
    """A config as text, which `from_json` of its class reads again as an equal one."""
    try:
        data = kind_of(type(config)).write(config)
    except Misfit as found:
        _fail("to_json", f"this {type(config).__name__} cannot be written", found)
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)


def from_json(cls: type[T], text: str, ignore: Iterable[str] = ()) -> T:
    """The config of a class that a text says; fields that it leaves out have their defaults.

    Names to `ignore` may stand in the text although the class has no such fields.
    """
    return _config("from_json", cls, text, "the text", ignore)


def save_config(path: str | os.PathLike[str], config: Any) -> None:
    """Write a config to a file, which is replaced when the new one is complete."""
    place, text = Path(path), to_json(config)
    aside = place.with_name(f"{place.name}.{os.getpid()}.new")
    try:
        aside.write_text(text + "\n", encoding="utf-8")
        aside.replace(place)
    finally:
        aside.unlink(missing_ok=True)


def load_config(cls: type[T], path: str | os.PathLike[str], ignore: Iterable[str] = ()) -> T:
    """The config of a class that a file says, in which names to `ignore` may stand, too."""
    text = Path(path).read_text(encoding="utf-8")
    return _config("load_config", cls, text, os.fspath(path), ignore)


def _config(operation: str, cls: type[T], text: str, source: str, ignore: Iterable[str]) -> T:
    """The config of a class that a text says; `source` is where the text comes from."""
    name = getattr(cls, "__name__", str(cls))
    try:
        data = json.loads(text)
    except ValueError as error:
        fail(ArgumentError, operation, f"{source} is no JSON, nor a {name}: {error}")
    if isinstance(data, dict) and is_dataclass(cls):
        ignored = {*ignore} - {each.name for each in fields(cls)}
        data = {name: item for name, item in data.items() if name not in ignored}
    try:
        return kind_of(cls).read(data)
    except Misfit as found:
        _fail(operation, f"{source} is no {name}", found)


def _fail(operation: str, problem: str, found: Misfit) -> NoReturn:
    fail(ArgumentError, operation, "\n  ".join([problem, *found.lines()]))
