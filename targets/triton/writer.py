"""The source of one kernel as it grows: lines, names, what each value is called and how it looks.

Comes in: hints for names, right-hand sides. Goes out: lines, and operands as text.
Never: what an op means; `emit/` knows that.
"""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

from ...ir.dtypes import DType, boolean, f32
from ...ir.errors import IRError
from ...ir.func import Func
from ...ir.locations import UNKNOWN
from ...ir.tile import For
from ...ir.types import Tile
from ...ir.values import AnyValue, Block, Op
from .helpers import HELPERS, needed_by
from .types import dtype_text, is_narrow
from .widths import Widths

Shape = tuple[int, ...]
Printers = dict[type[Any], Callable[..., None]]
"""By the class of an op, what writes it."""

RESERVED = {"tl", "triton", "libdevice", "range", "float"}


class Refused(IRError):
    """Triton cannot do what a kernel asks for; the message says why."""


def refuse(op: Op, why: str) -> Refused:
    """The error for an op that cannot be printed."""
    kind = getattr(op, "kind", None)
    what = op.name if kind is None else f"{op.name} {{kind = {kind.value}}}"
    return Refused(f"{what}: {why}", op.location)


@dataclass(frozen=True, slots=True)
class Printed:
    """What the source calls a value. Along an axis where `shape` is 1 and the tile's is not, the
    tile repeats; the shape `()` is one number, repeated everywhere. Triton does the rest."""

    text: str
    shape: Shape = ()
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """A view: the name of its pointer, its sizes and strides in elements, as text."""

    pointer: str
    sizes: tuple[str, ...]
    strides: tuple[str, ...]


