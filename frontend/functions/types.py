"""Questions about dtypes, and casts.

Comes in: dtypes and tensors. Goes out: dtypes, limits, truths; casts give tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from ...ir import dtypes as ir
from ..dtypes import OF_IR, DType, as_dtype, promoted
from ..errors import ArgumentError, DTypeError, fail
from ..handle import Handle, wrap
from ..sizes import visible
from ..unseen import current_unseen
from .common import NUMBER_TYPES, as_node, as_shape, broadcast_shape, cast_node, common_dtype
from .creation import as_device, asarray

if TYPE_CHECKING:
    from ..tensor import Tensor

KINDS: dict[str, frozenset[ir.DType]] = {
    "bool": frozenset({ir.boolean}),
    "signed integer": ir.SIGNED,
    "unsigned integer": ir.UNSIGNED,
    "integral": ir.INTEGERS,
    "real floating": ir.FLOATS,
    "complex floating": ir.COMPLEXES,
    "numeric": ir.NUMBERS,
}


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """x as another dtype: floats are rounded, or cut off to integers; integers wrap."""
    node = as_node(x, "astype")
    wanted = as_dtype(dtype).ir
    if node.type.dtype in ir.COMPLEXES and wanted in ir.REALS:
        fail(
            DTypeError, "astype", f"a complex number is no {OF_IR[wanted]}", x,
            hint="take `.real`, `.imag` or `.abs()` first",
        )  # fmt: skip
    made = wrap(cast_node(node, wanted))
    return made if device is None else to_device(made, device)


def to_device(x: Any, device: Any, /, *, stream: Any = None) -> Tensor:
    """x on another device."""
    if stream is not None:
        fail(ArgumentError, "to_device", "streams are managed by the library", hint="leave it out")
    return asarray(x, device=as_device(device, "to_device"))


def to(x: Any, target: Any, /) -> Tensor:
    """x as another dtype, or on another device, whichever is named."""
    from ...runtime.device import Device

    if isinstance(target, Handle):
        return to_device(astype(x, OF_IR[target.node.type.dtype]), target.device)  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(target, Device):
        return to_device(x, target)
    if isinstance(target, str) and target not in {each.name for each in OF_IR.values()}:
        return to_device(x, target)
    return astype(x, target)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype in which tensors, dtypes and numbers meet."""
    if not arrays_and_dtypes:
        fail(ArgumentError, "result_type", "nothing is given")
    is_value = [isinstance(each, (Handle, *NUMBER_TYPES)) for each in arrays_and_dtypes]
    given = list(zip(arrays_and_dtypes, is_value, strict=True))
    values = [each for each, value in given if value]
    others = [as_dtype(each).ir for each, value in given if not value]
    if values and all(each.__class__ in NUMBER_TYPES for each in values) and others:
        # Numbers follow the dtypes beside them, as they follow tensors.
        from .creation import zeros

        values.append(zeros((), dtype=result_type(*[OF_IR[each] for each in others])))
    found = common_dtype("result_type", *values) if values else others[0]
    for other in others:
        meeting = promoted(found, other)
        if meeting is None:
            fail(DTypeError, "result_type", f"no dtype holds {OF_IR[found]} and {OF_IR[other]}")
        found = meeting
    return OF_IR[found]


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a cast keeps every value, as far as promotion says."""
    source = from_.node.type.dtype if isinstance(from_, Handle) else as_dtype(from_).ir
    target = as_dtype(to).ir
    return promoted(source, target) is target


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is the one named, or of the kind named, or of one of several."""
    if isinstance(kind, tuple):
        return any([isdtype(dtype, each) for each in kind])
    if isinstance(kind, str) and kind in KINDS:
        return as_dtype(dtype).ir in KINDS[kind]
    if isinstance(kind, str) and " " in kind:
        fail(ArgumentError, "isdtype", f"{kind!r} is no kind", hint=f"kinds: {', '.join(KINDS)}")
    return as_dtype(dtype) is as_dtype(kind)


@dataclass(frozen=True)
class FloatInfo:
    """The limits of a float dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class IntegerInfo:
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a float dtype, or of the parts of a complex one."""
    inner = type.node.type.dtype if isinstance(type, Handle) else as_dtype(type).ir
    if inner not in ir.INEXACT:
        fail(DTypeError, "finfo", f"{OF_IR[inner]} is no float dtype")
    found = ml_dtypes.finfo(inner.real.storage)
    return FloatInfo(
        bits=inner.real.bits,
        eps=float(found.eps),
        max=float(found.max),
        min=float(found.min),
        smallest_normal=float(found.smallest_normal),
        dtype=OF_IR[inner.real],
    )


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of an integer dtype."""
    inner = type.node.type.dtype if isinstance(type, Handle) else as_dtype(type).ir
    if inner not in ir.INTEGERS:
        fail(DTypeError, "iinfo", f"{OF_IR[inner]} is no integer dtype")
    found = np.iinfo(inner.storage)
    return IntegerInfo(inner.bits, int(found.max), int(found.min), OF_IR[inner])


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape to which tensors of these shapes are stretched."""
    if not shapes:
        return ()
    listed = [as_shape(each, "broadcast_shapes") for each in shapes]
    return visible(broadcast_shape("broadcast_shapes", *listed), current_unseen())
