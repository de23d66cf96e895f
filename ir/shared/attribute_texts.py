"""Attributes of ops as text.

Comes in: an op class, and the values of its attributes. Goes out: ` {name = value, …}`, of which
the latest are known.
Never: a function that is held because its name has been printed.
"""

from functools import lru_cache
from typing import Any

from .named import Name


def attributes_text(cls: Any, values: tuple[Any, ...]) -> str:
    """` {name = value, …}`, without those left out, and without a hidden one."""
    return _text(cls, values) if Name in map(type, values) else _known_text(cls, values)


def _text(cls: Any, values: tuple[Any, ...]) -> str:
    pairs = zip(cls.attribute_fields, values, strict=False)
    texts = [f"{each.name} = {each.kind.text(value)}" for each, value in pairs if value is not None]
    return f" {{{', '.join(texts)}}}" if texts else ""


_known_text = lru_cache(10_000)(_text)
