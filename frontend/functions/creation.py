"""Tensors from nothing, from numbers, and from other libraries' arrays.

Comes in: shapes, numbers, nested lists, arrays. Goes out: tensors on the device asked for.
Never: foreign memory kept, unless the caller says `copy=False` or hands it over by DLPack.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import Dim, ceil_div, maximum
from ...ir.types import Tensor as TensorType
from ...runtime.device import Device, chosen_device, current_device, device_named
from ..bounds import bound_size
from ..caller import user_line
from ..dtypes import DEFAULTS, OF_IR, as_dtype
from ..errors import ArgumentError, DeviceError, DTypeError, ShapeError, fail, one_of
from ..foreign import host_array_of
from ..handle import Handle, wrap
from ..narrow import narrowed
from ..node import Node, constant, leaf, record
from ..sizes import size_of, whole
from ..trace import apart
from .common import (
    HOLDING_SIZES,
    NUMBER_TYPES,
    as_integer,
    as_ir_dtype,
    as_node,
    as_shape,
    as_size,
    broadcast_node,
    cast_node,
    device_of,
    filled,
    not_negative,
    number,
    number_like,
    size_node,
    upload,
    whole_number,
)
from .lists import in_common_dtype, is_recorded, others_in, read, stacked, with_values

if TYPE_CHECKING:
    from ..tensor import Tensor

FLOAT = DEFAULTS[float].ir


def as_device(device: Any, name: str) -> Device | None:
    """The device that a user means; None where none is named."""
    if device is None or isinstance(device, Device):
        return device
    try:
        return device_named(str(device))
    except ValueError as problem:
        fail(DeviceError, name, str(problem))


def asarray(obj: Any, /, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor of numbers, nested lists, an array of another library, or a tensor.

    Memory is copied, so that later changes to it are not seen; with `copy=False` a numpy array of
    the right dtype is shared, and its owner promises not to write to it.
    """
    wanted = None if dtype is None else as_dtype(dtype).ir
    place = as_device(device, "asarray")
    obj = size_of(obj) if wanted in (None, *HOLDING_SIZES) else whole(obj)
    if isinstance(obj, Dim):
        obj = wrap(as_node(obj, "asarray"))
    others = others_in(obj) if isinstance(obj, list | tuple) else []
    if any([is_recorded(each) for each in others]):
        obj = stacked(obj)
    if isinstance(obj, Handle):
        return _converted(obj, wanted, place, copy)
    array = _host(obj, wanted, others)
    if copy is False:
        return _shared(array, obj, wanted, place)
    node = upload(array, place, "asarray")
    return wrap(node if wanted is None else cast_node(node, wanted))


def _converted(obj: Handle, dtype: Any, device: Device | None, copy: bool | None) -> Tensor:
    """A tensor as another dtype, or on another device; the very one where nothing changes."""
    node = obj.node
    moves = device is not None and device is not device_of(node, device)
    changes = moves or dtype not in (None, node.type.dtype)
    if not changes and not copy:
        return cast(Any, obj)
    if copy is False:
        problem = "the tensor cannot be converted without a copy"
        fail(ArgumentError, "asarray", problem, obj)
    if moves:
        from ..tensor import host_array

        node = upload(host_array(obj, "asarray"), device, "asarray")
    return wrap(apart(node if dtype is None else cast_node(narrowed(node, dtype), dtype)))


def _host(obj: Any, dtype: ir.DType | None, others: list[Any]) -> Any:
    """Whatever a user gave as a numpy array of a dtype that has a counterpart here."""
    if isinstance(obj, np.ndarray | np.generic):
        return np.asarray(obj)
    if hasattr(obj, "__array__") or hasattr(obj, "__dlpack__"):
        return host_array_of(obj, "asarray")
    if others:
        obj = with_values(obj)
    array = read(obj, "asarray") if dtype is None else _rounded(obj, dtype)
    if array.dtype.kind not in "biufcV":
        problem = f"expected numbers (integers of 64 bits at most), got {type(obj).__name__}"
        fail(DTypeError, "asarray", problem, obj, hint="give numbers, or lists of equal lengths")
    if dtype is None and not isinstance(obj, np.ndarray):
        with np.errstate(over="ignore"):  # a number too large is infinite
            array = in_common_dtype(array, others)
    return array


