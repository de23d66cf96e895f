"""What functions do to their arguments first: make tensors of them, one dtype, one shape.

Comes in: tensors, numpy arrays and Python numbers, as users mix them. Goes out: nodes. A Python
number takes the dtype of the tensors beside it, as far as its kind allows.
Never: an operation that the function itself is about.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest
from numbers import Real
from operator import index
from typing import Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import Atom, Dim, Size, maximum
from ...ir.facts import Facts
from ...ir.types import Tensor as TensorType
from ...runtime.device import Device, current_device
from ..bounds import bound_size
from ..caller import user_line
from ..dtypes import DEFAULTS, OF_IR, DType, as_dtype, promoted
from ..errors import ArgumentError, AxisError, DTypeError, ShapeError, fail
from ..foreign import host_array_of, is_array
from ..handle import Handle, wrap
from ..narrow import narrowed
from ..node import Node, constant, leaf, number_type, record, refuse_number
from ..shortage import out_of_memory
from ..sizes import size_of, whole
from ..unseen import looked_at

Number = bool | int | float | complex
Shape = tuple[Size, ...]
NUMBER_TYPES = (bool, int, float, complex)
HOLDING_SIZES = (ir.f32, ir.f64, ir.i64)  # every size is a value of theirs, if a rounded one
FAR = 1 << 62
"""No matrix has a diagonal so far from its first, and i64 holds it beside the number of any row."""


def as_node(value: Any, name: str) -> Node:
    """The node of a tensor or a host array; a Python number gets its default dtype."""
    if isinstance(value, Handle):
        return value.node
    if value.__class__ in NUMBER_TYPES:
        return constant(whole(value), DEFAULTS[value.__class__].ir, name)
    if isinstance(value, Dim):
        return size_node(value)
    if is_array(value):
        return upload(host_array_of(value, name), None, name)
    fail(
        DTypeError, name, f"expected a tensor or a number, got {type(value).__name__}", value,
        hint=getattr(value, "no_tensor_hint", "make a tensor of it with `bs.asarray`"),
    )  # fmt: skip


def upload(array: Any, device: Device | None, name: str) -> Node:
    """A leaf with a copy of a host array."""
    place = device or current_device()
    type_, buffer = copied(array, place, name)
    return leaf(buffer, type_, place, location=user_line())


def copied(array: Any, device: Device, name: str) -> tuple[TensorType, Any]:
    """A copy of a host array on a device: its type, and its buffer."""
    try:
        dtype = ir.of_numpy(array.dtype.newbyteorder("="))
    except KeyError:
        fail(DTypeError, name, f"numpy's {array.dtype} has no counterpart here")
    type_ = TensorType(array.shape, dtype)
    try:
        return type_, device.target.copy(array, dtype.storage)
    except MemoryError as problem:
        raise out_of_memory(problem, name, type_) from None


def device_of(node: Node, wanted: Device) -> Device:
    """Where a node is, or will be computed; what is traced goes where it is `wanted`."""
    return node.device or (current_device() if node.trace is None else wanted)


def promote(
    name: str, *values: Any, among: Collection[ir.DType] = ir.ALL, floats: bool = False
) -> list[Node]:
    """Nodes of one dtype and one shape; `floats` turns integers into the default float dtype."""
    nodes = to_common_dtype(name, *values, floats=floats)
    if nodes[0].type.dtype not in among:
        refuse_dtype(name, nodes[0].type.dtype, among, *values)
    return broadcast_all(name, nodes)


def to_common_dtype(name: str, *values: Any, floats: bool = False) -> list[Node]:
    """Nodes of the dtype in which all values meet; Python numbers follow the tensors."""
    dtype = common_dtype(name, *values)
    if floats and dtype not in ir.INEXACT:
        dtype = DEFAULTS[float].ir
    return [_as_dtype(value, dtype, name) for value in values]


def _as_dtype(value: Any, dtype: ir.DType, name: str) -> Node:
    if isinstance(size := size_of(value), Dim) and dtype in HOLDING_SIZES:
        return cast_node(size_node(size), dtype)
    if value.__class__ in NUMBER_TYPES:
        return number(value, dtype, name)
    return cast_node(narrowed(as_node(value, name), dtype), dtype)


def common_dtype(name: str, *values: Any) -> ir.DType:
    """The dtype in which tensors, arrays and numbers meet."""
    found: ir.DType | None = None
    numbers: list[type] = []
    for value in values:
        if value.__class__ in NUMBER_TYPES:
            numbers.append(value.__class__)
            continue
        if isinstance(value, Dim):
            numbers.append(int)
            continue
        node = as_node(value, name)
        traced_number = number_type(node)
        if traced_number is not None:
            numbers.append(traced_number)
            continue
        found = meeting(name, found, node.type.dtype, *values)
    for kind in numbers:
        found = with_number(found, kind)
    assert found is not None
    return found


def meeting(name: str, one: ir.DType | None, other: ir.DType, *values: Any) -> ir.DType:
    """The dtype in which two of these values meet."""
    found = other if one is None else promoted(one, other)
    if one is not None and found is None:
        problem = f"no integer dtype holds both {OF_IR[one]} and {OF_IR[other]}"
        hint = "cast one of them, for instance `x.astype(bs.int64)`"
        fail(DTypeError, name, problem, *values, hint=hint)
    assert found is not None
    return found


def with_number(dtype: ir.DType | None, kind: type) -> ir.DType:
    """What a dtype becomes beside a Python number: its kind may widen, its width does not."""
    default = DEFAULTS[kind].ir
    if dtype is None:
        return default
    if kind is bool or dtype in ir.COMPLEXES:
        return dtype
    if kind is complex:
        return ir.c128 if dtype is ir.f64 else ir.c64
    if kind is float:
        return dtype if dtype in ir.FLOATS else default
    return default if dtype is ir.boolean else dtype


def number(value: Number, dtype: ir.DType, name: str = "") -> Node:
    """A Python number as a node of `dtype`."""
    try:
        value = _of_kind(whole(value), dtype)
    except (OverflowError, TypeError, ValueError):
        refuse_number(value, dtype, name)
    return constant(value, dtype, name)


def _of_kind(value: Number, dtype: ir.DType) -> Number:
    if dtype in ir.COMPLEXES:
        return complex(value)
    if dtype in ir.FLOATS:
        return float(value) if not isinstance(value, complex) else value
    if dtype is ir.boolean:
        return bool(value) if value in (0, 1) else value
    return int(value) if isinstance(value, bool) else value


def cast_node(node: Node, dtype: ir.DType) -> Node:
    """The node as `dtype`."""
    return node if node.type.dtype is dtype else record(ops.Cast, (node,), (dtype,))


def broadcast_all(name: str, nodes: Sequence[Node]) -> list[Node]:
    """The nodes stretched to the one shape that numpy's rules give them."""
    first = nodes[0].type
    if all(node.type is first for node in nodes):
        return [*nodes]
    for node in nodes:
        if node.trace is not None and node.trace.ended:
            node.trace.refuse()
    shape = broadcast_shape(name, *[node.type.shape for node in nodes])
    return [broadcast_node(node, shape) for node in nodes]


