"""What a module looks like when it is printed: its parts, their settings, shapes and counts.

Comes in: a module. Goes out: text, and HTML.
Never: a value of a tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from html import escape
from math import prod
from typing import Any

from ..frontend.errors import described
from ..frontend.handle import Handle
from .module import Module, form
from .parameters import leaves, named


def count_of(tree: Any) -> int:
    """How many numbers the parameters of a tree have."""
    return sum([prod(each.tensor.shape) for each in leaves(tree) if not each.is_buffer])


def text(module: Module) -> str:
    """A line for a module without parts, else one for it and each of its parts."""
    return "\n".join(_lines(module, ""))


def html(module: Module) -> str:
    """The same as a page shows it."""
    counts = f"{count_of(module):,} parameters"
    return f"<b>{escape(type(module).__name__)}</b> · {counts}<pre>{escape(text(module))}</pre>"


def _lines(tree: Any, label: str) -> Iterator[str]:
    """The lines of a part, of which the first begins with its label."""
    start = f"{label}: " if label else ""
    parts = [(name, child) for name, child in named(tree) if _is_part(child)]
    note = f"  # {count_of(tree):,} parameters" if isinstance(tree, Module) and not label else ""
    head = f"{start}{_head(tree, [name for name, _ in parts])}"
    if not parts:
        yield f"{head}{note}"
        return
    yield f"{head[:-1]}{note}"
    for name, child in parts:
        yield from [f"  {line}" for line in _lines(child, name)]
    yield head[-1]


def _is_part(child: Any) -> bool:
    """Whether a child gets lines of its own: a module, or a container of such."""
    return isinstance(child, Module) or any([_is_part(each) for _, each in named(child)])


def _head(tree: Any, parts: list[str]) -> str:
    """A module with its tensors and settings in brackets, but for the parts."""
    if not isinstance(tree, Module):
        return {dict: "{}", list: "[]"}.get(type(tree), "()")
    found = form(tree)
    tensors = [(name, child) for name, child in named(tree) if name not in parts]
    inside = [f"{name}={_shown(child)}{_mark(found, name)}" for name, child in tensors]
    inside += [f"{name}={_shown(value)}" for name, value in found.settings.items()]
    return f"{type(tree).__name__}({', '.join(inside)})"


def _mark(found: Any, name: str) -> str:
    """How a tensor that is not trained is marked."""
    if name in found.content.buffers:
        return " (buffer)"
    return " (frozen)" if name in found.content.frozen else ""


def _shown(value: Any) -> str:
    """A tensor by its dtype and shape, a function by its name, anything else as Python shows it."""
    if isinstance(value, Handle):
        return described(value)
    if is_dataclass(value) and not isinstance(value, type):
        shown = [each.name for each in fields(value) if each.repr]
        inside = [f"{name}={_shown(getattr(value, name))}" for name in shown]
        return f"{type(value).__name__}({', '.join(inside)})"
    container = named(value)
    if container:
        return f"[{', '.join([_shown(child) for _, child in container])}]"
    return getattr(value, "__name__", None) or repr(value)
