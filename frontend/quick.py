"""The quick way into a compiled function: for computed tensors, and trees of nothing else.

Comes in: positional arguments as a user gives them. Goes out: a hashable kind of all of them, and
their buffers, in pieces.
Never: a tensor kept. Of the trees that a function was given, their structures are remembered, and
of the tensors the numbers of their nodes: a node has one type for good, and one that loses its
buffer gets another number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .bundle import Kind, bundle_of, kind_of
from .handle import Handle
from .node import Node
from .readers import reader
from .tree import LEAF, Structure

_TREES_AT_MOST = 4
Found = tuple[Kind, Sequence[Any]]
Given = tuple[tuple[Any, ...] | None, Any, list[Sequence[Any]]]
"""A kind, a device, buffers in pieces."""


class Quick:
    """What one function has been given: for each place, what the latest trees were like."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[_Known, ...]] = {}

    def learn(self, structures: Sequence[Structure]) -> None:
        """Expect trees of these structures, one for each positional argument."""
        for place, structure in enumerate(structures):
            known = self._known.get(place, ())
            if structure is not LEAF and all([each.structure is not structure for each in known]):
                self._known[place] = (_Known(structure), *known)[:_TREES_AT_MOST]

    def kind(self, args: tuple[Any, ...]) -> Given:
        """The kind of the arguments, None where they must be taken apart; their device; and their
        buffers, in pieces."""
        kinds: list[Any] = []
        pieces: list[Sequence[Any]] = []
        common: Any = None
        for place, arg in enumerate(args):
            if issubclass(type(arg), Handle):  # `isinstance` would look into a lazy tree
                node = arg.node
                if node.buffer is None or node.tracked:
                    return None, None, pieces
                kind, device = node.type, node.device
                pieces.append((node.buffer,))
            else:
                bundle = bundle_of(arg)
                known = (bundle.kind, bundle.buffers) if bundle else self._found(place, arg)
                kind, buffers = known
                if buffers is None:
                    return None, None, pieces
                device = kind.device
                pieces.append(buffers)
            if device is not common and device is not None:
                if common is not None:
                    return None, None, pieces
                common = device
            kinds.append(kind)
        kinds.append(id(common))  # there is one of each name, for good; its own hash takes longer
        return tuple(kinds), common, pieces

    def _found(self, place: int, tree: Any) -> Found | tuple[Any, None]:
        """The kind of a tree that somebody has looked into, and its buffers."""
        for known in self._known.get(place, ()):
            leaves: list[Any] = []
            if known.read(tree, leaves):
                return known.found(leaves) or (None, None)
        return None, None


class _Known:
    """A structure, and of what kind its latest leaves were."""

    __slots__ = ("latest", "read", "structure")

    def __init__(self, structure: Structure) -> None:
        self.structure, self.read = structure, reader(structure)
        self.latest: tuple[list[int] | None, Kind | None] = None, None

    def found(self, leaves: list[Any]) -> Found | None:
        """The kind of these leaves, if they are computed tensors, and their buffers."""
        try:
            buffers = [leaf.node.buffer for leaf in leaves]
            serials = [leaf.node.serial for leaf in leaves]  # read last: they tell of the buffers
        except AttributeError:  # no tensor
            return None
        latest, kind = self.latest
        if latest != serials:  # else all are computed: who loses his buffer gets a new number
            if any([buffer is None for buffer in buffers]):  # to be computed, or given away
                return None
            kind = _new_kind(self.structure, leaves)
            self.latest = serials, kind
        return None if kind is None else (kind, buffers)


def _new_kind(structure: Structure, leaves: list[Any]) -> Kind | None:
    if not all([isinstance(leaf, Handle) for leaf in leaves]):
        return None
    nodes: list[Node] = [leaf.node for leaf in leaves]
    device = nodes[0].device if nodes else None
    if any([node.tracked or node.device is not device for node in nodes]):
        return None
    return kind_of(structure, tuple([node.type for node in nodes]), device)
