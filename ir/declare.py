"""How an op is declared: a class whose annotations are its operands, attributes and results.

    class Dot(Op, name="tile.dot"):
        \"\"\"accumulator + a @ b.\"\"\"
        a: Operand[Tile]
        b: Operand[Tile]
        accumulator: Operand[Tile]
        result: Result[Tile] = same_as("accumulator")

Comes in: such a class body. Goes out: the class in the registry, with accessors, and with `build`
and `verify` written by `generate`: nothing generic runs per op. Never: the meaning of an op.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from inspect import get_annotations, signature
from itertools import islice
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin

from .attributes import Kind, kind_of
from .dtypes import DType
from .types import Type
from .values import AnyValue, Block, Value
from .values import Op as BareOp

T = TypeVar("T", bound=Type)
A = TypeVar("A")
NO_DEFAULT = object()


class Role(Enum):
    """What a declared name stands for: its value is where an op keeps such things."""

    OPERAND, ATTRIBUTE, REGION, RESULT = "operands", "attributes", "regions", "results"


Operand = Annotated[Value[T], Role.OPERAND]
Operands = Annotated[tuple[Value[T], ...], Role.OPERAND]
Attr = Annotated[A, Role.ATTRIBUTE]
Result = Annotated[Value[T], Role.RESULT]
Results = Annotated[tuple[Value[T], ...], Role.RESULT]
Region = Annotated[Block, Role.REGION]


@dataclass(frozen=True)
class Rule:
    """What the type of a value must be: that of the field `like`, or one of `dtypes`; with both,
    that of the field but for the dtype."""

    like: str | None = None
    dtypes: frozenset[DType] | None = None


def same_as(field: str) -> Any:
    """The very type of `field`."""
    return Rule(field)


def shaped_as(field: str, dtype: DType) -> Any:
    """The type of `field`, with another dtype."""
    return Rule(field, frozenset({dtype}))


def among(dtypes: Iterable[DType]) -> Any:
    """Any type whose dtype is one of `dtypes`."""
    return Rule(dtypes=frozenset(dtypes))


@dataclass(frozen=True)
class Field:
    """One declared name: its role, whether it stands for a list, the classes of type and the rule
    of a value, the kind and the default of an attribute: None if it may be left out altogether."""

    name: str
    role: Role
    many: bool = False
    types: tuple[type[Type], ...] = ()
    rule: Rule = Rule()
    kind: Kind | None = None
    default: Any = NO_DEFAULT


class Effect(Enum):
    """What an op does besides making its results."""

    READ, WRITE, HOST = "read", "write", "host"


Fields = tuple[Field, ...]
REGISTRY: dict[str, type["Op"]] = {}


class Declared(type):
    """The metaclass of ops: whatever a class body says, an op has the slots of every op."""

    @classmethod
    def __prepare__(metacls, *_: Any, **options: Any) -> dict[str, Any]:
        return {"__slots__": ()}


class Op(BareOp, metaclass=Declared):
    """The base of all declared ops; the class arguments say its name, effects and traits."""

    fields: ClassVar[Fields] = ()
    operand_fields: ClassVar[Fields] = ()
    attribute_fields: ClassVar[Fields] = ()
    result_fields: ClassVar[Fields] = ()
    region_fields: ClassVar[Fields] = ()
    given_results: ClassVar[Fields] = ()  # the caller states their types, since no rule gives them
    segmented: ClassVar[bool] = False  # the lengths of several lists are a last, hidden attribute
    effects: ClassVar[tuple[Effect, ...]] = ()
    constant_class: ClassVar[type["Op"] | None] = None
    shape_rule: ClassVar[Callable[..., Any] | None] = None  # `infer`: the types of the results …
    infer_arguments: ClassVar[tuple[str, ...]] = ()  # … from the fields of these names
    run: ClassVar[Callable[..., Any]]
    build: ClassVar[Callable[..., tuple[AnyValue, ...]]]
    verify: ClassVar[Callable[["Op"], None]]

    def __init_subclass__(
        cls, name: str = "", effects: tuple[Effect, ...] | None = None, terminator: bool = False
    ) -> None:
        _read_fields(cls)
        _place_fields(cls)
        cls.effects = cls.effects if effects is None else effects
        if not name:
            return
        cls.name, cls.terminator = name, terminator
        for problem in _problems(cls):
            raise TypeError(f"{name}: {problem}")
        cls.pure = not cls.effects and not terminator  # which has no results, and still may not go
        # Equal operands and attributes make equal ops only where they give the results' types too.
        cls.numbered = cls.pure and not cls.given_results and not cls.region_fields
        cls.foldable = cls.fold is not Op.fold and bool(cls.operand_fields)
        for function in ("build", "verify"):
            setattr(cls, function, staticmethod(partial(_first_use, cls, function)))
        REGISTRY[name] = cls

    def check(self) -> None:
        """Rules beyond the types of single fields; raise through `require`."""

    def check_in(self, module: Any) -> None:
        """Rules about the funcs of the module that the op names; raise through `require`."""

    def fold(self) -> tuple[Any, ...] | None:
        """The payloads of the results when all operands are constants, if worth computing."""


def _first_use(cls: type[Op], name: str, /, *arguments: Any, **named: Any) -> Any:
    """Write `build` and `verify`, one of which is called; importing a dialect so stays quick."""
    from .generate import write

    write(cls, name)
    return getattr(cls, name)(*arguments, **named)


def declared_class(op: BareOp) -> type[Op]:
    """The class of an op, with its declaration."""
    assert isinstance(op, Op)
    return op.__class__


def operand_groups(op: BareOp) -> list[tuple[Field, tuple[AnyValue, ...]]]:
    """Each operand field with the operands that belong to it."""
    cls, operands = declared_class(op), iter(op.operands)
    lengths = iter(op.attributes[-1] if cls.segmented else (len(op.operands),))
    return [
        (field, tuple(islice(operands, next(lengths) if field.many else 1)))
        for field in cls.operand_fields
    ]


def _read_fields(cls: type[Op]) -> None:
    """The fields of the bases and the class; one declared again takes its new meaning."""
    inherited = (field for base in reversed(cls.__mro__) for field in vars(base).get("fields", ()))
    found = {field.name: field for field in inherited}
    for name, annotation in get_annotations(cls).items():
        role, *_ = getattr(annotation, "__metadata__", (None,))
        if isinstance(role, Role):
            default = vars(cls).get(name, NO_DEFAULT)
            found[name] = _field(name, role, annotation.__origin__, default)
    cls.fields = tuple(found.values())


def _field(name: str, role: Role, annotation: Any, default: Any) -> Field:
    if role is Role.ATTRIBUTE:
        kind = kind_of(annotation)
        stated = default is not None and default is not NO_DEFAULT
        return Field(name, role, kind=kind, default=kind.normalise(default) if stated else default)
    many = get_origin(annotation) is tuple
    value = get_args(annotation)[0] if many else annotation
    accepted = [each for part in get_args(value) for each in get_args(part) or (part,)]
    types = tuple(each for each in accepted if isinstance(each, type) and each is not Type)
    return Field(name, role, many, types, default if isinstance(default, Rule) else Rule())


def _place_fields(cls: type[Op]) -> None:
    """Sort the fields by role, say which types are given, and give each field an accessor."""
    for role in Role:
        what, fields = role.name.lower(), tuple(each for each in cls.fields if each.role is role)
        setattr(cls, f"{what}_fields", fields)
        place, lists = "0", 0
        for field in fields:  # of lists before others, the last attribute has the lengths
            after = f"{place} + {f'op.attributes[-1][{lists}]' if field.many else 1}"
            slot = f"{place}:{after if field is not fields[-1] else ''}" if field.many else place
            reader = _reader(f"op.{role.value}[{slot}]")
            setattr(cls, field.name, property(reader, doc=f"The {what} {field.name}."))
            place, lists = after, lists + field.many
    cls.segmented = any(field.many for field in cls.operand_fields[:-1])
    rule = cls.shape_rule = getattr(cls, "infer", None)
    cls.infer_arguments = tuple(signature(rule).parameters) if rule is not None else ()
    free = cls.result_fields if rule is None else ()
    cls.given_results = tuple(field for field in free if field.rule.like is None)


@cache
def _reader(where: str) -> Callable[[BareOp], Any]:
    return eval(f"lambda op: {where}")


def _problems(cls: type[Op]) -> Iterator[str]:
    """What is wrong with a declaration."""
    names = {field.name for field in cls.fields}
    for field in cls.fields:
        if hasattr(BareOp, field.name):
            yield f"a field may not be called {field.name}"
        if field.rule.like not in {None, *names}:
            yield f"{field.name} refers to {field.rule.like}, no field of the op"
    if unknown := {*cls.infer_arguments} - names:
        yield f"infer asks for {', '.join(sorted(unknown))}, no field"
    if any(field.many for field in cls.result_fields[:-1]):
        yield "only the last result may be a list"
    if cls.name in REGISTRY:
        yield f"the op {cls.name} is declared twice"
