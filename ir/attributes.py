"""The kinds of attribute: how a value of each is made canonical, printed and read.

Comes in: a Python value given to an op, or a scanner standing at its text. Goes out: a canonical
value, equal to another of its kind only if its bits are equal: an integer is never a `bool`, a
float is a `Double`. `kind_of` finds the kind for an annotation of a declaration.
Never: a Python callable; a user's function is a `Ref` to a named func or "package.module:function".
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from operator import index
from struct import Struct
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

import numpy as np

from . import dtypes
from .dims import Dim, Size
from .dtypes import DType
from .errors import Unmet
from .payloads import Array, Dense, Number, Payload, parse_number, payload
from .scanner import FRACTION, WORD, Scanner, quoted
from .scanner import NUMBER as NUMBER_TOKEN
from .scanner import STRING as STRING_TOKEN

Shape = tuple[Size, ...]
_bits = Struct("<d").pack


class Kind:
    """What values of one kind are, and how they are made canonical, printed and read.

    `canonical` is a class whose instances are canonical as they are, if there is one.
    """

    __slots__ = ("canonical", "expected", "normalise", "parse", "text")

    def __init__(
        self,
        expected: str,
        normalise: Callable[[Any], Any],
        text: Callable[[Any], str],
        parse: Callable[[Scanner], Any],
        canonical: type | None = None,
    ) -> None:
        self.expected, self.canonical = expected, canonical
        self.normalise, self.text, self.parse = normalise, text, parse


class Ref(str):
    """The name of a func of the module, printed `@name`."""

    __slots__ = ()


class Double(float):
    """A float that equals another only if their bits are equal, as attributes must."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and _bits(self) == _bits(other)

    def __ne__(self, other: object) -> bool:
        return not self == other  # float has its own

    def __hash__(self) -> int:
        return hash(_bits(self))


def unlike(expected: str, value: Any) -> Unmet:
    """The error for a value of another kind."""
    return Unmet(f"expected {expected}, got {value!r:.60}")


def _integer(value: Any) -> int:
    try:
        return value if value.__class__ is int else int(index(value))
    except TypeError:
        raise unlike("an integer", value) from None


def _exactly(expected: str, cls: type) -> Callable[[Any], Any]:
    """Takes instances of `cls` itself, and refuses all else."""

    def normalise(value: Any) -> Any:
        if value.__class__ is not cls:
            raise unlike(expected, value)
        return value

    return normalise


def _ref(value: Any) -> Ref:
    if not isinstance(value, str) or not WORD.fullmatch(value):
        raise unlike("the name of a func", value)
    return value if isinstance(value, Ref) else Ref(value)


def _size(value: Any) -> Size:
    return value if isinstance(value, Dim) else _integer(value)


def _double(value: Any) -> Double:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise unlike("a number", value)
    return value if isinstance(value, Double) else Double(value)


def _read_bool(scanner: Scanner) -> bool:
    if scanner.accept("true"):
        return True
    if not scanner.accept("false"):
        scanner.fail("true or false")
    return False


def _read_ref(scanner: Scanner) -> Ref:
    scanner.expect("@")
    return Ref(scanner.word("the name of a func"))


def _read_double(scanner: Scanner) -> Double:
    return Double(parse_number(scanner.match(NUMBER_TOKEN, "a number"), dtypes.f64))


def _read_dtype(scanner: Scanner) -> DType:
    known = ", ".join(dtypes.BY_NAME)
    return dtypes.BY_NAME[scanner.one_of(dtypes.BY_NAME, f"a dtype ({known})")]


INTEGER = Kind("an integer", _integer, str, Scanner.integer, int)
BOOL = Kind(
    "true or false",
    _exactly("true or false", bool),
    lambda value: "true" if value else "false",
    _read_bool,
    bool,
)
STRING = Kind("a string", _exactly("a string", str), quoted, Scanner.string, str)
REF = Kind("the name of a func", _ref, lambda value: f"@{value}", _read_ref, Ref)
SIZE = Kind("a size", _size, str, Scanner.dim)
DOUBLE = Kind(
    "a number", _double, lambda value: Number(float(value), dtypes.f64).text, _read_double, Double
)
DTYPE = Kind("a dtype", _exactly("a dtype", DType), str, _read_dtype, DType)


