"""The kinds of attribute: how a value of each is made canonical, printed and read.

Comes in: a Python value given to an op, or a scanner standing at its text. Goes out: a canonical
value, equal to another of its kind only if its bits are equal; floats therefore become `Number`s,
which are interned, and an `int` attribute never holds a `bool`.
Never: a Python callable; a user's function is a `Ref` to a named func or "package.module:function".
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from operator import index
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

import numpy as np

from . import dtypes
from .dims import Dim, Size
from .dtypes import DType
from .errors import Unmet
from .payloads import Array, Dense, Number, Payload, parse_number, payload
from .scanner import FRACTION, STRING, WORD, Scanner, quoted
from .scanner import NUMBER as NUMBER_TOKEN

Shape = tuple[Size, ...]


class Ref(str):
    """The name of a func of the module, printed `@name`."""

    __slots__ = ()


class Double(float):
    """A float that equals another only if their bits are equal, as attributes must."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and self.hex() == other.hex()

    def __hash__(self) -> int:
        return hash(self.hex())


class Frozen(Mapping[str, Any]):
    """An immutable mapping with a fixed order, such as a schedule: `{m: 128, n: 256}`."""

    __slots__ = ("_items", "_table")

    def __init__(self, items: Mapping[str, Any]) -> None:
        for name in items:
            if name.__class__ is not str or not WORD.fullmatch(name):
                raise Unmet(f"expected names in a mapping, got {name!r:.60}")
        self._table = {name: ANY.normalise(value) for name, value in items.items()}
        # The text tells `true` from `1`, which Python calls equal.
        self._items = (mapping_text(self._table), *self._table.values())

    def __getitem__(self, name: str) -> Any:
        return self._table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

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


class Kind:
    """One kind of attribute."""

    expected = "a value"

    def normalise(self, value: Any) -> Any:
        """The canonical value equal to `value`, or `Unmet`."""
        return value

    def text(self, value: Any) -> str:
        """What the printer writes."""
        return str(value)

    def parse(self, scanner: Scanner) -> Any:
        """Read what `text` wrote."""
        raise NotImplementedError

    def refuse(self, value: Any) -> Unmet:
        """The error for a value that is not of this kind."""
        return Unmet(f"expected {self.expected}, got {value!r:.60}")


class IntegerKind(Kind):
    """A Python int."""

    expected = "an integer"

    def normalise(self, value: Any) -> int:
        try:
            return value if value.__class__ is int else index(value)
        except TypeError:
            raise self.refuse(value) from None

    def parse(self, scanner: Scanner) -> int:
        return scanner.integer()


class BoolKind(Kind):
    """True or false."""

    expected = "true or false"

    def normalise(self, value: Any) -> bool:
        if value is not True and value is not False:
            raise self.refuse(value)
        return value

    def text(self, value: bool) -> str:
        return "true" if value else "false"

    def parse(self, scanner: Scanner) -> bool:
        if scanner.accept("true"):
            return True
        if not scanner.accept("false"):
            scanner.fail(self.expected)
        return False


class StringKind(Kind):
    """A quoted string."""

    expected = "a string"

    def normalise(self, value: Any) -> str:
        if value.__class__ is not str:
            raise self.refuse(value)
        return value

    def text(self, value: str) -> str:
        return quoted(value)

    def parse(self, scanner: Scanner) -> str:
        return scanner.string()


class RefKind(Kind):
    """The name of a func: `@name`."""

    expected = "the name of a func"

    def normalise(self, value: Any) -> Ref:
        if not isinstance(value, str) or not WORD.fullmatch(value):
            raise self.refuse(value)
        return value if isinstance(value, Ref) else Ref(value)

    def text(self, value: Ref) -> str:
        return f"@{value}"

    def parse(self, scanner: Scanner) -> Ref:
        scanner.expect("@")
        return Ref(scanner.word("the name of a func"))


