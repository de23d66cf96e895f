"""Sizes as a function that is being traced gets them: numbers that may still be any.

Comes in: shapes with symbols for sizes at which nobody has looked. Goes out: tuples, in which an
`UnseenSize` stands for each of these. What is computed of one is another, as long as that is never
negative, whatever the size is; to do anything else with it is to look at the number.
Never: an answer that another size would not give, unless somebody has looked.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import prod
from typing import Any, cast

import numpy as np

from ..ir.dims import MAX_SIZE, Dim, DimError, Size, floor_div, substitute, terms_of
from ..ir.facts import Facts
from .symbolic import resized, symbols_in
from .unseen import Shape, Unseen, current_unseen

Function = Callable[..., Any]
Rule = Callable[..., Any]
"""What can be said of two sizes whatever they are; None, or a refusal, where nothing can."""


def _remainder(one: Size, other: Size) -> Size | None:
    """What is left of a division, if that is nothing."""
    return 0 if isinstance(other, int) and other > 0 and Facts().divides(other, one) else None


def _are_equal(one: Size, other: Size) -> bool | None:
    if one is other or Facts().equal(one, other):
        return True
    return False if Facts().less(one, other) or Facts().less(other, one) else None


def _is_less(one: Size, other: Size) -> bool | None:
    if Facts().less(one, other):
        return True
    return False if Facts().at_most(other, one) else None


def _power(base: Size, exponent: Size) -> Size | None:
    """A product of a few."""
    if isinstance(exponent, int) and 1 <= exponent <= 4:
        return prod([base] * exponent)
    return None


def _negated(rule: Rule) -> Rule:
    def negated(one: Size, other: Size) -> bool | None:
        answer = rule(one, other)
        return None if answer is None else not answer

    return negated


def _exchanged(rule: Rule) -> Rule:
    return lambda one, other: rule(other, one)


def _operator(of_numbers: Function, rule: Rule | None = None) -> tuple[Function, Function]:
    """An operator with a size on its left, and with one on its right: what comes of it for all
    sizes, if the rule says that, or else for these numbers. What is no number decides itself."""

    def forward(self: UnseenSize, other: Any) -> Any:
        if not isinstance(other, int | float | complex):
            return NotImplemented
        return _made(self.unseen, of_numbers, rule, self, other)

    def reflected(self: UnseenSize, other: Any) -> Any:
        if not isinstance(other, int | float | complex):
            return NotImplemented
        return _made(self.unseen, of_numbers, rule, other, self)

    return forward, reflected


def _looking(function: Function) -> Function:
    """What integers do, done with the number."""

    def method(self: UnseenSize, *given: Any) -> Any:
        return function(self.__index__(), *[whole(each) for each in given])

    return method


class UnseenSize:
    """A size at which nobody has looked, of one trace: for all others it is a number. For Python it
    is an integer, and `isinstance` says so, but not one in whose memory C finds the number without
    asking."""

    __slots__ = ("_size", "unseen")
    _size: Size
    unseen: Unseen

    def __new__(cls, size: Size, unseen: Unseen) -> UnseenSize:
        made = super().__new__(cls)
        made._size, made.unseen = size, unseen
        unseen.hand_out()
        return made

    def __del__(self) -> None:
        self.unseen.take_back()

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

    def __hash__(self) -> int:
        return hash(self.__index__())

    def __bool__(self) -> bool:
        return self != 0

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (self.__index__(),)

    def __getattr__(self, name: str) -> Any:
        if hasattr(int, name):
            return getattr(self.__index__(), name)
        raise AttributeError(f"'int' object has no attribute {name!r}", name=name, obj=self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.__index__(), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **named: Any) -> Any:
        return getattr(ufunc, method)(*whole_in(given), **named)

    def __array_function__(self, function: Any, _: Any, given: Any, named: Any) -> Any:
        return function(*whole_in(given), **whole_in(named))

    __add__, __radd__ = _operator(operator.add, operator.add)
    __sub__, __rsub__ = _operator(operator.sub, operator.sub)
    __mul__, __rmul__ = _operator(operator.mul, operator.mul)
    __floordiv__, __rfloordiv__ = _operator(operator.floordiv, floor_div)
    __mod__, __rmod__ = _operator(operator.mod, _remainder)
    __truediv__, __rtruediv__ = _operator(operator.truediv)
    __divmod__, __rdivmod__ = _operator(divmod)
    __pow__, __rpow__ = _operator(operator.pow, _power)
    __eq__ = _operator(operator.eq, _are_equal)[0]
    __ne__ = _operator(operator.ne, _negated(_are_equal))[0]
    __lt__ = _operator(operator.lt, _is_less)[0]
    __gt__ = _operator(operator.gt, _exchanged(_is_less))[0]
    __le__ = _operator(operator.le, _negated(_exchanged(_is_less)))[0]
    __ge__ = _operator(operator.ge, _negated(_is_less))[0]

    __str__, __repr__ = _looking(str), _looking(repr)
    __format__, __float__, __round__ = _looking(format), _looking(float), _looking(round)
    __abs__, __neg__, __pos__ = _looking(abs), _looking(operator.neg), _looking(operator.pos)
    __and__, __rand__ = _looking(int.__and__), _looking(int.__rand__)
    __or__, __ror__ = _looking(int.__or__), _looking(int.__ror__)
    __xor__, __rxor__ = _looking(int.__xor__), _looking(int.__rxor__)
    __lshift__, __rlshift__ = _looking(int.__lshift__), _looking(int.__rlshift__)
    __rshift__, __rrshift__ = _looking(int.__rshift__), _looking(int.__rrshift__)
    __invert__ = _looking(operator.invert)


def size_of(value: Any) -> Any:
    """The size behind an integer, an open one where it is of what is being traced; anything else as
    it is."""
    if type(value) is not UnseenSize:
        return value
    return value.size if value.unseen is current_unseen() else value.__index__()


def whole(value: Any) -> Any:
    """The number behind a size, which has been looked at then; anything else as it is."""
    return value.__index__() if type(value) is UnseenSize else value


def whole_in(part: Any) -> Any:
    """The same in tuples, lists and dicts."""
    if isinstance(part, dict):
        return {key: whole_in(each) for key, each in cast(dict[Any, Any], part).items()}
    if type(part) in (tuple, list):
        return type(part)([whole_in(each) for each in part])
    return whole(part)


def visible(shape: Shape, unseen: Unseen | None, ended: bool = False) -> tuple[int, ...]:
    """A shape as users get it; once the trace has `ended`, in plain numbers."""
    if unseen is None:
        return cast(tuple[int, ...], shape)
    if ended:
        return resized(shape, lambda size: substitute(size, unseen.numbers))
    return tuple([_visible(size, unseen) for size in unseen.known(shape)])


def _visible(size: Size, unseen: Unseen) -> Any:
    found = {*symbols_in(size)}
    if found.isdisjoint(unseen.numbers):
        return size  # a number, or of symbols that a user named, or that data decide
    is_own = found <= unseen.numbers.keys() and Facts().at_most(0, size) and _fits(size)
    return UnseenSize(size, unseen) if is_own else unseen.look(size)


def _fits(size: Size) -> bool:
    """Whether i64 certainly holds a size, and all that it is computed of."""
    terms = terms_of(size).items()
    most = sum([abs(by) * prod([each.high for each in atoms]) for atoms, by in terms])
    parts = size.parts if isinstance(size, Dim) else ()
    return most <= MAX_SIZE and all([_fits(each) for each in parts])


def _made(unseen: Unseen, of_numbers: Function, rule: Rule | None, *given: Any) -> Any:
    made = None if rule is None else _for_all(unseen, rule, *given)
    if made is None:
        return of_numbers(*[whole(each) for each in given])
    return made if isinstance(made, bool) else _visible(made, unseen)


def _for_all(unseen: Unseen, rule: Rule, *given: Any) -> Size | bool | None:
    """What a rule says of numbers and sizes of a trace, if anything."""
    if not all([isinstance(each, int) for each in given]):
        return None
    sizes = [
        each.size if type(each) is UnseenSize and each.unseen is unseen else int(each)
        for each in given
    ]
    try:
        return rule(*sizes)
    except DimError:
        return None