def choice(members: type[Enum]) -> Kind:
    """One member of an enumeration, printed as its value."""
    by_name = {str(member.value): member for member in members}
    expected = "one of " + ", ".join(by_name)

    def parse(scanner: Scanner) -> Enum:
        return by_name[scanner.one_of(by_name, expected)]

    normalise = _exactly(expected, members)
    return Kind(expected, normalise, lambda value: str(value.value), parse, members)


def list_of(item: Kind) -> Kind:
    """A list of values of one kind; equal lists are one object."""
    expected = f"a list, each {item.expected}"
    interned: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def normalise(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, tuple | list):
            raise unlike(expected, value)
        items = tuple(map(item.normalise, cast(tuple[Any, ...], value)))
        return interned.setdefault(items, items)

    def text(value: tuple[Any, ...]) -> str:
        return "[" + ", ".join(map(item.text, value)) + "]"

    def parse(scanner: Scanner) -> tuple[Any, ...]:
        scanner.expect("[")
        items = tuple(scanner.sequence(lambda: item.parse(scanner), "]"))
        return interned.setdefault(items, items)

    return Kind(expected, normalise, text, parse)


INTEGERS = list_of(INTEGER)
SIZES = list_of(SIZE)


class Frozen(Mapping[str, Any]):
    """An immutable mapping with a fixed order, such as a schedule: `{m: 128, n: 256}`."""

    __slots__ = ("_items", "_table")

    def __init__(self, items: Mapping[str, Any]) -> None:
        for name in items:
            if name.__class__ is not str or not WORD.fullmatch(name):
                raise Unmet(f"expected names in a mapping, got {name!r:.60}")
        self._table = {name: _anything(value) for name, value in items.items()}
        # The text tells `true` from `1`, which Python calls equal.
        self._items = (mapping_text(self._table), *self._table.values())

    def __getitem__(self, name: str) -> Any:
        return self._table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __reduce__(self) -> tuple[Any, ...]:
        return Frozen, (self._table,)

    def __hash__(self) -> int:
        return hash(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frozen) and self._items == other._items


class Pending:
    """A number or array read from text, before its dtype is known from the op's result."""

    __slots__ = ("elements", "shape")

    def __init__(self, elements: list[str], shape: tuple[int, ...] | None) -> None:
        self.elements = elements
        self.shape = shape

    def resolve(self, dtype: DType) -> Payload:
        """The value, stored as `dtype`."""
        if self.shape is None:
            return Number.of_array(parse_number(self.elements[0], dtype), dtype)
        flat: Array = np.empty(len(self.elements), dtype.storage)
        for place, element in enumerate(self.elements):
            flat[place] = parse_number(element, dtype)
        return payload(flat.reshape(self.shape), dtype)


def _number(value: Any) -> Payload | Pending:
    if isinstance(value, Number | Dense | Pending):
        return value
    if isinstance(value, float):
        return Number(value, dtypes.f64)
    raise unlike("a number", value)


def _read_number(scanner: Scanner) -> Pending:
    if scanner.accept("empty"):
        scanner.expect("<")
        shape = INTEGERS.parse(scanner)
        if 0 not in shape or min(shape) < 0:
            scanner.fail("a shape with a size of 0 before")
        scanner.expect(">")
        return Pending([], shape)
    if not scanner.at("["):
        return Pending([scanner.match(NUMBER_TOKEN, "a number")], None)
    elements: list[str] = []
    return Pending(elements, _rows(scanner, elements))


