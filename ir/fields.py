"""The words a declaration is written in, and how they are read.

Comes in: the annotations of a class body, such as `left: Operand[Tensor] = among(FLOATS)`.
Goes out: `Field`s: a name, its role, the types or the kind of attribute it takes, and its rule.
Never: code; `generate` writes that from the fields.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin

from .attributes import Kind, kind_of
from .dtypes import DType
from .types import Type
from .values import Block, Value

T = TypeVar("T", bound=Type)
A = TypeVar("A")


class Role(Enum):
    """What a declared name stands for."""

    OPERAND = "operand"
    OPERANDS = "operands"
    ATTRIBUTE = "attribute"
    RESULT = "result"
    RESULTS = "results"
    REGION = "region"


Operand = Annotated[Value[T], Role.OPERAND]
Operands = Annotated[tuple[Value[T], ...], Role.OPERANDS]
Attr = Annotated[A, Role.ATTRIBUTE]
Result = Annotated[Value[T], Role.RESULT]
Results = Annotated[tuple[Value[T], ...], Role.RESULTS]
Region = Annotated[Block, Role.REGION]


@dataclass(frozen=True)
class Rule:
    """What the type of an operand or result must be, relative to another field."""

    same_as: str | None = None
    shaped_as: str | None = None
    dtypes: frozenset[DType] | None = None


def same_as(field: str) -> Any:
    """The very type of `field`."""
    return Rule(same_as=field)


def shaped_as(field: str, dtype: DType) -> Any:
    """The type of `field`, with another dtype."""
    return Rule(shaped_as=field, dtypes=frozenset({dtype}))


def among(dtypes: Iterable[DType]) -> Any:
    """Any type whose dtype is one of `dtypes`."""
    return Rule(dtypes=frozenset(dtypes))


NO_DEFAULT = object()


@dataclass(frozen=True)
class Field:
    """One declared name: its role, the classes of type or the kind of attribute, and its rule."""

    name: str
    role: Role
    types: tuple[type[Type], ...] = ()
    kind: Kind | None = None
    rule: Rule = Rule()
    default: Any = NO_DEFAULT

    @property
    def has_default(self) -> bool:
        """Whether the builder and a text may leave the attribute out."""
        return self.default is not NO_DEFAULT

    @property
    def optional(self) -> bool:
        """Whether an attribute may be left out altogether."""
        return self.default is None


def own_fields(namespace: dict[str, Any]) -> tuple[Field, ...]:
    annotations: dict[str, Any] = namespace.get("__annotations__", {})
    found: list[Field] = []
    for name, annotation in annotations.items():
        metadata = getattr(annotation, "__metadata__", ())
        if metadata and isinstance(metadata[0], Role):
            default = namespace.get(name, NO_DEFAULT)
            found.append(_field(name, metadata[0], annotation.__origin__, default))
    return tuple(found)


def _field(name: str, role: Role, annotation: Any, default: Any) -> Field:
    if role is Role.REGION:
        return Field(name, role)
    if role is Role.ATTRIBUTE:
        kind = kind_of(annotation)
        stated = default is not None and default is not NO_DEFAULT
        return Field(name, role, kind=kind, default=kind.normalise(default) if stated else default)
    inner = get_args(annotation)[0] if get_origin(annotation) is tuple else annotation
    (accepted,) = get_args(inner)
    classes = get_args(accepted) if isinstance(accepted, UnionType) else (accepted,)
    types = tuple(each for each in classes if isinstance(each, type) and each is not Type)
    return Field(name, role, types, rule=default if isinstance(default, Rule) else Rule())
