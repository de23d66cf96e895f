"""Properties that are computed once.

Comes in: a method without arguments. Goes out: an attribute, which is there when it is first read.
Never: a lock, such as that of Python 3.11's `functools`: one that another thread holds as a process
forks is held in the child for ever. Two threads may compute a value at the same time.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class cached_property(Generic[T_co]):
    """A property of objects with a `__dict__`, which has the value from then on."""

    def __init__(self, compute: Callable[[Any], T_co]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, asked: None, owner: type) -> Self: ...

    @overload
    def __get__(self, asked: object, owner: type) -> T_co: ...

    def __get__(self, asked: Any, owner: type) -> Self | T_co:
        if asked is None:
            return self
        made = asked.__dict__[self.name] = self.compute(asked)
        return made
