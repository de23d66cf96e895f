"""`loss.backward()`: gradients of what has been computed, with respect to what asked for them.

Comes in: a tensor with a history. Goes out: `Gradients`, a table from tensors to their gradients.
Never: a change to a tensor, so that many threads can do this to one model at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from ..ir import dtypes as ir
from ..ir import tensor as ops
from .errors import DifferentiationError, ShapeError, fail
from .force import force
from .functions.common import filled
from .grad import checked, conjugated
from .handle import Handle, wrap
from .history import Segment
from .node import Node, record
from .recording import func_of, gather, gathering
from .trace import refuse_value
from .tree import tree_map

if TYPE_CHECKING:
    from .tensor import Tensor


class Gradients:
    """The gradient for each tensor that asked for one: `gradients[weight]`."""

    def __init__(self, found: dict[Node, Tensor]) -> None:
        self._found = found

    def __getitem__(self, tensor: Tensor) -> Tensor:
        found = self.get(tensor)
        if found is None:
            fail(
                DifferentiationError, "gradients", "the tensor has no gradient here", tensor,
                hint="only tensors made with requires_grad=True that the loss depends on have one",
            )  # fmt: skip
        return found

    def get(self, tensor: Handle, default: Any = None) -> Tensor | Any:
        """The gradient of a tensor, or `default` where the loss does not depend on it."""
        return self._found.get(tensor.node, default)

    def of(self, tree: Any) -> Any:
        """A tree of gradients like a tree of tensors, with None where there is none."""
        return tree_map(lambda leaf: self.get(leaf) if isinstance(leaf, Handle) else None, tree)

    def __contains__(self, tensor: Tensor) -> bool:
        return tensor.node in self._found

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    def __deepcopy__(self, memo: Any) -> Gradients:
        """Of the same tensors: neither they nor their gradients change."""
        return Gradients(dict(self._found))

    def __repr__(self) -> str:
        return f"<gradients of {len(self)} tensors>"


def backward(loss: Tensor, gradient: Any = None) -> Gradients:
    """The gradients of `loss`, or of the sum of `loss * gradient` where it is not one number."""
    node = loss.node
    if node.trace is not None:
        refuse_value(node, "backward")
    if not node.tracked:
        fail(
            DifferentiationError, "backward", "the tensor has no history", loss,
            hint="make a parameter with requires_grad=True before computing with it",
        )  # fmt: skip
    found = _flow(node, _seed(loss, gradient))
    # One step computes the loss and the gradients, if the loss was still to be computed.
    force(node, *found.values(), recompute=True)
    return Gradients({each: wrap(gradient) for each, gradient in found.items()})


def _seed(loss: Tensor, gradient: Any) -> Node:
    type_ = loss.node.type
    if gradient is not None:
        return conjugated([checked("backward", gradient, loss.node)])[0]
    if type_.shape or type_.dtype not in ir.FLOATS:
        fail(
            ShapeError, "backward", "the tensor is not one float", loss,
            hint="reduce it with `.sum()` or `.mean()`, or give `gradient=`",
        )  # fmt: skip
    return filled(1, (), type_.dtype)


def _flow(node: Node, seed: Node) -> dict[Node, Node]:
    """Cotangents from segment to segment, the latest first, until only parameters are left."""
    found: dict[Node, Node] = {}
    arrived: dict[Segment, dict[int, Node]] = {}
    waiting: list[tuple[int, int, Segment]] = []

    def arrive(at: Node, cotangent: Node) -> None:
        if at.history is None and at.buffer is not None:
            found[at] = _sum(found.get(at), cotangent)
            return
        segment, place = at.history or (_segment_of(at), 0)
        if segment not in arrived:
            arrived[segment] = {}
            heappush(waiting, (-segment.serial, id(segment), segment))
        arrived[segment][place] = _sum(arrived[segment].get(place), cotangent)

    arrive(node, seed)
    while waiting:
        segment = heappop(waiting)[2]
        for at, cotangent in zip(
            segment.tracked, segment.pull_back(arrived.pop(segment)), strict=True
        ):
            arrive(at, cotangent)
    pairs = zip(found, conjugated(list(found.values())), strict=True)
    return {at: _untracked(cotangent) for at, cotangent in pairs}


def _segment_of(node: Node) -> Segment:
    """What a tensor that is still to be computed comes from."""
    with gathering():
        recording = gather([node])
        return Segment(recording, func_of(recording))


def _sum(one: Node | None, other: Node) -> Node:
    return other if one is None else record(ops.Add, (one, other))


def _untracked(node: Node) -> Node:
    node.tracked = False
    return node
