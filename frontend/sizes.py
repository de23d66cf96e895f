"""Sizes as a function that is being traced gets them: numbers that may still be any.

Comes in: shapes with symbols for sizes at which nobody has looked. Goes out: tuples, in which an
`UnseenSize` stands for each of these. What is computed of one is another, as long as that is never
negative, whatever the size is; to do anything else with it is to look at the number.
Never: an answer that another size would not give, unless somebody has looked.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ..ir.dims import DimError, Size, floor_div, interval, substitute
from ..ir.facts import Facts
from .symbolic import is_open, resized, symbols_in
from .unseen import Shape, Unseen

Function = Callable[..., Any]


class UnseenSize:
    """A size at which nobody has looked. For Python it is an integer, and `isinstance` says so, but
    not one in whose memory C finds the number without asking."""

    __slots__ = ("_size", "unseen")

    def __init__(self, size: Size, unseen: Unseen) -> None:
        self._size, self.unseen = size, unseen
        unseen.held += 1
        unseen.is_shown = True

    def __del__(self) -> None:
        self.unseen.held -= 1

    @property
    def __class__(self) -> type:
        return int

    @property
    def size(self) -> Size:
        """The size itself, or the number that it has come to be."""
        return self.unseen.known(self._size)

    def __index__(self) -> int:
        return self.unseen.look(self._size)

    __int__ = __trunc__ = __floor__ = __ceil__ = __index__

    def __bool__(self) -> bool:
        return _answer("ne", self.unseen, self, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (self.__index__(),)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__index__() if hasattr(int, name) else 0, name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.__index__(), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **named: Any) -> Any:
        return getattr(ufunc, method)(*[whole(each) for each in given], **named)


def size_of(value: Any) -> Any:
    """The size, perhaps an open one, that stands behind an integer; anything else as it is."""
    return value.size if type(value) is UnseenSize else value


def whole(value: Any) -> Any:
    """The number behind a size, which has been looked at then; anything else as it is."""
    return value.__index__() if type(value) is UnseenSize else value


def shown(shape: Shape, unseen: Unseen | None, ended: bool = False) -> tuple[int, ...]:
    """A shape as users get it; once the trace has `ended`, in plain numbers."""
    if unseen is None or unseen.numbers.keys().isdisjoint(symbols_in(shape)):
        return cast(tuple[int, ...], shape)
    if ended:
        return resized(shape, lambda size: substitute(size, unseen.numbers))
    return tuple([_shown(size, unseen) for size in unseen.known(shape)])


def _shown(size: Size, unseen: Unseen) -> Any:
    if not is_open(size):
        return size
    return UnseenSize(size, unseen) if interval(size)[0] >= 0 else unseen.look(size)


def _remainder(one: Size, other: Size) -> Size | None:
    """What is left of a division, if that is nothing whatever the size is."""
    return 0 if isinstance(other, int) and other > 0 and Facts().divides(other, one) else None


def _are_equal(one: Size, other: Size) -> bool | None:
    """Whether two sizes are, or None where that depends on how large they are."""
    if one is other or Facts().equal(one, other):
        return True
    return False if Facts().less(one, other) or Facts().less(other, one) else None


def _is_less(one: Size, other: Size) -> bool | None:
    """The same of whether one is less."""
    if Facts().less(one, other):
        return True
    return False if Facts().at_most(other, one) else None


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


_OF_SIZES: dict[str, Function] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": floor_div,
    "mod": _remainder,
    "eq": _are_equal,
    "ne": lambda one, other: _not(_are_equal(one, other)),
    "lt": _is_less,
    "le": lambda one, other: _not(_is_less(other, one)),
    "gt": lambda one, other: _is_less(other, one),
    "ge": lambda one, other: _not(_is_less(one, other)),
}
"""What can be said of sizes whatever they are; or None, or a refusal, where it cannot."""


def _answer(name: str, unseen: Unseen, *given: Any) -> Any:
    """What comes of an operator, for all sizes if that can be said, or else for these numbers."""
    of_numbers: Function = divmod if name == "divmod" else getattr(operator, name)
    rule = _OF_SIZES.get(name)
    if rule is not None and all([isinstance(each, int) for each in given]):
        try:
            made = rule(*[_as_size(each) for each in given])
        except DimError:
            made = None
        if made is not None:
            return made if isinstance(made, bool) else _shown(made, unseen)
    return of_numbers(*[whole(each) for each in given])


def _as_size(value: Any) -> Size:
    """A size, or a number, which may be of a class of its own."""
    return value.size if type(value) is UnseenSize else int(value)


def _forward(name: str) -> Function:
    def method(self: UnseenSize, other: Any) -> Any:
        is_number = isinstance(other, int | float | complex)
        return _answer(name, self.unseen, self, other) if is_number else NotImplemented

    return method


def _reflected(name: str) -> Function:
    def method(self: UnseenSize, other: Any) -> Any:
        is_number = isinstance(other, int | float | complex)
        return _answer(name, self.unseen, other, self) if is_number else NotImplemented

    return method


def _looking(name: str) -> Function:
    """A method of integers that has no rule for sizes."""

    def method(self: UnseenSize, *given: Any) -> Any:
        return getattr(int, name)(self.__index__(), *[whole(each) for each in given])

    return method


_REFLECTED = ("add", "sub", "mul", "floordiv", "mod", "truediv", "divmod")
for _name in (*_OF_SIZES, "truediv", "divmod"):
    setattr(UnseenSize, f"__{_name}__", _forward(_name))
for _name in _REFLECTED:
    setattr(UnseenSize, f"__r{_name}__", _reflected(_name))
for _name in (
    "abs", "and", "float", "format", "hash", "invert", "lshift", "neg", "or", "pos", "pow", "rand",
    "repr", "rlshift", "ror", "round", "rpow", "rrshift", "rshift", "rxor", "str", "xor",
):  # fmt: skip
    setattr(UnseenSize, f"__{_name}__", _looking(f"__{_name}__"))
