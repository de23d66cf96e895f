"""How an op is declared: a class whose annotations are its operands, attributes and results.

Comes in: a class body such as

    class Dot(Op, name="tile.dot"):
        \"\"\"accumulator + a @ b.\"\"\"

        a: Operand[Tile]
        b: Operand[Tile]
        accumulator: Operand[Tile]
        result: Result[Tile] = same_as("accumulator")

Goes out: the class in the registry, with its accessors, and with `build` and `verify` written for
it by `generate`, so that nothing generic runs per op.
Never: the meaning of an op.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from inspect import signature
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, get_args, get_origin

from .attributes import Kind, Pending, kind_of
from .dtypes import DType
from .errors import Unmet
from .types import Type
from .values import AnyValue, Block, Value
from .values import Op as BareOp

if TYPE_CHECKING:
    from .builder import Builder

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


class Effect(Enum):
    """What an op does besides making its results."""

    READ = "read"
    WRITE = "write"
    HOST = "host"


REGISTRY: dict[str, type["Op"]] = {}


class Declared(type):
    """The metaclass of ops: turns annotations into fields, accessors, `build` and `verify`."""

    def __new__(
        metacls, class_name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> "Declared":
        declared = own_fields(namespace)
        for field in declared:
            namespace.pop(field.name, None)
        namespace.setdefault("__slots__", ())
        namespace["own_fields"] = declared
        return super().__new__(metacls, class_name, bases, namespace, **options)


class Op(BareOp, metaclass=Declared):
    """The base of all declared ops; the class arguments say its name, effects and traits."""

    __slots__ = ()
    own_fields: ClassVar[tuple[Field, ...]] = ()
    fields: ClassVar[tuple[Field, ...]] = ()
    operand_fields: ClassVar[tuple[Field, ...]] = ()
    attribute_fields: ClassVar[tuple[Field, ...]] = ()
    result_fields: ClassVar[tuple[Field, ...]] = ()
    region_fields: ClassVar[tuple[Field, ...]] = ()
    segmented: ClassVar[bool] = False
    effects: ClassVar[tuple[Effect, ...]] = ()
    constant_class: ClassVar[type["Op"] | None] = None
    run: ClassVar[Callable[..., Any]]
    build: ClassVar[Callable[..., tuple[AnyValue, ...]]]
    verify: ClassVar[Callable[["Op"], None]]

    def __init_subclass__(
        cls, name: str = "", effects: tuple[Effect, ...] | None = None, terminator: bool = False
    ) -> None:
        _sort_fields(cls)
        if effects is not None:
            cls.effects, cls.pure = effects, not effects
        if not name:
            return
        cls.name, cls.terminator = name, terminator
        if terminator:
            cls.pure = False  # it has no results, and still may not go
        _check_order(cls)
        # Equal operands and attributes make equal ops only where they give the results' types too.
        cls.numbered = cls.pure and not given_results(cls) and not cls.region_fields
        cls.foldable = cls.fold is not Op.fold and bool(cls.operand_fields)
        for field_name, accessor in _accessors(cls):
            setattr(cls, field_name, accessor)
        _write_lazily(cls)
        if name in REGISTRY:
            raise TypeError(f"the op {name} is declared twice")
        REGISTRY[name] = cls

    def check(self) -> None:
        """Rules beyond the types of single fields; raise through `require`."""

    def check_in(self, module: Any) -> None:
        """Rules about the funcs of the module that the op names; raise through `require`."""

    def fold(self) -> tuple[Any, ...] | None:
        """The payloads of the results when all operands are constants, if worth computing."""
        return None

    @classmethod
    def resolve(cls, attributes: tuple[Any, ...], results: tuple[Type, ...]) -> tuple[Any, ...]:
        """The attributes, with numbers read from text stored in the first result's dtype."""
        dtype = getattr(results[0], "dtype", None) if results else None
        if dtype is None:
            raise Unmet("nothing says the dtype of the number")
        return tuple([a.resolve(dtype) if a.__class__ is Pending else a for a in attributes])


def operand_groups(op: BareOp) -> list[tuple[Field, tuple[AnyValue, ...]]]:
    """Each operand field with the operands that belong to it."""
    cls = declared_class(op)
    fields, start = cls.operand_fields, 0
    loose = len(op.operands) - sum(field.role is Role.OPERAND for field in fields)
    lengths = iter(op.attributes[-1] if cls.segmented else (loose,))
    groups: list[tuple[Field, tuple[AnyValue, ...]]] = []
    for field in fields:
        length = 1 if field.role is Role.OPERAND else next(lengths)
        groups.append((field, op.operands[start : start + length]))
        start += length
    return groups


