"""The simple kinds of attribute: integers, bools, strings, names, sizes, floats, dtypes, and lists.

Comes in: a Python value given to an op, or a scanner standing at its text. Goes out: a canonical
value, equal to another of its kind only if its bits are equal: an integer is never a `bool`, and a
float is a `Double`.
Never: a kind that contains kinds of several sorts; those are in `attributes`.
"""

from collections.abc import Callable
from enum import Enum
from operator import index
from typing import Any, cast

from . import dtypes
from .dims import Dim, Size
from .dtypes import DType
from .errors import Unmet
from .payloads import Number, parse_number
from .scanner import NUMBER, WORD, Scanner, quoted

Shape = tuple[Size, ...]


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
        return isinstance(other, float) and self.hex() == other.hex()

    def __ne__(self, other: object) -> bool:
        return not self == other  # float has its own

    def __hash__(self) -> int:
        return hash(self.hex())


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
    return Double(parse_number(scanner.match(NUMBER, "a number"), dtypes.f64))


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
