"""The kinds of attribute: how a value of each is made canonical, printed and read.

Comes in: a Python value given to an op, or a scanner standing at its text. Goes out: a canonical
value, equal to another of its kind only if its bits are: an integer is never a `bool`.
Never: a Python callable; a user's function is a `Ref` to a named func or "package.module:function".
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from operator import attrgetter, index
from struct import pack
from types import UnionType
from typing import Any, NoReturn, Union, get_args, get_origin

from .dims import Atom, Dim, Size, Symbol
from .dtypes import BY_NAME, DType, f64
from .errors import Unmet
from .payloads import Number, Payload, Pending, parse_number
from .scanner import FRACTION, NUMBER, WORD, Scanner, quoted

Shape = tuple[Size, ...]
_LISTS: Any = (tuple, list)


def _refuse(value: Any) -> NoReturn:
    raise TypeError


@dataclass(frozen=True, eq=False)
class Kind:
    """What values of one kind are, and how they are read, printed and made canonical."""

    expected: str
    parse: Callable[[Scanner], Any]  # what it reads need not be canonical yet
    text: Callable[[Any], str] = str
    canonical: tuple[type, ...] = ()  # the classes whose instances are canonical as they are
    accept: Callable[[Any], Any] = _refuse  # a TypeError refuses a value

    def normalise(self, value: Any) -> Any:
        """The canonical value that `value` stands for."""
        if value.__class__ in self.canonical:
            return value
        try:
            return self.accept(value)
        except TypeError:
            raise Unmet(f"expected {self.expected}, got {value!r:.60}") from None


def choice(expected: str, words: Mapping[str, Any], listed: str = "") -> Kind:
    """One of several values of one class, each written as a word."""
    names = {value: word for word, value in words.items()}
    classes = tuple({value.__class__ for value in names})

    def parse(scanner: Scanner) -> Any:
        return words[scanner.one_of(words, expected + listed)]

    return Kind(expected, parse, names.__getitem__, classes)


def list_of(item: Kind) -> Kind:
    """A list of values of one kind; equal lists are one object."""
    interned: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def parse(scanner: Scanner) -> list[Any]:
        scanner.expect("[")
        return scanner.sequence(lambda: item.parse(scanner), "]")

    def text(value: tuple[Any, ...]) -> str:
        return f"[{', '.join(map(item.text, value))}]"

    def accept(value: Any) -> tuple[Any, ...]:
        items = tuple(value if isinstance(value, _LISTS) else _refuse(value))
        if {*map(type, items)}.difference(item.canonical):
            items = tuple(map(item.normalise, items))
        # Python calls `[true]` and `[1]` equal; as lists of anything they are two.
        return items if item is ANY else interned.setdefault(items, items)

    return Kind(f"a list, each {item.expected}", parse, text, accept=accept)


class Ref(str):
    """The name of a func of the module, printed `@name`."""


class Double(float):
    """A float that equals another only if their bits are equal, as attributes must."""

    __ne__ = object.__ne__  # float's own does not ask `__eq__`

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and pack("<d", self) == pack("<d", other)

    def __hash__(self) -> int:
        return hash(pack("<d", self))


class Frozen(Mapping[str, Any]):
    """An immutable mapping with a fixed order, such as a schedule: `{m: 128, n: 256}`."""

    def __init__(self, items: Mapping[str, Any]) -> None:
        self._table = {name: ANY.normalise(value) for name, value in {**items}.items()}
        for name in self._table:
            if name.__class__ is not str or not WORD.fullmatch(name):
                raise Unmet(f"expected names in a mapping, got {name!r:.60}")
        entries = [f"{name}: {ANY.text(value)}" for name, value in self._table.items()]
        self._text = f"{{{', '.join(entries)}}}"
        # The text tells `true` from `1`, which Python calls equal.
        self._identity = (self._text, *self._table.values())

    def __getitem__(self, name: str) -> Any:
        return self._table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return self._text

    def __hash__(self) -> int:
        return hash(self._identity)

    def __eq__(self, other: object) -> bool:
        return type(other) is Frozen and self._identity == other._identity


def _ref(value: Any) -> Ref:
    return Ref(value) if WORD.fullmatch(value) else _refuse(value)


def _read_ref(scanner: Scanner) -> str:
    scanner.expect("@")
    return scanner.word("the name of a func")


def _double(value: Any) -> Double:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return Double(value) if known else _refuse(value)


def _read_double(scanner: Scanner) -> float:
    return float(parse_number(scanner.match(NUMBER, "a number"), f64))


def _read_payload(scanner: Scanner) -> Pending:
    """A number, rows of them in `[…]` to any depth, or `empty<shape>`."""
    if scanner.accept("empty<"):
        shape = INTEGERS.normalise(INTEGERS.parse(scanner))
        if 0 not in shape or min(shape) < 0:
            scanner.fail("a shape with a size of 0 before")
        scanner.expect(">")
        return Pending([], shape)
    start = scanner.skip()
    if not scanner.accept("["):
        return Pending([scanner.match(NUMBER, "a number")], ())
    rows = scanner.sequence(lambda: _read_payload(scanner), "]")
    if len({row.shape for row in rows}) != 1:
        scanner.fail_at(start, "expected rows of equal, non-zero length")
    return Pending([each for row in rows for each in row.elements], (len(rows), *rows[0].shape))


def _read_mapping(scanner: Scanner) -> dict[str, Any]:
    read: dict[str, Any] = {}

    def entry() -> None:
        start = scanner.skip()
        name = scanner.word()
        if name in read:
            scanner.fail_at(start, f"expected each name once, found '{name}'")
        scanner.expect(":")
        read[name] = ANY.parse(scanner)

    if not scanner.accept("{"):
        scanner.fail(MAPPING.expected)
    scanner.sequence(entry, "}")
    return read


@cache
def _like(cls: type) -> Kind:
    return next(kind for kind, base, _ in _ENTRIES if issubclass(cls, base))


def _read_anything(scanner: Scanner) -> Any:
    start = scanner.skip()
    kinds = (kind for kind, _, begin in _ENTRIES if begin.match(scanner.text, start))
    return next(kinds).parse(scanner)


INTEGER = Kind("an integer", Scanner.integer, str, (int,), lambda value: int(index(value)))
BOOL = choice("true or false", {"true": True, "false": False})
STRING = Kind("a string", Scanner.string, quoted, (str,))
REF = Kind("the name of a func", _read_ref, "@{}".format, (Ref,), _ref)
SIZE = Kind("a size", Scanner.dim, str, (int, Dim, Atom, Symbol), INTEGER.normalise)
DOUBLE = Kind("a number", _read_double, lambda value: Number(value, f64).text, (Double,), _double)
DTYPE = choice("a dtype", BY_NAME, f" ({', '.join(BY_NAME)})")
# The dtype of its numbers is that of the op's first result.
PAYLOAD = Kind("a number", _read_payload, attrgetter("text"), (Payload, Number, Pending))
MAPPING = Kind("a mapping {name: value, …}", _read_mapping, str, (Frozen,), Frozen)
ANY = Kind(
    "a size, a number, a bool, a string, …",
    _read_anything,
    lambda value: _like(value.__class__).text(value),
    accept=lambda value: _like(value.__class__).normalise(value),
)
# What stands in a mapping: the kind, the class of its values in Python, how its text begins.
_ENTRIES: tuple[tuple[Kind, Any, re.Pattern[str]], ...] = (
    (BOOL, bool, re.compile(r"(?:true|false)\b")),
    (STRING, str, re.compile('"')),
    (DTYPE, DType, re.compile(rf"(?:{'|'.join(BY_NAME)})\b")),
    (DOUBLE, float, FRACTION),
    (list_of(ANY), _LISTS, re.compile(r"\[")),
    (MAPPING, Mapping, re.compile("{")),
    (SIZE, object, re.compile("")),
)
KINDS: Any = {Size: SIZE, Size | None: SIZE, float: DOUBLE, Number: PAYLOAD, Payload: PAYLOAD}
KINDS.update({kind.canonical[0]: kind for kind in (INTEGER, BOOL, STRING, REF, DTYPE, MAPPING)})


def kind_of(annotation: Any) -> Kind:
    """The kind that an annotation such as `int`, `Shape` or an enumeration stands for."""
    if annotation in KINDS:
        return KINDS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        words = {str(member.value): member for member in annotation}
        return KINDS.setdefault(annotation, choice(f"one of {', '.join(words)}", words))
    if get_origin(annotation) in (Union, UnionType):
        return kind_of(next(part for part in get_args(annotation) if part is not type(None)))
    if get_origin(annotation) is tuple:
        return KINDS.setdefault(annotation, list_of(kind_of(get_args(annotation)[0])))
    raise TypeError(f"no attribute kind for {annotation!r}")


INTEGERS, SIZES = kind_of(tuple[int, ...]), kind_of(Shape)
