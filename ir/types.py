"""The types of values, interned: equal types are one object and are compared with `is`.

Comes in: shapes, dtypes, facts. Goes out: `Tensor`, `Tile`, `View`, `Scalar`, `Vec`, `Buffer`,
`Fragment`, `Array`; each prints as `keyword<part, …>` and is read back by `parse_type`.
Never: a rule about which op takes which type.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Any, ClassVar

from . import dtypes
from .attributes import DTYPE, SIZES, Frozen, Kind, Shape, kind_of
from .dims import MAX_SIZE, check_size
from .dtypes import DType
from .errors import Unmet, require
from .scanner import Scanner

MAX_RANK = 32


class Type:
    """The base of all types: one is made of the parts that its class annotates, in that order."""

    text: str
    keyword: ClassVar[str]
    parts: ClassVar[tuple[tuple[str, Kind], ...]] = ()
    lists_facts: ClassVar[bool] = False  # whether the last part is not written where it is empty
    _interned: ClassVar[dict[tuple[Any, ...], Any]]

    def __init_subclass__(cls, keyword: str = "") -> None:
        cls._interned = {}
        own = vars(cls).get("__annotations__", {})
        cls.parts = (*cls.parts, *((name, kind_of(kind)) for name, kind in own.items()))
        if keyword:
            cls.keyword = keyword
            BY_KEYWORD[keyword] = cls

    def __new__(cls, *values: Any) -> Any:
        require(len(values) == len(cls.parts), f"{cls.keyword} takes {len(cls.parts)} parts")
        canonical = tuple(
            kind.normalise(value) for (_, kind), value in zip(cls.parts, values, strict=True)
        )
        return cls._interned.get(canonical) or cls._make(canonical)

    @classmethod
    def _make(cls, values: tuple[Any, ...]) -> Any:
        """A new type, checked, unless another thread was quicker."""
        made = object.__new__(cls)
        for (name, _), value in zip(cls.parts, values, strict=True):
            setattr(made, name, value)
        made.check()
        shown = values[:-1] if cls.lists_facts and not values[-1] else values
        texts = (kind.text(value) for (_, kind), value in zip(cls.parts, shown, strict=False))
        made.text = f"{cls.keyword}<{', '.join(texts)}>"
        return cls._interned.setdefault(values, made)

    def check(self) -> None:
        """Refuse parts that do not go together."""

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        return self.__class__, tuple(getattr(self, name) for name, _ in self.parts)


BY_KEYWORD: dict[str, type[Type]] = {}


class Shaped(Type):
    """A type with a shape and a dtype."""

    shape: Shape
    dtype: DType

    def __new__(cls, shape: Shape, dtype: DType) -> Any:
        canonical = SIZES.normalise(shape) if shape else ()
        return cls._interned.get((canonical, dtype)) or cls._make(
            (canonical, DTYPE.normalise(dtype))
        )

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
        known = 1
        for size in self.shape:
            check_size(size)
            known *= max(size, 1) if isinstance(size, int) else 1
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

    lists_facts = True
    rank: int
    dtype: DType
    facts: Frozen

    def __new__(cls, rank: int, dtype: DType, facts: Frozen | None = None) -> Any:
        return super().__new__(cls, rank, dtype, Frozen({}) if facts is None else facts)

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

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"


class Buffer(Type, keyword="buffer"):
    """Flat memory of one dtype in an address space, read and written by index."""

    dtype: DType
    space: Space


class Use(Enum):
    """The place of a matrix fragment in a product."""

    LEFT = "left"
    RIGHT = "right"
    ACCUMULATOR = "accumulator"


class Fragment(Type, keyword="fragment"):
    """A small matrix that a group of lanes, or a tile register, holds together."""

    rows: int
    columns: int
    dtype: DType
    use: Use

    def check(self) -> None:
        require(min(self.rows, self.columns) >= 1, "a fragment has at least one row and column")


def parse_type(scanner: Scanner) -> Type:
    """Read one type; its dims may use the scanner's symbols."""
    start = scanner.skip()
    found = BY_KEYWORD[scanner.one_of(BY_KEYWORD, f"a type ({', '.join(BY_KEYWORD)})")]
    scanner.expect("<")
    try:
        with scanner.nested():
            values = [kind.parse(scanner) for kind in _kinds_that_follow(found, scanner)]
        scanner.expect(">")
        return found(*values)
    except (Unmet, ValueError) as error:
        scanner.fail_at(start, str(error))


def _kinds_that_follow(cls: type[Type], scanner: Scanner) -> Iterator[Kind]:
    """The kind of each part, once the comma before it is read; facts of a view may be missing."""
    for place, (_, kind) in enumerate(cls.parts):
        if place + 1 == len(cls.parts) and cls.lists_facts and not scanner.at(","):
            return
        if place:
            scanner.expect(",")
        yield kind


INDEX = Scalar(dtypes.i64)
