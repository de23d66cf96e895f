"""What must hold of blocks and values after any change.

Comes in: a func. Goes out: an assertion that names what is broken.
Never: a rule of an op; the verifier checks those.
"""

from collections import Counter

from brimstone.ir.func import Func
from brimstone.ir.values import AnyValue, Block, Op


def check_invariants(func: Func) -> None:
    """Readers, links, order and numbering of a func are true."""
    readers: dict[AnyValue, Counter[Op]] = {}
    for op in func.walk():
        for operand in op.operands:
            readers.setdefault(operand, Counter())[op] += 1
    for value in _values(func):
        assert set(value.uses) == set(readers.pop(value, ())), f"{value} has other readers"
    assert not readers, "values are read that stand nowhere"
    _check_block(func.body)
    for op in func.walk():
        for region in op.regions:
            assert region.parent is op
            _check_block(region)


def _values(func: Func) -> list[AnyValue]:
    blocks = [func.body, *(region for op in func.walk() for region in op.regions)]
    arguments = [argument for block in blocks for argument in block.arguments]
    return arguments + [result for op in func.walk() for result in op.results]


def _check_block(block: Block) -> None:
    ops = list(block)
    assert [None, *ops] == [*(op.previous for op in ops), block.last]
    assert all(op.block is block for op in ops)
    orders = [op.order for op in ops]
    assert orders == sorted(set(orders)), "the order does not grow along the block"
    for key, op in block.numbering.items():
        assert op.block is block, f"{op} is numbered in a block where it does not stand"
        assert key == (op.__class__, op.operands, op.attributes), (
            f"{op} is numbered under the key of another op"
        )
