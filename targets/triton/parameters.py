"""The parameters of a printed kernel: pointers, sizes, strides, numbers, descriptors.

Comes in: a func of the tile floor, and the writer of its kernel. Goes out: the parameters in order;
the writer learns what views and numbers are called.
Never: a size that the facts name as a number, or a stride that they say is 1. Views of which the
facts name the same size share one parameter.
"""

from ...ir import tile
from ...ir.dims import Size, Symbol
from ...ir.types import Scalar, View
from ...ir.values import AnyValue
from .descriptors import block_of
from .kernel import DIVISIBLE_BY, Parameter, Role
from .types import memory_text, short_text
from .writer import Memory, Printed, Shape, Writer


def declare_parameters(writer: Writer) -> tuple[Parameter, ...]:
    """Name the arguments of the writer's func."""
    declaration = _Declaration(writer)
    for place, value in enumerate(writer.func.arguments):
        hint = value.name or f"x{place}"
        if isinstance(value.type, View):
            declaration.view(place, value, hint)
        else:
            declaration.number(place, value, hint)
    return tuple(declaration.parameters)


class _Declaration:
    """Parameters as they are found."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.parameters: list[Parameter] = []
        self.sizes: dict[Size, str] = {}

    def add(self, parameter: Parameter) -> str:
        self.parameters.append(parameter)
        return parameter.name

    def number(self, place: int, value: AnyValue, hint: str) -> None:
        """A scalar argument."""
        assert isinstance(value.type, Scalar)
        name = self.writer.unique(hint)
        self.add(Parameter(name, short_text(value.dtype), Role.NUMBER, place))
        self.writer.equate(value, Printed(name))

    def view(self, place: int, value: AnyValue, hint: str) -> None:
        """A view: what moves it, and what it measures."""
        blocks = self._blocks(value)
        name = self.writer.unique(hint)
        for shape in blocks:
            self._descriptor(place, value, hint, shape)
        pointer = not blocks or self._is_pointed_at(value)
        if pointer:
            aligned = value.type.facts.get("align", 1) % DIVISIBLE_BY == 0
            text = f"*{memory_text(value.dtype)}"
            self.add(Parameter(name, text, Role.POINTER, place, divisible=aligned))
        axes = range(value.type.rank)
        sizes = [self._size(place, value, name, axis) for axis in axes]
        strides = [self._stride(place, value, name, axis) if pointer else "0" for axis in axes]
        self.writer.views[value] = Memory(name, tuple(sizes), tuple(strides))

    def _blocks(self, value: AnyValue) -> list[Shape]:
        """The shapes of the blocks of a view that descriptors move."""
        found = [block_of(self.writer, op) for op in value.uses]
        return list(dict.fromkeys(shape for shape in found if shape is not None))

    def _is_pointed_at(self, value: AnyValue) -> bool:
        """Whether some op needs more of a view than descriptors and sizes."""
        return not all(
            isinstance(op, tile.Extent) or block_of(self.writer, op) for op in value.uses
        )

    def _descriptor(self, place: int, value: AnyValue, hint: str, shape: Shape) -> None:
        name = self.writer.unique(f"{hint}_block")
        text = f"tensordesc<{short_text(value.dtype)}{list(shape)}>"
        self.add(Parameter(name, text, Role.DESCRIPTOR, place, block=shape))
        self.writer.descriptors[value, shape] = name

    def _size(self, place: int, value: AnyValue, name: str, axis: int) -> str:
        facts = value.type.facts
        size = facts.get("size", (None,) * value.type.rank)[axis]
        if isinstance(size, int):
            return str(size)
        if size is not None and size in self.sizes:
            return self.sizes[size]
        hint = size.name if isinstance(size, Symbol) else f"{name}_size{axis}"
        text = "i32" if self.writer.widths.size_fits(value, axis) else "i64"
        multiple = facts.get("multiple", (1,) * value.type.rank)[axis]
        if size is not None and size.multiple % DIVISIBLE_BY == 0:
            multiple = DIVISIBLE_BY
        made = self.add(
            Parameter(
                self.writer.unique(hint), text, Role.SIZE, place, axis, multiple % DIVISIBLE_BY == 0
            )
        )
        if size is not None:
            self.sizes[size] = made
        return made

    def _stride(self, place: int, value: AnyValue, name: str, axis: int) -> str:
        facts = value.type.facts
        if facts.get("unit_stride") == axis:
            return "1"
        text = "i32" if facts.get("index_bits", 64) <= 32 else "i64"
        multiple = facts.get("stride_multiple", (1,) * value.type.rank)[axis]
        divisible = multiple % DIVISIBLE_BY == 0
        hint = self.writer.unique(f"{name}_stride{axis}")
        return self.add(Parameter(hint, text, Role.STRIDE, place, axis, divisible))
