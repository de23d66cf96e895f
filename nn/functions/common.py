"""What functions of models have in common: sums are wide, and results as narrow as what came.

Comes in: tensors, or what becomes one. Goes out: tensors, and checked sizes.
Never: a look at the size of a batch, as each look costs a trace for every size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...frontend.dtypes import OF_IR, DType
from ...frontend.errors import ShapeError, fail
from ...frontend.functions.common import as_node, cast_node, promote
from ...frontend.handle import wrap
from ...frontend.tensor import Tensor
from ...frontend.unseen import looked_at
from ...ir import dtypes as ir

BATCH = "`x[None]` is a batch of one"


def widened(name: str, x: Any) -> tuple[Tensor, DType]:
    """x in the dtype in which it is summed, and the dtype to which a result is rounded."""
    (node,) = promote(name, x, among=ir.FLOATS, floats=True)
    return wrap(cast_node(node, node.type.dtype.accumulator)), OF_IR[node.type.dtype]


def sizes_of(x: Tensor) -> tuple[Any, ...]:
    """The shape, in which sizes that nobody has looked at are no numbers."""
    return x.node.type.shape


def as_images(name: str, x: Any, space: int = 0) -> Tensor:
    """x, which is [N, C, space…], with so many axes of space or more."""
    node = as_node(x, name)
    if len(node.type.shape) < space + 2:
        fail(ShapeError, name, "takes images [N, C, space…]", x, hint=BATCH)
    return wrap(node)


def check_channels(name: str, x: Any, channels: int) -> None:
    """Refuse images [N, C, space…] that have not as many channels."""
    found = looked_at(sizes_of(as_images(name, x))[1])
    if isinstance(found, int) and found != channels:
        fail(ShapeError, name, f"takes {channels} channels, and axis 1 has {found}", x)


def check_space(name: str, x: Any, *counts: int) -> None:
    """Refuse images [N, C, space…] that have another number of axes of space."""
    rank = len(as_node(x, name).type.shape)
    if rank - 2 not in counts:
        wanted = " or ".join([str(count + 2) for count in counts])
        fail(ShapeError, name, f"takes [N, C, space…] of {wanted} axes, not {rank}", x, hint=BATCH)


def check_last(name: str, x: Any, sizes: Sequence[int]) -> None:
    """Refuse tensors whose last axes have other sizes."""
    shape = as_node(x, name).type.shape
    if not sizes:
        fail(ShapeError, name, "takes the sizes of one axis or more, and none are given", x)
    found = looked_at(shape[-len(sizes) :])
    pairs = zip(found, sizes, strict=False)
    if len(shape) < len(sizes) or any([isinstance(own, int) and own != by for own, by in pairs]):
        fail(ShapeError, name, f"takes tensors whose last axes are {list(sizes)}", x)


def known_size(name: str, x: Tensor, axis: int) -> int:
    """The size of an axis, which is not left open."""
    size = looked_at(sizes_of(x)[axis])
    if not isinstance(size, int):
        fail(ShapeError, name, f"the size of axis {axis} is known when the function is traced", x)
    return size


def as_setting(value: Any) -> Any:
    """A list as a tuple, which an attribute of a module can be."""
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def along_channels(vector: Tensor, rank: int) -> Tensor:
    """A number for each channel, beside images of so many axes."""
    return vector.reshape((-1, *[1] * (rank - 2)))