def broadcast_shape(name: str, *shapes: Shape) -> Shape:
    """The shape to which all are stretched: sizes are equal, or 1, counted from the last axis."""
    rank = max(map(len, shapes))
    for sizes in zip_longest(*[reversed(shape) for shape in shapes], fillvalue=1):
        if len({*sizes} - {1}) > 1:
            shapes = looked_at(shapes, sizes)
    result: list[Size] = [1] * rank
    for shape in shapes:
        for place, size in enumerate(shape, rank - len(shape)):
            if result[place] == 1:
                result[place] = size
            elif size not in (1, result[place]):
                shown = " and ".join(str(list(each)) for each in shapes)
                fail(
                    ShapeError, name, f"the shapes {shown} do not broadcast: axis {place - rank} "
                    f"has sizes {result[place]} and {size}",
                    hint="sizes must be equal or 1, counted from the last axis; `x[:, None]` or "
                    "`bs.expand_dims` adds an axis of size 1",
                )  # fmt: skip
    return tuple(result)


def broadcast_node(node: Node, shape: Shape) -> Node:
    """The node stretched to a shape that its own broadcasts to."""
    own = node.type.shape
    if own == shape:
        return node
    axes = tuple(range(len(shape) - len(own), len(shape)))
    return record(ops.Broadcast, (node,), (shape, axes))


def filled(value: Any, shape: Shape, dtype: ir.DType) -> Node:
    """A node whose every element is one number."""
    return broadcast_node(number(value, dtype), shape)


def number_like(count: Size, like: Node) -> Node:
    """A size as numbers, in the dtype and shape of a node."""
    dtype, shape = like.type.dtype, like.type.shape
    if isinstance(count, int):
        return filled(count, shape, dtype)
    return broadcast_node(cast_node(size_node(count), dtype), shape)


def size_node(size: Size) -> Node:
    """A size as an integer."""
    if isinstance(size, int):
        return constant(size, ir.i64)
    if isinstance(size, Atom) or size.low > 1:
        return record(ops.Dim, (filled(False, (size,), ir.boolean),), (0,))
    # What may be negative is no tensor's size, and a tensor that may have one element or none would
    # be made for the sizes that there are, for functions decide by that: it is put together.
    total = constant(0, ir.i64)
    for factors, by in size.terms.items():
        term = constant(by, ir.i64)
        for factor in factors:
            term = record(ops.Multiply, (term, size_node(factor)))
        total = record(ops.Add, (total, term))
    return total


def refuse_dtype(name: str, dtype: ir.DType, among: Collection[ir.DType], *values: Any) -> None:
    """Complain about a dtype that an operation does not take."""
    known = ", ".join(each.name for inner, each in OF_IR.items() if inner in among)
    fail(
        DTypeError, name, f"does not take {OF_IR[dtype]}", *values,
        hint=f"it takes {known}; cast with `x.astype(...)`",
    )  # fmt: skip


