"""The handle that users hold on a node; `Tensor` is its only subclass, and has the methods.

Comes in: nodes. Goes out: tensors.
Never: a method that a user calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast
from weakref import ref

from ..ir.tensor import Constant
from .node import Leaf, Node, own_constant
from .pending import remember

if TYPE_CHECKING:
    from .tensor import Tensor


class Handle:
    """What a tensor is, below its methods: a node, which a buffer may come to hold."""

    __slots__ = ("__weakref__", "node")

    node: Node
    kind: ClassVar[type[Tensor]]

    def __init_subclass__(cls) -> None:
        Handle.kind = cast(Any, cls)

    @property
    def pending(self) -> bool:
        """Whether the value is still to be computed."""
        return self.node.buffer is None and self.node.cls is not Leaf

    @property
    def donated(self) -> bool:
        """Whether the value is gone: its memory is another's now."""
        return self.node.buffer is None and self.node.cls is Leaf


_make = object.__new__


def held(node: Node) -> Tensor:
    """The tensor that is a handle on a node which holds a buffer, made where there are others."""
    made = _make(Handle.kind)
    made.node = node
    return made


def wrap(node: Node) -> Tensor:
    """The tensor that is a handle on a node; what is not computed yet is remembered."""
    try:
        made = _make(Handle.kind)
    except AttributeError:  # the first tensor of all: its class is not loaded yet
        from .tensor import Tensor

        made = _make(Tensor)
    if node.cls is Constant:
        node = own_constant(node)
    made.node = node
    if node.buffer is None and node.trace is None:
        remember(ref(made))
    return made