class Writer:
    """Writes the body of one kernel."""

    def __init__(self, func: Func) -> None:
        self.func, self.widths = func, Widths(func)
        self.lines: list[str] = []
        self.values: dict[AnyValue, Printed] = {}
        self.views: dict[AnyValue, Memory] = {}
        self.descriptors: dict[tuple[AnyValue, Shape], str] = {}
        self.helpers: dict[str, None] = {}
        self.wanted: dict[AnyValue, str] = {}
        self.taken = {*RESERVED, *HELPERS}
        self.depth = 1
        self._location = UNKNOWN
        self._seen: list[dict[Any, Any]] = [{}]

    def line(self, text: str) -> None:
        """One statement."""
        self.lines.append("    " * self.depth + text)

    def unique(self, hint: str) -> str:
        """A name that nothing has yet."""
        name = plain = re.sub(r"\W", "_", hint) or "value"
        if plain[0].isdigit() or iskeyword(plain):
            name = plain = f"v{plain}"
        count = 1
        while name in self.taken:
            count += 1
            name = f"{plain}_{count}"
        self.taken.add(name)
        return name

    def define(
        self, value: AnyValue, right: str, shape: Shape | None = None, hint: str = ""
    ) -> None:
        """`name = right`, and the value is known by that name; it looks like its type, or else."""
        looks = shape_of(value) if shape is None else shape
        exact = looks == shape_of(value) and not self.widths.narrow(value)
        name = self.wanted.get(value, "") if exact else ""
        name = name or self.unique(value.name or hint or _hint(value))
        self.line(f"{name} = {right}")
        self.values[value] = Printed(name, looks)

    def equate(self, value: AnyValue, printed: Printed) -> None:
        """The value is written without a statement."""
        self.values[value] = printed

    def printed(self, value: AnyValue) -> Printed:
        """How a value is written."""
        return self.values[value]

    def text(self, value: AnyValue) -> str:
        """A value where its shape may still repeat, and an i64 may be an `int32`."""
        return self.values[value].text

    def typed(self, value: AnyValue) -> str:
        """A value, of exactly its dtype."""
        printed = self.values[value]
        if printed.literal:
            return f"tl.full([], {printed.text}, {dtype_text(value.dtype)})"
        if _is_loop_index(value):  # Triton's interpreter counts loops in plain Python
            return f"tl.cast({printed.text}, tl.int64)"
        return f"{printed.text}.to(tl.int64)" if self.widths.narrow(value) else printed.text

    def whole(self, value: AnyValue) -> str:
        """A tile, of exactly its dtype and shape; for scalars, the same as `typed`."""
        printed, shape = self.values[value], shape_of(value)
        if printed.shape == shape:
            return self.typed(value)
        if not printed.shape:
            return f"tl.full({list(shape)}, {printed.text}, {dtype_text(value.dtype)})"
        return f"tl.broadcast_to({self.typed(value)}, {list(shape)})"

    def wide(self, value: AnyValue, text: str | None = None) -> str:
        """A value as it is computed with: narrow floats as f32."""
        text = self.text(value) if text is None else text
        computed = is_narrow(value.dtype) and not self.values[value].literal
        return f"{text}.to(tl.float32)" if computed else text

    def rounded(self, expression: str, dtype: DType) -> str:
        """What was computed as f32, in its own dtype."""
        return self.cast(expression, f32, dtype) if is_narrow(dtype) else expression

    def cast(self, expression: str, source: DType, dtype: DType) -> str:
        """A float as another one, rounded once."""
        if is_narrow(dtype) and source.bits == 64:
            expression = f"{self.helper('odd_float32')}({expression})"
        if dtype.bits == 8:
            return f"{self.helper(f'to_{dtype.name}')}({expression})"
        simple = expression.isidentifier() or (expression.endswith(")") and _is_call(expression))
        return f"{expression if simple else f'({expression})'}.to({dtype_text(dtype)})"

    def helper(self, name: str) -> str:
        """The name of a helper function, which the source will define."""
        for needed in needed_by(name):
            self.helpers[needed] = None
        return name

    def common(self, *values: AnyValue) -> Shape:
        """The shape that several values have when Triton computes with them."""
        shapes = [self.values[value].shape for value in values if self.values[value].shape]
        return tuple(map(max, *shapes)) if len(shapes) > 1 else (shapes[0] if shapes else ())

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What was made for this key where it can still be seen, or is made now."""
        for scope in reversed(self._seen):
            if key in scope:
                return scope[key]
        made = self._seen[-1][key] = make()
        return made

    @contextmanager
    def indented(self) -> Generator[None]:
        """The body of a `for` or an `if`."""
        self.depth += 1
        self._seen.append({})
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self._seen.pop()
        self.depth -= 1

    def say_where(self, op: Op, start: int) -> None:
        """A comment with the user's lines, above what was written from `start` on."""
        if op.location is self._location or not op.location or start == len(self.lines):
            return
        self._location = op.location
        indent = re.match(" *", self.lines[start])
        assert indent is not None
        self.lines.insert(start, f"{indent.group()}# {op.location!s}".replace("\n", " "))


def shape_of(value: AnyValue) -> Shape:
    """The shape of a tile; a scalar has none."""
    type_ = value.type
    return tuple([int(size) for size in type_.shape]) if isinstance(type_, Tile) else ()  # pyright: ignore[reportArgumentType]


def is_bool(value: AnyValue) -> bool:
    """Whether a value is true or false."""
    return value.dtype is boolean


def _is_loop_index(value: AnyValue) -> bool:
    block = value.owner
    return isinstance(block, Block) and isinstance(block.parent_op, For) and not value.index


def _is_call(expression: str) -> bool:
    """Whether a text that ends in a bracket is one call: `f(…)`."""
    depth = 0
    head = re.match(r"[\w.]+\(", expression)
    if head is None:
        return False
    for place, letter in enumerate(expression):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and depth == 0:
            return place == len(expression) - 1
    return False


def _hint(value: AnyValue) -> str:
    """`exp` for `tile.unary {kind = exp}`, `load` for `tile.load`."""
    op: Any = value.op
    if op is None:
        return "carried"
    kind = getattr(op, "kind", None)
    return op.name.partition(".")[2] if kind is None else kind.value
