"""What batching rules of several ops share.

Comes in: operands in the func being built, some of them batched: with an axis of lanes, axis 0.
Goes out: operands that all have it; or the results of an op, as the slot `batching` in `base` wants
them.
Never: a rule of one op; those stand in the ops' classes.
"""

from math import prod as product

from ..attributes import Shape
from ..builder import Builder
from ..dims import Size
from ..func import Yield
from ..values import AnyValue, Block
from .axes import shifted
from .base import TensorOp, Values, rebuilt
from .control import INDEX, Cond, Loop
from .rules import zeros
from .views import Broadcast, Reshape


def in_all_lanes(builder: Builder, x: AnyValue, size: Size) -> AnyValue:
    """x in each of `size` lanes."""
    axes = shifted(range(len(x.shape)))
    return builder.emit(Broadcast, x, shape=(size, *x.shape), axes=axes)


def all_batched(
    builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
) -> Values:
    """The operands, each with an axis of lanes."""
    pairs = zip(operands, batched, strict=True)
    return tuple([x if own else in_all_lanes(builder, x, size) for x, own in pairs])


def merged(builder: Builder, x: AnyValue, axis: int, count: int = 2) -> AnyValue:
    """x with `count` axes from `axis` on as one."""
    joined = product(x.shape[axis : axis + count])
    return builder.emit(Reshape, x, shape=(*x.shape[:axis], joined, *x.shape[axis + count :]))


def parted(builder: Builder, x: AnyValue, axis: int, sizes: Shape) -> AnyValue:
    """x with axes of these sizes in the place of one."""
    return builder.emit(Reshape, x, shape=(*x.shape[:axis], *sizes, *x.shape[axis + 1 :]))


def at_each_element(
    self: TensorOp, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
) -> Values:
    """The rule of ops that see one element of each operand at a time."""
    return rebuilt(self, builder, all_batched(builder, operands, batched, size))


def lane_by_lane(
    op: TensorOp,
    builder: Builder,
    operands: Values,
    batched: tuple[bool, ...],
    size: Size,
    active: AnyValue | None = None,
) -> Values:
    """The op as it is, in a loop over the lanes; zeros in those that are not `active`."""
    own = [x for x, each in zip(operands, batched, strict=True) if each]
    read = own if active is None else [active, *own]
    body = builder.nest([INDEX, *[x.type.with_shape(x.shape[1:]) for x in read]])
    slices = iter(body.block.arguments[1:])
    predicate = None if active is None else next(slices)
    pairs = zip(operands, batched, strict=True)
    taken = tuple([next(slices) if each else x for x, each in pairs])
    if predicate is None:
        results = _again(op, body, taken)
    else:
        regions = _again_in_region(op, body, taken), _zeros_in_region(op, body)
        results = body.emit_all(Cond, predicate, (), *regions)
    body.emit_all(Yield, results)
    return builder.emit_all(Loop, (), read, size, body.block)


def _again(op: TensorOp, builder: Builder, operands: Values) -> Values:
    """The results of the same op of other operands, which have the same types."""
    types = [result.type for result in op.results]
    copy = op.__class__(operands, op.attributes, types, (), builder.location)
    builder.insert(copy)
    return copy.results


def _again_in_region(op: TensorOp, builder: Builder, operands: Values) -> Block:
    region = builder.nest()
    region.emit_all(Yield, _again(op, region, operands))
    return region.block


def _zeros_in_region(op: TensorOp, builder: Builder) -> Block:
    region = builder.nest()
    region.emit_all(Yield, [zeros(region, result.type) for result in op.results])
    return region.block