def _rows(scanner: Scanner, elements: list[str]) -> tuple[int, ...]:
    """Read `[…]` to any depth; collect the elements, return the shape."""
    if not scanner.at("["):
        elements.append(scanner.match(NUMBER_TOKEN, "a number"))
        return ()
    start = scanner.position
    scanner.expect("[")
    rows = scanner.sequence(lambda: _rows(scanner, elements), "]")
    if not rows or any(row != rows[0] for row in rows):
        scanner.fail_at(start, "expected rows of equal, non-zero length")
    return (len(rows), *rows[0])


def _anything(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Frozen(cast(Mapping[str, Any], value))
    if isinstance(value, tuple | list):
        return tuple(map(_anything, cast(tuple[Any, ...], value)))
    if isinstance(value, float):
        return DOUBLE.normalise(value)
    return value if isinstance(value, bool | str | DType) else SIZE.normalise(value)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return mapping_text(cast(Mapping[str, Any], value))
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_text, cast(tuple[Any, ...], value))) + "]"
    if isinstance(value, bool | Double):
        return (BOOL if isinstance(value, bool) else DOUBLE).text(value)
    return quoted(value) if isinstance(value, str) else str(value)


def _read_anything(scanner: Scanner) -> Any:
    if scanner.at("{"):
        return _read_mapping(scanner)
    if scanner.accept("["):
        return tuple(scanner.sequence(lambda: _read_anything(scanner), "]"))
    if STRING_TOKEN.match(scanner.text, scanner.position):
        return scanner.string()
    matched = WORD.match(scanner.text, scanner.position)
    word = matched.group() if matched else ""
    if word in ("true", "false"):
        return BOOL.parse(scanner)
    if word in dtypes.BY_NAME:
        return DTYPE.parse(scanner)
    fraction = FRACTION.match(scanner.text, scanner.position)
    return (DOUBLE if fraction else SIZE).parse(scanner)


def _mapping(value: Any) -> Frozen:
    if not isinstance(value, Mapping):
        raise unlike("a mapping {name: value, …}", value)
    return value if isinstance(value, Frozen) else Frozen(cast(Mapping[str, Any], value))


def _read_mapping(scanner: Scanner) -> Frozen:
    read: dict[str, Any] = {}

    def entry() -> None:
        start = scanner.skip()
        name = scanner.word()
        if name in read:
            scanner.fail_at(start, f"expected each name once, found '{name}'")
        scanner.expect(":")
        read[name] = _read_anything(scanner)

    if not scanner.accept("{"):
        scanner.fail("a mapping {name: value, …}")
    scanner.sequence(entry, "}")
    return Frozen(read)


def mapping_text(mapping: Mapping[str, Any]) -> str:
    """`{name: value, …}`"""
    return "{" + ", ".join(f"{name}: {_text(value)}" for name, value in mapping.items()) + "}"


# The dtype of a number is that of the op's first result.
NUMBER = Kind("a number", _number, lambda value: value.text, _read_number)
MAPPING = Kind("a mapping {name: value, …}", _mapping, mapping_text, _read_mapping, Frozen)
ANY = Kind("a size, a number, a bool, a string, …", _anything, _text, _read_anything)

KINDS: dict[Any, Kind] = {
    int: INTEGER,
    bool: BOOL,
    str: STRING,
    Ref: REF,
    # An alias that is written in quotes is a forward reference by the time a field sees it.
    Annotated[Size, SIZE].__origin__: SIZE,  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    float: DOUBLE,
    Number: NUMBER,
    Payload: NUMBER,
    DType: DTYPE,
    Frozen: MAPPING,
    tuple[int, ...]: INTEGERS,
    Shape: SIZES,
}


def kind_of(annotation: Any) -> Kind:
    """The kind that an annotation such as `int`, `Shape` or an enumeration stands for."""
    if annotation in KINDS:
        return KINDS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return KINDS.setdefault(annotation, choice(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return kind_of(next(part for part in get_args(annotation) if part is not type(None)))
    if get_origin(annotation) is tuple:
        return KINDS.setdefault(annotation, list_of(kind_of(get_args(annotation)[0])))
    raise TypeError(f"no attribute kind for {annotation!r}")