def declared_class(op: BareOp) -> type[Op]:
    """The class of an op, with its declaration."""
    assert isinstance(op, Op)
    return op.__class__


def shape_rule(cls: type[Op]) -> Callable[..., Any] | None:
    """The function `infer` of an op class, which gives the types of its results."""
    return getattr(cls, "infer", None)


def given_results(cls: type[Op]) -> list[Field]:
    """Results whose types the caller states, since no rule gives them."""
    if shape_rule(cls) is not None:
        return []
    return [f for f in cls.result_fields if not (f.rule.same_as or f.rule.shaped_as)]


def infer_arguments(cls: type[Op]) -> tuple[str, ...]:
    """The fields that the op's shape rule wants, by the names of its parameters."""
    rule = shape_rule(cls)
    return tuple(signature(rule).parameters) if rule is not None else ()


def _sort_fields(cls: type[Op]) -> None:
    """The fields of the bases and the class by role; one declared again takes its new meaning."""
    found: dict[str, Field] = {}
    for base in reversed(cls.__mro__):
        for field in base.__dict__.get("own_fields", ()):
            found[field.name] = field
    cls.fields = tuple(found.values())

    def of(*roles: Role) -> tuple[Field, ...]:
        return tuple(field for field in cls.fields if field.role in roles)

    cls.operand_fields = of(Role.OPERAND, Role.OPERANDS)
    cls.attribute_fields = of(Role.ATTRIBUTE)
    cls.result_fields = of(Role.RESULT, Role.RESULTS)
    cls.region_fields = of(Role.REGION)
    # An op with several lists keeps their lengths as a last, hidden attribute.
    cls.segmented = len(of(Role.OPERANDS)) > 1


def _check_order(cls: type[Op]) -> None:
    """A list of results is the last, rules name fields, and no field hides a part of every op."""
    names = {field.name for field in cls.fields}
    hidden = names & set(dir(BareOp))
    if hidden:
        raise TypeError(f"{cls.name}: a field may not be called {', '.join(sorted(hidden))}")
    for field in cls.fields:
        for other in (field.rule.same_as, field.rule.shaped_as):
            if other is not None and other not in names:
                raise TypeError(f"{cls.name}: {field.name} refers to {other}, no field of the op")
    unknown = set(infer_arguments(cls)) - names
    if unknown:
        raise TypeError(f"{cls.name}: infer asks for {', '.join(sorted(unknown))}, no field")
    if any(field.role is Role.RESULTS for field in cls.result_fields[:-1]):
        raise TypeError(f"{cls.name}: only the last result may be a list")


def _accessors(cls: type[Op]) -> Iterable[tuple[str, property]]:
    """A property for each field."""
    for field, where in _places(cls):
        yield field.name, property(_reader(where), doc=f"The {field.role.value} {field.name}.")


@cache
def _reader(where: str) -> Callable[[BareOp], Any]:
    return eval(f"lambda op: {where}", {"operand_groups": operand_groups})


def _places(cls: type[Op]) -> Iterable[tuple[Field, str]]:
    """Where in an op each field lies, as the Python that reads it."""
    fields = cls.operand_fields
    lists = [place for place, field in enumerate(fields) if field.role is Role.OPERANDS]
    for place, field in enumerate(fields):
        one = field.role is Role.OPERAND
        if cls.segmented:
            yield field, f"operand_groups(op)[{place}][1]" + "[0]" * one
        elif one:  # what stands behind the list is counted from the end
            behind = bool(lists) and place > lists[0]
            yield field, f"op.operands[{place - len(fields) if behind else place}]"
        else:
            yield field, f"op.operands[{place}:{place + 1 - len(fields) or ''}]"
    for place, field in enumerate(cls.attribute_fields):
        yield field, f"op.attributes[{place}]"
    for place, field in enumerate(cls.result_fields):
        yield field, f"op.results[{place}{':' * (field.role is Role.RESULTS)}]"
    for place, field in enumerate(cls.region_fields):
        yield field, f"op.regions[{place}]"


def _write_lazily(cls: type[Op]) -> None:
    """Let the first use of `build` or `verify` write both; importing a dialect stays quick."""

    def write() -> None:
        from .generate import generate

        cls.build, cls.verify = map(staticmethod, generate(cls))  # pyright: ignore[reportAttributeAccessIssue]

    def build(builder: "Builder", *arguments: Any, **named: Any) -> tuple[AnyValue, ...]:
        write()
        return cls.build(builder, *arguments, **named)

    def verify(op: Op) -> None:
        write()
        cls.verify(op)

    cls.build, cls.verify = staticmethod(build), staticmethod(verify)  # pyright: ignore[reportAttributeAccessIssue]
