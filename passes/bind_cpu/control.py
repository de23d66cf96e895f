"""Loops and branches: carried tiles are carried vectors, and the edge is split from the interior.

Comes in: `tile.for`, `tile.if`. Goes out: the same of the loop floor. Where blocks move with the
index of a loop, the rounds in which all of them lie inside of their views come first, without a
mask; what rounds are left over, mostly one or none, follow with masks.
Never: another order of rounds.
"""

from collections.abc import Iterable

from ...ir import loop, tile
from ...ir.func import Yield
from ...ir.types import INDEX
from ...ir.values import AnyValue, Block, walk
from .binding import Binding, Rules, Splits
from .checks import Check
from .split import Split
from .twice import run_block


def bind_for(binding: Binding, op: tile.For) -> tuple[object, ...]:
    """One loop, or one for the interior and one for the edge."""
    emitter = binding.emitter
    lower, upper, step = (binding.scalar(each) for each in op.operands[:3])
    carries = binding.flat(op.carries)
    split = Split.of(binding, op) if _may_split(binding, op) else None
    if split is not None:
        whole = emitter.value(split.end())
        carries = emit_loop(binding, op, (lower, whole, step), carries, split.checks)
        lower = whole
    finals = emit_loop(binding, op, (lower, upper, step), carries, [])
    return binding.gathered(op.outputs, finals)


def _may_split(binding: Binding, op: tile.For) -> bool:
    """Whether a loop may be written out twice; that is where all code in it doubles."""
    if binding.splits is Splits.ALL:
        return True
    innermost = not any(isinstance(each, tile.For) for each in walk(op.body))
    return binding.splits is Splits.INNERMOST and innermost


def emit_loop(
    binding: Binding,
    op: tile.For,
    bounds: tuple[AnyValue, AnyValue, AnyValue],
    carries: list[AnyValue],
    checks: Iterable[Check],
) -> list[AnyValue]:
    """One loop, in whose rounds the checks hold."""
    types = binding.types(op.carries)
    with binding.region([INDEX, *types], [check.key for check in checks]) as block:
        index, *carried = op.body.arguments
        bound = binding.gathered([index, *carried], block.arguments)
        for value, each in zip(op.body.arguments, bound, strict=True):
            binding.stand(value, each)
        yielded = run_region(binding, op.body)
        binding.emitter.emit_all(Yield, yielded)
    binding.emitter.location = op.location
    return list(binding.emitter.emit_all(loop.For, *bounds, carries, block))


def run_region(binding: Binding, region: Block) -> list[AnyValue]:
    """Bind what stands in a region; the loop values that it yields."""
    run_block(binding, region)
    return binding.flat(region.terminator.operands)


def bind_if(binding: Binding, op: tile.If) -> tuple[object, ...]:
    """A branch, into which carries are simply read."""
    given = [binding.values[carry] for carry in op.carries]
    regions = [_branch(binding, region, given) for region in (op.on_true, op.on_false)]
    binding.emitter.location = op.location
    predicate = binding.scalar(op.predicate)
    finals = binding.emitter.emit_all(loop.If, predicate, [], *regions)
    return binding.gathered(op.outputs, finals)


def _branch(binding: Binding, region: Block, given: list[object]) -> Block:
    with binding.region([], branch=True) as block:
        binding.values.update(zip(region.arguments, given, strict=True))
        binding.emitter.emit_all(Yield, run_region(binding, region))
    return block


def bind_assume(binding: Binding, op: tile.Assume) -> tuple[()]:
    """Nothing: a machine is not told."""
    return ()


RULES: Rules = {tile.For: bind_for, tile.If: bind_if, tile.Assume: bind_assume}
