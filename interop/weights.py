"""Tensors by name, between files and models that call them otherwise or want only some of them.

Comes in: tensors by name, read or still in a file. Goes out: some of them, by other names, in
another dtype, or those that fit what a model expects.
Never: a tensor lost without a word: two that would get one name, or a shape that differs, are
refused.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn, TypeVar

from ..frontend.errors import ArgumentError, described, fail, failure
from ..frontend.functions.creation import asarray
from ..frontend.tensor import Tensor
from ..ir.dtypes import FLOATS
from .errors import MismatchError, listed
from .stored import Stored, float_dtype

T = TypeVar("T")


class Match(NamedTuple):
    """The tensors that fit, and the names that only one side has."""

    tensors: dict[str, Any]
    missing: list[str]
    unexpected: list[str]


def remap(tensors: Mapping[str, T], rules: Mapping[str, str]) -> dict[str, T]:
    """The tensors by other names: each rule, from a regular expression to what replaces it, is
    applied to what the rules before it have left."""
    patterns = [(_pattern(text, "remap"), new) for text, new in rules.items()]
    made: dict[str, T] = {}
    sources: dict[str, str] = {}
    for name, tensor in tensors.items():
        renamed = name
        for pattern, new in patterns:
            renamed = _replaced(pattern, new, renamed)
        if renamed in made:
            problem = f"{sources[renamed]!r} and {name!r} would both be called {renamed!r}"
            fail(ArgumentError, "remap", problem, hint="`select` leaves tensors out")
        made[renamed], sources[renamed] = tensor, name
    return made


def select(tensors: Mapping[str, T], patterns: str | Iterable[str]) -> dict[str, T]:
    """The tensors in whose names one of the regular expressions is found."""
    texts = [patterns] if isinstance(patterns, str) else [*patterns]
    wanted = {text: _pattern(text, "select") for text in texts}
    for text, pattern in wanted.items():
        if not any(pattern.search(name) for name in tensors):
            hint = f"the names are {listed(tensors)}"
            fail(ArgumentError, "select", f"{text!r} is found in no name", hint=hint)
    return {
        name: tensor
        for name, tensor in tensors.items()
        if any(pattern.search(name) for pattern in wanted.values())
    }


def convert(tensors: Mapping[str, Tensor | Stored], dtype: Any) -> dict[str, Tensor]:
    """The tensors, read, with floats of another dtype; integers and all else stay as they are."""
    wanted = float_dtype(dtype, "convert")
    return {name: _converted(tensor, wanted) for name, tensor in tensors.items()}


def match(expected: Mapping[str, Any], tensors: Mapping[str, T], *, partial: bool = False) -> Match:
    """The tensors that a model expects, whose names have shapes, or anything that has a shape.

    All that does not fit is said at once. With `partial`, names that only one side has are no
    mistake, and shapes that differ still are.
    """
    missing = [name for name in expected if name not in tensors]
    unexpected = [name for name in tensors if name not in expected]
    both = [name for name in expected if name in tensors]
    differing = [name for name in both if _shape(expected[name]) != _shape(tensors[name])]
    if differing or ((missing or unexpected) and not partial):
        pairs = [(name, tensors[name], _shape(expected[name])) for name in differing]
        _refuse(missing, unexpected, pairs, partial)
    return Match({name: tensors[name] for name in both}, missing, unexpected)


def _pattern(text: Any, operation: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, TypeError) as problem:
        fail(ArgumentError, operation, f"{text!r} is no regular expression: {problem}")


def _replaced(pattern: re.Pattern[str], new: str, name: str) -> str:
    try:
        return pattern.sub(new, name)
    except (re.error, IndexError, TypeError) as problem:
        fail(ArgumentError, "remap", f"{new!r} replaces nothing: {problem}")


def _converted(tensor: Any, dtype: Any) -> Tensor:
    if isinstance(tensor, Stored):
        return tensor.read(dtype=dtype)
    return asarray(tensor, dtype=dtype if tensor.dtype.ir in FLOATS else None)


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(getattr(value, "shape", value))


def _refuse(
    missing: list[str],
    unexpected: list[str],
    differing: list[tuple[str, Any, tuple[int, ...]]],
    partial: bool,
) -> NoReturn:
    """Say all that does not fit, and what would mend it."""
    notes: list[str] = []
    for what, names in (("missing", missing), ("unexpected", unexpected)):
        if names and not partial:
            notes.append(f"{what} ({len(names)}): {', '.join(map(repr, names))}")
    for name, tensor, shape in differing:
        turned = ", which is its transpose" if _shape(tensor) == shape[::-1] else ""
        notes.append(f"{name!r} is {described(tensor)} and should be {list(shape)}{turned}")
    hint = _prefix_hint(missing, unexpected)
    if not hint and not differing:
        hint = "with `partial=True` names may be missing or left over"
    problem = "the tensors do not fit what is expected"
    raise failure(MismatchError, "match", problem, notes=notes, hint=hint)


def _prefix_hint(missing: list[str], unexpected: list[str]) -> str:
    """What to do where all names differ by the same beginning."""
    for longer, shorter in ((unexpected, missing), (missing, unexpected)):
        if not longer or not shorter:
            return ""
        ends = [name for name in longer if name.endswith(shorter[0])]
        for prefix in [name.removesuffix(shorter[0]) for name in ends]:
            if {prefix + name for name in shorter} <= {*longer}:
                strip = longer is unexpected
                rule = {f"^{re.escape(prefix)}": ""} if strip else {"^": prefix}
                return f"`remap(tensors, {rule})` gives them the names that are expected"
    return ""