def refuse_lossy(name: str, given: ir.DType, dtype: ir.DType, *values: Any) -> None:
    """Complain about values of a kind that the dtype of the result does not hold."""
    if _rank(given) > _rank(dtype):
        fail(
            DTypeError, name, f"values of {OF_IR[given]} do not fit a tensor of {OF_IR[dtype]}",
            *values, hint="cast one of them with `x.astype(...)`",
        )  # fmt: skip


def _rank(dtype: ir.DType) -> int:
    """Which kinds of numbers a dtype holds: whole ones, real ones, complex ones."""
    return (dtype in ir.INEXACT) + (dtype in ir.COMPLEXES)


def as_axis(axis: Any, rank: int, name: str) -> int:
    """An axis counted from 0, of one that may count from the end."""
    try:
        place = index(axis)
    except TypeError:
        fail(AxisError, name, f"an axis is an integer, not {type(axis).__name__}", axis)
    if not -rank <= place < rank:
        known = f"the axes are {-rank}..{rank - 1}" if rank else "a tensor of rank 0 has no axis"
        fail(AxisError, name, f"there is no axis {place}: {known}")
    return place % rank if rank else 0


def as_axes(axes: Any, rank: int, name: str) -> tuple[int, ...]:
    """Axes counted from 0, in the order given; None means all of them."""
    if axes is None:
        return tuple(range(rank))
    listed = axes if isinstance(axes, tuple | list) else (axes,)
    found = tuple(as_axis(axis, rank, name) for axis in listed)
    if len(set(found)) != len(found):
        fail(AxisError, name, f"an axis is named twice in {list(listed)}")
    return found


def as_size(value: Any, name: str) -> Size:
    """A size that is an integer (or a symbolic dim) and not negative; in `jit` a tensor may be."""
    if isinstance(value := size_of(value), Dim):
        return value
    if isinstance(value, Handle) and value.node.trace is not None:
        return bound_size(name, whole_number(value.node, name))
    size = as_integer(value, name, "a size")
    if size < 0:
        fail(ArgumentError, name, f"a size is not negative, but {size} was given")
    return size


def not_negative(size: Size) -> Size:
    """A size, or 0 where it is less; the size itself where that cannot be."""
    return size if Facts().at_most(0, size) else maximum(size, 0)


def whole_number(node: Node, name: str) -> Node:
    """The node of one integer, as those that sizes are."""
    if node.type.dtype not in ir.INTEGERS or node.type.shape:
        fail(DTypeError, name, "a size is one integer", wrap(node))
    return cast_node(node, ir.i64)


def as_integer(value: Any, name: str, what: str) -> int:
    """An integer of any library; `what` says for the error what it is."""
    try:
        return index(value)
    except TypeError:
        fail(DTypeError, name, f"{what} is an integer, not {type(value).__name__}", value)


def as_diagonal(value: Any, name: str) -> int:
    """The number of a diagonal; one that is too large for i64 stands for any beyond the matrix."""
    number = as_integer(value, name, "the number of a diagonal")
    return max(-FAR, min(number, FAR))


def as_real(value: Any, name: str, what: str) -> float:
    """A real number of any library; `what` says for the error what it is."""
    if not isinstance(value, Real | Handle):
        fail(DTypeError, name, f"{what} is a number, not {type(value).__name__}", value)
    return float(value)  # pyright: ignore[reportArgumentType]


def as_shape(shape: Any, name: str) -> Shape:
    """A shape of an integer, a tuple or a list."""
    listed = shape if isinstance(shape, tuple | list) else (shape,)
    return tuple(as_size(size, name) for size in listed)


def as_ir_dtype(dtype: Any, default: ir.DType) -> ir.DType:
    """The compiler's dtype for what a user gave, or the default for None."""
    return default if dtype is None else as_dtype(dtype).ir


def either(first: Any, second: Any, default: Any, name: str, words: str) -> Any:
    """The one given of two spellings of an argument, such as `axis` and `dim`."""
    if second is None:
        return default if first is None else first
    if first is not None:
        fail(ArgumentError, name, f"takes one of {words}, not both")
    return second


__all__ = [
    "HOLDING_SIZES",
    "DType",
    "Number",
    "Shape",
    "as_axes",
    "as_axis",
    "as_integer",
    "as_ir_dtype",
    "as_node",
    "as_real",
    "as_shape",
    "as_size",
    "broadcast_all",
    "broadcast_node",
    "broadcast_shape",
    "cast_node",
    "common_dtype",
    "either",
    "filled",
    "not_negative",
    "number",
    "number_like",
    "promote",
    "refuse_dtype",
    "refuse_lossy",
    "size_node",
    "to_common_dtype",
    "upload",
    "whole_number",
    "wrap",
]  # fmt: skip
