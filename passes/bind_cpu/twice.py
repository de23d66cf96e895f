"""Ops written out twice: for where all blocks lie inside of their views, and with masks.

Comes in: ops of a tile func, and checks that can be told before them. Goes out: a branch.
Never: a branch where everything is known.
"""

from collections.abc import Callable, Sequence

from ...ir import loop
from ...ir.func import Yield
from ...ir.loop import CompareKind
from ...ir.values import AnyValue, Block
from .binding import Binding
from .checks import Check, not_beyond, not_negative
from .split import evaluate
from .tail import read_behind


def run_block(binding: Binding, block: Block) -> None:
    """Bind the ops of a block, those after its last loop twice if that takes masks away."""
    tail = binding.tails.of.get(block)
    if tail is None or not all([binding.inside(check) for check in tail.shared]):
        binding.run(block)
        return
    begin = tail.ops[0].order
    binding.run([op for op in block if op.order < begin])
    read = read_behind(tail.ops, tail.behind)
    condition = all_hold(binding, tail.checks)
    twice(binding, tail.checks, condition, lambda: binding.run(tail.ops), read)
    binding.run(tail.behind)


def twice(
    binding: Binding,
    checks: Sequence[Check],
    condition: AnyValue,
    run: Callable[[], None],
    read: Sequence[AnyValue] = (),
) -> None:
    """Bind ops where these checks hold, as the condition says, and where they may not; of what they
    make, some scalars and tiles are `read` behind them."""
    emitter = binding.emitter
    regions: list[Block] = []
    for known in ([check.key for check in checks], []):
        with binding.region([], known, branch=True) as block:
            run()
            emitter.emit_all(Yield, binding.flat(read))
        regions.append(block)
    made = emitter.emit_all(loop.If, condition, [], *regions)
    for value, bound in zip(read, binding.gathered(read, made), strict=True):
        binding.stand(value, bound)


def all_hold(binding: Binding, checks: Sequence[Check]) -> AnyValue:
    """Whether all checks hold, of which there is one at least."""
    found = [each for check in checks for each in _conditions(binding, check)]
    return binding.emitter.all_of(found)


def _conditions(binding: Binding, check: Check) -> list[AnyValue]:
    """What holds in the interior: `0 <= offset`, and `offset + count <= extent`."""
    emitter, ranges = binding.emitter, binding.ranges
    offset = evaluate(binding, check.offset, {})
    assert offset is not None
    conditions: list[AnyValue] = []
    if not not_negative(check, ranges):
        start = emitter.value(offset)
        conditions.append(emitter.compare(CompareKind.LESS_EQUAL, emitter.number(0), start))
    if not not_beyond(check, ranges):
        end = emitter.value(emitter.sum(offset, check.count))
        extent = emitter.value(binding.extent(check))
        conditions.append(emitter.compare(CompareKind.LESS_EQUAL, end, extent))
    return conditions
