"""Takes out of regions what does not depend on them.

Comes in: a func. Goes out: the func in which a constant stands in no region, and what is pure,
cheap, certain to succeed and computed only from outside does not stand in the body of a loop; each
as far outside as it may, just before the op that owns the region, merged with its equal there.
Never: an op that may fail when it runs, an op with regions, or a reduction, contraction or copy: a
loop may have no steps, and then its body costs nothing.
"""

from ..ir import tensor
from ..ir.attributes import Shape
from ..ir.builder import Builder
from ..ir.facts import Facts
from ..ir.func import Func
from ..ir.tensor.elementwise import Elementwise
from ..ir.values import Block, Op, replace
from .context import Context
from .declare import pipeline_pass

FACTS = Facts()

REPEATED = (tensor.Loop, tensor.While)
"""Whose regions anything may leave; from these and the others, constants may."""
OWNERS = (*REPEATED, tensor.Cond, tensor.Attention, tensor.AttentionBackward)

ALWAYS_SUCCEED = (
    Elementwise, tensor.Select, tensor.Cast, tensor.Bitcast, tensor.Complex,
    tensor.Permute, tensor.Flip, tensor.Dim, tensor.Constant,
)  # fmt: skip


@pipeline_pass("hoist")
def hoist(func: Func, context: Context) -> None:
    """Move what a region computes from outside alone to before the op that owns the region."""
    for op in list(func.walk()):
        if op.block is None or op.unused:
            continue
        owner = outermost(op)
        if owner is not None and context.allow("hoist", op):
            _move(op, owner)


def outermost(op: Op) -> Op | None:
    """The op before which `op` may stand instead, the outermost one; None where it must stay."""
    leaves = OWNERS if op.is_constant else REPEATED
    found: Op | None = None
    block = op.block
    while block is not None and isinstance(block.parent_op, leaves) and not _reads(op, block):
        found = block.parent_op
        block = found.block
    return found if found is not None and succeeds(op) else None


def succeeds(op: Op) -> bool:
    """Whether a pure, cheap op certainly runs without an error, wherever it is put."""
    match op:
        case tensor.Iota() | tensor.Broadcast() | tensor.Reshape():
            return _are_sizes(op.shape)
        case tensor.Pad():
            return _are_sizes(op.low) and _are_sizes(op.high)
        case tensor.Slice():
            return _lies_inside(op)
        case _:
            return isinstance(op, ALWAYS_SUCCEED)


def _reads(op: Op, block: Block) -> bool:
    return any(operand.block is block for operand in op.operands)


def _are_sizes(shape: Shape) -> bool:
    """Whether no size is ever negative, as `n - 5` may be."""
    return all(FACTS.at_most(0, size) for size in shape)


def _lies_inside(op: tensor.Slice) -> bool:
    """Whether a slice, empty or not, is within its operand at all sizes."""
    if not _are_sizes(op.start) or not _are_sizes(op.size):
        return False
    for extent, start, size, step in zip(op.x.shape, op.start, op.size, op.step, strict=True):
        last = start + (size - 1) * step
        if not FACTS.at_most(start, extent) or not FACTS.less(last, extent):
            return False
    return True


def _move(op: Op, owner: Op) -> None:
    """Put an op before `owner`, or let an equal op that stands there, or outside, stand for it."""
    assert owner.block is not None
    builder = Builder(owner.block, owner, op.location)
    found = builder.find(op.identity)
    if found is None:
        owner.block.move(op, owner)
        return
    for old, new in zip(op.results, found, strict=True):
        new.name = new.name or old.name
        replace(old, new)
    op.detach()