def _rounded(obj: Any, dtype: ir.DType) -> Any:
    """Python numbers rounded once to a dtype; integers must fit."""
    array = read(obj, "asarray")
    if array.dtype.kind in "iu" and dtype in ir.INTEGERS and not isinstance(obj, np.ndarray):
        return read(obj, "asarray", dtype.storage)
    return array


def _shared(array: Any, obj: Any, dtype: ir.DType | None, device: Device | None) -> Tensor:
    """A tensor over the memory of a numpy array, which nobody copies."""
    own = next((each for each in ir.ALL if each.storage == array.dtype), None)
    contiguous = array.flags.c_contiguous and isinstance(obj, np.ndarray)
    if own is None or not contiguous or dtype not in (None, own):
        problem = "cannot be shared: it must be a row-major numpy array of the dtype asked for"
        fail(ArgumentError, "asarray", problem, obj, hint="leave copy=False out")
    view = array.view()
    view.flags.writeable = False
    place = device or current_device()
    type_ = TensorType(array.shape, own)
    return wrap(leaf(place.target.upload(view), type_, place, location=user_line()))


def tensor(data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of data; with `requires_grad` what is computed from it keeps a history."""
    made = asarray(data, dtype=dtype, device=device)
    return made.requires_grad_() if requires_grad else made


def from_numpy(array: Any, /) -> Tensor:
    """A tensor with a copy of a numpy array's elements."""
    return asarray(array)


def made_on(node: Node, device: Any, name: str) -> Tensor:
    """A tensor made from nothing, on the device asked for."""
    place = as_device(device, name) or chosen_device()
    if place is not None:
        node.device = place
    return wrap(node)


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Tensor:
    """A tensor whose every element is one number."""
    sizes = as_shape(shape, "full")
    if isinstance(fill_value, Handle):
        node = fill_value.node
        kind = as_ir_dtype(dtype, node.type.dtype)
        node = cast_node(narrowed(node, kind), kind)
        return made_on(broadcast_node(node, sizes), device, "full")
    if fill_value.__class__ not in NUMBER_TYPES:
        return full(shape, wrap(as_node(fill_value, "full")), dtype=dtype, device=device)
    kind = as_ir_dtype(dtype, DEFAULTS[fill_value.__class__].ir)
    if isinstance(size := size_of(fill_value), Dim) and kind in HOLDING_SIZES:
        return full(shape, wrap(size_node(size)), dtype=kind, device=device)
    value = as_kind(fill_value, kind)
    return made_on(broadcast_node(_own(number(value, kind, "full")), sizes), device, "full")


def _own(node: Node) -> Node:
    """A constant that may be given a device."""
    from ..node import own_constant

    return own_constant(node)


def as_kind(value: Any, dtype: ir.DType) -> Any:
    """A number of the kind of a dtype, as a cast would have it."""
    if dtype is ir.boolean:
        return bool(value)
    if dtype in ir.INTEGERS and isinstance(value, float) and math.isfinite(value):
        return int(value)
    return value


def zeros(shape: Any, dtype: Any = None, *, device: Any = None) -> Tensor:
    """A tensor of zeros."""
    return full(shape, 0, dtype=as_ir_dtype(dtype, FLOAT), device=device)


def ones(shape: Any, dtype: Any = None, *, device: Any = None) -> Tensor:
    """A tensor of ones."""
    return full(shape, 1, dtype=as_ir_dtype(dtype, FLOAT), device=device)


def empty(shape: Any, dtype: Any = None, *, device: Any = None) -> Tensor:
    """A tensor whose elements nobody should read; they are zeros."""
    return zeros(shape, dtype=dtype, device=device)


def full_like(x: Any, /, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Tensor:
    """A tensor of one number, in the shape and dtype of x."""
    node = as_node(x, "full_like")
    kind = as_ir_dtype(dtype, node.type.dtype)
    place = node.device if device is None else device
    return full(node.type.shape, fill_value, dtype=kind, device=place)


def zeros_like(x: Any, /, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Zeros in the shape and dtype of x."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: Any, /, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Ones in the shape and dtype of x."""
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x: Any, /, dtype: Any = None, *, device: Any = None) -> Tensor:
    """A tensor in the shape and dtype of x whose elements nobody should read."""
    return zeros_like(x, dtype=dtype, device=device)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """start, start + step, … up to, but without, stop; with one number, from 0 up to it."""
    if stop is None:
        start, stop = 0, start
    counts_up = isinstance(step, int) and step > 0
    start, stop = (size_of(each) if counts_up else whole(each) for each in (start, stop))
    kind = None if dtype is None else as_dtype(dtype).ir
    if any([_is_open(each) for each in (start, stop, step)]):
        return made_on(_open_line(start, stop, step, kind or ir.i64), device, "arange")
    start, stop, step = (_plain(each, "arange", int | float) for each in (start, stop, step))
    if step == 0:
        fail(ArgumentError, "arange", "the step is 0")
    if not all([math.isfinite(each) for each in (start, stop, step)]):
        fail(ArgumentError, "arange", f"cannot count from {start} to {stop} by {step}")
    count = max(math.ceil((stop - start) / step), 0)
    in_integers = all(isinstance(each, int) for each in (start, stop, step))
    kind = as_ir_dtype(dtype, ir.i64 if in_integers else FLOAT)
    if kind not in ir.REALS:
        fail(DTypeError, "arange", f"cannot count in {OF_IR[kind]}")
    return made_on(_line(start, step, count, kind), device, "arange")


def _is_open(value: Any) -> bool:
    """Whether a number is a size that is not known yet, or a tensor being traced."""
    return isinstance(value, Dim) or (isinstance(value, Handle) and value.node.trace is not None)


def _open_line(start: Any, stop: Any, step: Any, dtype: ir.DType) -> Node:
    """start, start + step, … up to, but without, stop, where an end is known later."""
    step = as_integer(step, "arange", "a step to an open end")
    if step < 1:
        fail(ArgumentError, "arange", f"the step to an open end is {step}, and must go forwards")
    ends = [as_node(each, "arange") for each in (start, stop)]
    if any([isinstance(each, Handle) for each in (start, stop)]):
        first, last = (whole_number(each, "arange") for each in ends)
        gap = record(ops.Maximum, (record(ops.Subtract, (last, first)), constant(0, ir.i64)))
        rounded = record(ops.Add, (gap, constant(step - 1, ir.i64)))
        count = bound_size("arange", record(ops.Divide, (rounded, constant(step, ir.i64))))
    else:
        count = ceil_div(not_negative(stop - start), step)
    line = record(ops.Iota, (), ((count,), 0, ir.i64))
    line = record(ops.Multiply, (line, filled(step, (count,), ir.i64)))
    line = record(ops.Add, (line, broadcast_node(cast_node(ends[0], ir.i64), (count,))))
    return cast_node(line, dtype)


def _plain(value: Any, name: str, kinds: Any) -> Any:
    """A plain number, out of one of any library's."""
    if not isinstance(value, kinds) and isinstance(value, np.ndarray | np.generic | Handle):
        value = wrap(as_node(value, name)).item()
    if not isinstance(value, kinds):
        fail(DTypeError, name, f"counts in numbers, not in {type(value).__name__}", value)
    return value


def _line(start: Any, step: Any, count: int, dtype: ir.DType) -> Node:
    """start + step * (0, 1, …, count - 1), computed wide and rounded once."""
    wide = ir.f64
    if dtype in ir.INTEGERS and isinstance(start, int) and isinstance(step, int):
        wide, step = dtype, _wrapped(step, dtype)
    line = record(ops.Iota, (), ((count,), 0, wide))
    for op, value, neutral in ((ops.Multiply, step, 1), (ops.Add, start, 0)):
        if value != neutral:
            line = record(op, (line, filled(value, (count,), wide)))
    return cast_node(line, dtype)


def _wrapped(step: int, dtype: ir.DType) -> int:
    """A step as integers of a dtype, which wrap, count it: -3 is 253 to those of 8 bits without a
    sign."""
    return np.array(step % 2**64, np.uint64).astype(dtype.storage).item()


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None,
    endpoint: bool = True,
) -> Tensor:  # fmt: skip
    """`num` numbers evenly from start to stop, which is the last of them unless not `endpoint`."""
    count: Any = as_size(num, "linspace")
    start, stop = (_plain(each, "linspace", int | float | complex) for each in (start, stop))
    complex_ = isinstance(start, complex) or isinstance(stop, complex)
    kind = as_ir_dtype(dtype, DEFAULTS[complex].ir if complex_ else FLOAT)
    if kind in ir.COMPLEXES:
        parts = [
            linspace(first, last, count, dtype=kind.real, device=device, endpoint=endpoint).node
            for first, last in (
                (complex(start).real, complex(stop).real),
                (complex(start).imag, complex(stop).imag),
            )
        ]
        return wrap(record(ops.Complex, tuple(parts)))
    place = record(ops.Iota, (), ((count,), 0, ir.f64))
    steps = number_like(maximum(count - 1 if endpoint else count, 1), place)
    first, last = (filled(end, (count,), ir.f64) for end in (start, stop))
    line = (_stepped if kind in ir.INTEGERS else _weighted)(first, last, place, steps)
    line = record(ops.Select, (record(ops.Equal, (place, steps)), last, line))
    if kind in ir.INTEGERS:
        line = record(ops.Floor, (line,))
    return made_on(cast_node(line, kind), device, "linspace")


def _stepped(start: Node, stop: Node, place: Node, steps: Node) -> Node:
    """Places between two ends by steps: whole numbers where the step is one."""
    step = record(ops.Divide, (record(ops.Subtract, (stop, start)), steps))
    return record(ops.Add, (start, record(ops.Multiply, (place, step))))


def _weighted(start: Node, stop: Node, place: Node, steps: Node) -> Node:
    """The same by weights of both ends, which keep the steps from overflowing."""
    above = record(ops.Divide, (place, steps))
    below = record(ops.Subtract, (number_like(1, place), above))
    weighted = record(ops.Multiply, (start, below)), record(ops.Multiply, (stop, above))
    return record(ops.Add, weighted)


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Each vector along its own axis of a grid, repeated along the others.

    With "ij" vector i runs along axis i; with "xy" the first two axes change places.
    """
    one_of("meshgrid", "indexing", indexing, ("xy", "ij"))
    nodes = [as_node(array, "meshgrid") for array in arrays]
    if len({node.type.dtype for node in nodes}) > 1:
        fail(DTypeError, "meshgrid", "the vectors have different dtypes", *arrays)
    for node in nodes:
        if len(node.type.shape) != 1:
            fail(ShapeError, "meshgrid", "takes tensors of rank 1", *arrays)
    order = list(range(len(nodes)))
    if indexing == "xy" and len(nodes) > 1:
        order[:2] = [1, 0]
    shape = tuple([nodes[place].type.shape[0] for place in order])
    places = zip(nodes, [order.index(at) for at in range(len(nodes))], strict=True)
    return tuple([wrap(record(ops.Broadcast, (node,), (shape, (axis,)))) for node, axis in places])
