"""The types of values, interned: equal types are one object and are compared with `is`.

Comes in: shapes, dtypes, facts. Goes out: `Tensor`, `Tile`, `View`, `Scalar`, `Vec`, `Buffer`,
`Fragment`, `Array`; each prints as `keyword<part, …>` and is read back by `parse_type`.
Never: a rule about which op takes which type.
"""

import re
from enum import Enum
from math import prod
from typing import Any, ClassVar

from .attributes import MAPPING, SIZES, Frozen, Kind, Shape, kind_of
from .dims import MAX_SIZE, check_size
from .dtypes import DType, i64
from .errors import Unmet, require
from .scanner import Scanner
from .shared.interned import Interned

MAX_RANK = 32
SPELLED = re.compile(r"[a-z]+<[^<>\n]{1,100}>")
NO_FACTS = Frozen({})
BY_KEYWORD: dict[str, type["Type"]] = {}
_INTERNED = Interned[Any]()


class Type:
    """The base of all types: one is made of the parts that its class annotates, in that order."""

    text: str
    keyword: ClassVar[str]
    parts: ClassVar[dict[str, Kind]] = {}

    def __init_subclass__(cls, keyword: str = "") -> None:
        own = vars(cls).get("__annotations__", {})
        cls.parts = cls.parts | {name: kind_of(annotation) for name, annotation in own.items()}
        if keyword:
            cls.keyword = keyword
            BY_KEYWORD[keyword] = cls

    def __new__(cls, *values: Any) -> Any:
        if len(values) != len(cls.parts):
            values += tuple([vars(cls)[name] for name in cls.parts if name in vars(cls)])
            require(len(values) == len(cls.parts), f"{cls.keyword} takes {len(cls.parts)} parts")
        parts = tuple(map(Kind.normalise, cls.parts.values(), values))
        if (found := _INTERNED.get((cls, *parts))) is None:
            made = object.__new__(cls)
            texts: list[str] = []
            for (name, kind), part in zip(cls.parts.items(), parts, strict=True):
                setattr(made, name, part)
                if part != NO_FACTS:
                    texts.append(kind.text(part))
            made.text = f"{cls.keyword}<{', '.join(texts)}>"
            made.check()
            found = _INTERNED.keep((cls, *parts), made)
        return found

    def check(self) -> None:
        """Refuse parts that do not go together."""

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        return self.__class__, tuple([getattr(self, name) for name in self.parts])


class Shaped(Type):
    """A type with a shape and a dtype."""

    shape: Shape
    dtype: DType

    def __new__(cls, shape: Shape, dtype: DType) -> Any:
        # Quicker than the general way, for the sake of shape rules.
        sizes = SIZES.normalise(shape) if shape else ()
        return _INTERNED.get((cls, sizes, dtype)) or super().__new__(cls, sizes, dtype)

    @property
    def rank(self) -> int:
        """How many axes."""
        return len(self.shape)

    def with_dtype(self, dtype: DType) -> Any:
        """The same shape, another dtype."""
        return self.__class__(self.shape, dtype)

    def with_shape(self, shape: Shape) -> Any:
        """The same dtype, another shape."""
        return self.__class__(shape, self.dtype)

    def check(self) -> None:
        require(self.rank <= MAX_RANK, f"a rank of {self.rank} is more than {MAX_RANK}")
        for size in self.shape:
            check_size(size)
        known = prod([max(size, 1) for size in self.shape if isinstance(size, int)])
        if known * self.dtype.itemsize > MAX_SIZE:
            raise Unmet(f"{list(self.shape)} of {self.dtype} needs more than 2^63 - 1 bytes")


class Tensor(Shaped, keyword="tensor"):
    """A ranked array value: `tensor<[n, 128], f32>`."""


class Tile(Shaped, keyword="tile"):
    """A block of values of one program, of static size: `tile<[64, 64], f32>`."""

    def check(self) -> None:
        super().check()
        static = all(isinstance(size, int) for size in self.shape)
        require(static, f"a tile has static sizes, not {list(self.shape)}")


class Array(Shaped, keyword="array"):
    """A shaped region of memory that a step allocates and hands to kernels."""


class View(Type, keyword="view"):
    """A window on memory with run-time sizes and strides, and what is known of them."""

    rank: int
    dtype: DType
    facts: Frozen = NO_FACTS

    def check(self) -> None:
        require(0 <= self.rank <= MAX_RANK, f"a view has rank 0 to {MAX_RANK}, not {self.rank}")


class Scalar(Type, keyword="scalar"):
    """One number in a register, or on the host."""

    dtype: DType


class Vec(Type, keyword="vec"):
    """A short vector of `lanes` numbers: `vec<16, f32>`."""

    lanes: int
    dtype: DType

    def check(self) -> None:
        require(1 <= self.lanes <= 4096, f"a vector has 1 to 4096 lanes, not {self.lanes}")


class Space(Enum):
    """Where a buffer lives."""

    GLOBAL, SHARED, LOCAL = "global", "shared", "local"


class Buffer(Type, keyword="buffer"):
    """Flat memory of one dtype in an address space, read and written by index."""

    dtype: DType
    space: Space


class Use(Enum):
    """The place of a matrix fragment in a product."""

    LEFT, RIGHT, ACCUMULATOR = "left", "right", "accumulator"


class Fragment(Type, keyword="fragment"):
    """A small matrix that a group of lanes, or a tile register, holds together."""

    rows: int
    columns: int
    dtype: DType
    use: Use

    def check(self) -> None:
        require(min(self.rows, self.columns) >= 1, "a fragment has at least one row and column")


def parse_type(scanner: Scanner) -> Type:
    """Read one type, or find it by its spelling; its dims may use the scanner's symbols."""
    start = scanner.skip()
    spelled = SPELLED.match(scanner.text, start)
    if spelled and spelled[0] in scanner.spelled:
        scanner.position = spelled.end()
        return scanner.spelled[spelled[0]]
    found = BY_KEYWORD[scanner.one_of(BY_KEYWORD, f"a type ({', '.join(BY_KEYWORD)})")]
    values: list[Any] = []
    scanner.expect("<")
    try:
        for kind in found.parts.values():
            if kind is MAPPING and not scanner.at(","):
                break  # nothing is known of the view
            if values:
                scanner.expect(",")
            values.append(kind.parse(scanner))
        scanner.expect(">")
        type_ = found(*values)
    except (Unmet, ValueError) as error:
        scanner.fail_at(start, str(error))
    if spelled and spelled.end() == scanner.position:
        scanner.spelled[spelled[0]] = type_
    return type_


INDEX = Scalar(i64)