class SizeKind(Kind):
    """A dim: an int or a symbolic expression."""

    expected = "a size"

    def normalise(self, value: Any) -> Size:
        if value.__class__ is int or isinstance(value, Dim):
            return value
        return INTEGER.normalise(value)

    def parse(self, scanner: Scanner) -> Size:
        return scanner.dim()


class NumberKind(Kind):
    """A number or an array; its dtype is that of the op's first result."""

    expected = "a number"

    def normalise(self, value: Any) -> Payload | Pending:
        if value.__class__ is Number or value.__class__ in (Dense, Pending):
            return value
        if isinstance(value, float):
            return Number(value, dtypes.f64)
        raise self.refuse(value)

    def text(self, value: Payload) -> str:
        return value.text

    def parse(self, scanner: Scanner) -> Pending:
        if scanner.accept("empty"):
            scanner.expect("<")
            shape = INTEGERS.parse(scanner)
            scanner.expect(">")
            return Pending([], shape)
        if not scanner.at("["):
            return Pending([scanner.match(NUMBER_TOKEN, "a number")], None)
        elements: list[str] = []
        return Pending(elements, self._rows(scanner, elements))

    def _rows(self, scanner: Scanner, elements: list[str]) -> tuple[int, ...]:
        """Read `[…]` to any depth; collect the elements, return the shape."""
        if not scanner.at("["):
            elements.append(scanner.match(NUMBER_TOKEN, "a number"))
            return ()
        start = scanner.position
        scanner.expect("[")
        rows = scanner.sequence(lambda: self._rows(scanner, elements), "]")
        if not rows or any(row != rows[0] for row in rows):
            scanner.fail_at(start, "expected rows of equal, non-zero length")
        return (len(rows), *rows[0])


class DoubleKind(Kind):
    """A float parameter of an op."""

    expected = "a number"

    def normalise(self, value: Any) -> Double:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.refuse(value)
        return value if isinstance(value, Double) else Double(value)

    def text(self, value: Double) -> str:
        return Number(float(value), dtypes.f64).text

    def parse(self, scanner: Scanner) -> Double:
        token = scanner.match(NUMBER_TOKEN, "a number")
        return Double(parse_number(token, dtypes.f64))


class DTypeKind(Kind):
    """An element type."""

    expected = "a dtype"

    def normalise(self, value: Any) -> DType:
        if value.__class__ is not DType:
            raise self.refuse(value)
        return value

    def text(self, value: DType) -> str:
        return value.name

    def parse(self, scanner: Scanner) -> DType:
        start = scanner.skip()
        name = scanner.word("a dtype")
        if name not in dtypes.BY_NAME:
            known = ", ".join(dtypes.BY_NAME)
            scanner.fail_at(start, f"expected a dtype ({known}), found '{name}'")
        return dtypes.BY_NAME[name]


class EnumKind(Kind):
    """One member of an enumeration, printed as its value."""

    def __init__(self, members: type[Enum]) -> None:
        self.members = members
        self.expected = "one of " + ", ".join(str(member.value) for member in members)

    def normalise(self, value: Any) -> Enum:
        if not isinstance(value, self.members):
            raise self.refuse(value)
        return value

    def text(self, value: Enum) -> str:
        return str(value.value)

    def parse(self, scanner: Scanner) -> Enum:
        start = scanner.skip()
        name = scanner.word(self.expected)
        for member in self.members:
            if member.value == name:
                return member
        scanner.fail_at(start, f"expected {self.expected}, found '{name}'")


class TupleKind(Kind):
    """A list of values of one kind; equal lists are one object."""

    def __init__(self, item: Kind) -> None:
        self.item = item
        self.expected = f"a list, each {item.expected}"
        self._interned: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def normalise(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, tuple | list):
            raise self.refuse(value)
        items = tuple(map(self.item.normalise, cast(tuple[Any, ...], value)))
        return self._interned.setdefault(items, items)

    def text(self, value: tuple[Any, ...]) -> str:
        return "[" + ", ".join(map(self.item.text, value)) + "]"

    def parse(self, scanner: Scanner) -> tuple[Any, ...]:
        scanner.expect("[")
        items = tuple(scanner.sequence(lambda: self.item.parse(scanner), "]"))
        return self._interned.setdefault(items, items)


