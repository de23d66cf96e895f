"""What types of settings there are: from an annotation to how its values are written and read.

Comes in: an annotation. Goes out: a `Kind`.
Never: a type that JSON could not give back.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from .containers import Fixed, Many, Table
from .misfit import misfit
from .records import OneOf, Record
from .scalars import Anything, Choice, Kind, Member, PathText, Plain, Real


def kind_of(annotation: Any) -> Kind:
    """How values of a type are written and read."""
    origin, inner = get_origin(annotation) or annotation, get_args(annotation)
    if origin in (Union, UnionType):
        return _one_of(inner)
    if origin is Literal:
        return _choice(inner)
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        return Fixed(tuple([kind_of(each) for each in inner if each != ()]))
    if origin in (list, tuple):
        return Many(origin, kind_of(inner[0]) if inner else Anything())
    if origin is dict:
        key, item = inner or (str, Any)
        return Table(_key(key), kind_of(item))
    return _of_class(annotation)


def _of_class(cls: Any) -> Kind:
    """The kind of a type without parameters."""
    if cls in (bool, int, str, NoneType, None):
        return Plain(cls or NoneType)
    if cls is float:
        return Real()
    if cls is Any:
        return Anything()
    if isinstance(cls, type) and issubclass(cls, Enum):
        return Member(cls)
    if isinstance(cls, type) and issubclass(cls, PurePath):
        return PathText(cls)
    if isinstance(cls, type) and is_dataclass(cls):
        return _record(cls)
    raise misfit(f"a config cannot hold values of the type {cls}")


@cache
def _record(cls: type) -> Record:
    return Record(cls, kind_of)


def _choice(values: tuple[Any, ...]) -> Choice:
    for each in values:
        if type(each) not in (bool, int, str, NoneType):
            raise misfit(f"a choice is between texts, integers, true and false, not {each!r}")
    return Choice(values)


def _one_of(types: tuple[Any, ...]) -> OneOf:
    kinds = tuple([kind_of(each) for each in types])
    names = [kind.cls.__name__ for kind in kinds if isinstance(kind, Record)]
    if len({*names}) < len(names):
        raise misfit(f"of {' or '.join(names)}, two have one name, by which they are told apart")
    return OneOf(kinds)


def _key(annotation: Any) -> Kind:
    kind = kind_of(annotation)
    if not isinstance(kind, Plain | Member | Choice) or kind in (Plain(bool), Plain(NoneType)):
        raise misfit(f"keys are texts, integers or names of an enum, not {annotation}")
    return kind
