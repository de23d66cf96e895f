"""What a tile holds where it sticks out of the space, and whether a reduction minds.

Comes in: a loop of the plan, and the axes along which its tiles may stick out. Goes out: the
padding of each load, chosen so that reductions need few masks; and whether a value needs one.
Never: a guess: a value of which nothing is known is masked.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir import tensor
from ...ir.payloads import Array, Number
from .emit import nothing
from .kernel import Node
from .plan import Loop
from .reductions import outside


def leaf_paddings(loop: Loop, masked: Sequence[int]) -> dict[Node, Number]:
    """The padding of each load in a loop: what is neutral to a reduction that reads it as it is."""
    paddings: dict[Node, Number] = {}
    for node in loop.reductions:
        operand = node.operands[0]
        if _is_load(loop, operand):
            paddings.setdefault(operand, outside(node.op))
    for node in (*loop.computed, *loop.reread):
        if _is_load(loop, node):
            paddings.setdefault(node, nothing(node.value.dtype))
            if node.access is not None and node.access.padding is not None:
                paddings[node] = node.access.padding
    return paddings


def is_neutral(
    loop: Loop, operand: Node, reduction: Node, paddings: dict[Node, Number], masked: Sequence[int]
) -> bool:
    """Whether a reduction's operand needs no mask."""
    found: dict[Node, Array | None] = {}
    needed, pending = set[Node](), [operand]
    while pending:
        node = pending.pop()
        if node not in needed:
            needed.add(node)
            pending += () if _is_load(loop, node) else node.operands
    for node in (*loop.reread, *loop.computed):
        if node in needed:
            found[node] = _outside(loop, node, found, paddings, masked)
    value, neutral = found.get(operand), outside(reduction.op).array
    if value is None:
        return False
    if isinstance(reduction.op, tensor.ReduceSum):
        return bool(value == 0)
    return value.tobytes() == neutral.tobytes()


def _is_load(loop: Loop, node: Node) -> bool:
    return node.access is not None or node in loop.reread


def _outside(
    loop: Loop,
    node: Node,
    found: dict[Node, Array | None],
    paddings: dict[Node, Number],
    masked: Sequence[int],
) -> Array | None:
    """What a node's tile holds outside, if that is one number."""
    if _is_load(loop, node):
        ends_there = {*masked} <= node.varies
        if node.access is not None and node.access.padding is not None:
            return None  # it ends elsewhere
        return paddings[node].array if ends_there else None
    op: Any = node.op
    if isinstance(op, tensor.Constant):
        return np.asarray(op.value.array.reshape(-1)[0]) if op.value.array.size else None
    if isinstance(op, tensor.Iota | tensor.Dim):
        return None
    operands = [found.get(each) for each in node.operands]
    if any(each is None for each in operands):
        return None
    if isinstance(op, tensor.Broadcast):
        return operands[0]
    with np.errstate(all="ignore"):
        return np.asarray(op.run(None, *operands))