class AnyKind(Kind):
    """A free value of settings: a size, number, bool, string, dtype, list or mapping."""

    expected = "a size, a number, true, false, a string, a dtype, a list or a mapping"

    def normalise(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return Frozen(cast(Mapping[str, Any], value))
        if isinstance(value, tuple | list):
            return tuple(map(self.normalise, cast(tuple[Any, ...], value)))
        if isinstance(value, float):
            return DOUBLE.normalise(value)
        return value if isinstance(value, bool | str | DType) else SIZE.normalise(value)

    def text(self, value: Any) -> str:
        if isinstance(value, Mapping):
            return mapping_text(cast(Mapping[str, Any], value))
        if isinstance(value, tuple):
            return "[" + ", ".join(map(self.text, cast(tuple[Any, ...], value))) + "]"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, Double):
            return DOUBLE.text(value)
        return quoted(value) if isinstance(value, str) else str(value)

    def parse(self, scanner: Scanner) -> Any:
        if scanner.accept("{"):
            read: dict[str, Any] = {}
            scanner.sequence(lambda: self._entry(scanner, read), "}")
            return Frozen(read)
        if scanner.accept("["):
            return tuple(scanner.sequence(lambda: self.parse(scanner), "]"))
        if STRING.match(scanner.text, scanner.skip()):
            return scanner.string()
        return self._word_or_size(scanner)

    def _entry(self, scanner: Scanner, read: dict[str, Any]) -> None:
        start = scanner.skip()
        name = scanner.word()
        if name in read:
            scanner.fail_at(start, f"expected each name once, found '{name}'")
        scanner.expect(":")
        read[name] = self.parse(scanner)

    def _word_or_size(self, scanner: Scanner) -> Any:
        matched = WORD.match(scanner.text, scanner.skip())
        word = matched.group() if matched else ""
        if word in ("true", "false"):
            return BOOL.parse(scanner)
        if word in dtypes.BY_NAME:
            return DTYPE.parse(scanner)
        fraction = FRACTION.match(scanner.text, scanner.position)
        return DOUBLE.parse(scanner) if fraction else SIZE.parse(scanner)


class MappingKind(AnyKind):
    """Facts or settings by name."""

    expected = "a mapping {name: value, …}"

    def normalise(self, value: Any) -> Frozen:
        if not isinstance(value, Mapping):
            raise self.refuse(value)
        return value if isinstance(value, Frozen) else Frozen(cast(Mapping[str, Any], value))


def mapping_text(mapping: Mapping[str, Any]) -> str:
    """`{name: value, …}`"""
    return "{" + ", ".join(f"{name}: {ANY.text(value)}" for name, value in mapping.items()) + "}"


INTEGER = IntegerKind()
BOOL = BoolKind()
STRING_KIND = StringKind()
REF = RefKind()
SIZE = SizeKind()
NUMBER = NumberKind()
DOUBLE = DoubleKind()
DTYPE = DTypeKind()
ANY = AnyKind()
MAPPING = MappingKind()
INTEGERS = TupleKind(INTEGER)
SIZES = TupleKind(SIZE)

KINDS: dict[Any, Kind] = {
    int: INTEGER,
    bool: BOOL,
    str: STRING_KIND,
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
        return KINDS.setdefault(annotation, EnumKind(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return kind_of(next(part for part in get_args(annotation) if part is not type(None)))
    if get_origin(annotation) is tuple:
        return KINDS.setdefault(annotation, TupleKind(kind_of(get_args(annotation)[0])))
    raise TypeError(f"no attribute kind for {annotation!r}")
