"""The quick way into a compiled function: for computed tensors, numbers, host arrays, what Python
reads while tracing, and trees of these.

Comes in: arguments as a user gives them. Goes out: a hashable kind of all of them, and the buffers
of the tensors, in pieces; what is equal here is equal where arguments are taken apart as a whole.
Never: a tensor kept, or a lazy tree looked into. Of the trees that a function was given, their
structures are remembered, and of the tensors the numbers of their nodes: a node has one type for
good, and one that loses its buffer gets another number. Python's numbers are kept, the latest for
each place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from ..runtime.device import current_device
from .arguments import Roles, Static, from_host, is_of_host, number_class
from .bundle import Kind, kind_of
from .functions.common import NUMBER_TYPES
from .handle import Handle
from .lazy import LazyDict, LazyList, bundle_of
from .node import Node
from .readers import reader
from .sizes import whole
from .tree import LEAF, Structure, container_of, flatten

_TREES_AT_MOST = 4
_CHILDREN_AT_MOST = 32
"""Containers of more children are read as a whole, or not the quick way."""
Found = tuple[Kind, Sequence[Any]]
Given = tuple[tuple[Any, ...] | None, Any, list[Sequence[Any]]]
"""A kind, a device, buffers in pieces."""
_Into = tuple[list[Any], list[Sequence[Any]], list[tuple[int, int, Any]], bool]
"""What has been taken of a call so far: kinds, buffers in pieces, numbers and arrays of the host
with their places; and whether trees like these are to be known from now on."""


class Quick:
    """What one function has been given: for each place, what the latest trees were like."""

    __slots__ = ("_known", "_marked", "_numbers")

    def __init__(self, roles: Roles) -> None:
        self._known: dict[int, tuple[_Known, ...]] = {}
        self._marked = roles.marked if roles.static or roles.static_names else None
        self._numbers: dict[int, Uploaded] | None = None if roles.donates else {}

    def kind(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], learning: bool = False
    ) -> Given:
        """The kind of the arguments, None where they must be taken apart; their device; and their
        buffers, in pieces. With `learning`, trees like theirs are known from now on."""
        if self._marked is not None:
            args, kwargs = self._marked(args, kwargs)
        kinds, pieces, of_host, _ = into = [], [], [], learning
        try:
            device = self._take(args, into, None)
            if kwargs:
                kinds.append(tuple(kwargs))
                device = self._take(kwargs.values(), into, device)
        except _Apart:
            return None, None, pieces
        if of_host:
            device = device or current_device()
            self._upload(into, device)
        # There is one device of each name, for good; its own hash takes longer.
        kinds.append(id(device or current_device()))
        return tuple(kinds), device, pieces

    def _take(self, trees: Iterable[Any], into: _Into, device: Any) -> Any:
        """Put the kinds of trees behind others, which are of a device, and their buffers; the
        device of all."""
        kinds, pieces, _, _ = into
        for tree in trees:
            cls = type(tree)  # `isinstance` would look into a lazy tree
            bundle = tree.bundle if cls is LazyDict or cls is LazyList else None
            if bundle is None and issubclass(cls, Handle):
                node = tree.node
                kind, buffer, own = node.type, node.buffer, node.device
                buffers = None if buffer is None or node.tracked else (buffer,)
            else:
                bundle = bundle or bundle_of(tree)
                if bundle is None:
                    device = self._take_other(tree, into, device)
                    continue
                kind, buffers = bundle.kind, bundle.buffers
                own = kind.device
            if buffers is None:
                raise _Apart
            if own is not device:
                device = _common(device, own)
            kinds.append(kind)
            pieces.append(buffers)
        return device

    def _take_other(self, tree: Any, into: _Into, device: Any) -> Any:
        """The same for what is neither a tensor nor a lazy tree."""
        kinds, pieces, of_host, learning = into
        tree = whole(tree)
        found = self._found(len(kinds), tree) if len(kinds) in self._known else None
        if found is None and is_of_host(tree):  # for which there is a place until all are known
            of_host.append((len(kinds), len(pieces), tree))
            kinds.append(None)
            pieces.append(())
            return device
        if found is None and learning:
            found = self._learned(len(kinds), tree)
        if found is None:
            return self._take_apart(tree, into, device)
        kind, buffers = found
        kinds.append(kind)
        pieces.append(buffers)
        return _common(device, kind.device)

    def _take_apart(self, tree: Any, into: _Into, device: Any) -> Any:
        """The same for a container of anything, child by child, and for what Python reads."""
        cls = dict if isinstance(tree, dict) else tree.__class__
        container = None if cls is Static else container_of(cls)
        if container is None:
            into[0].append(_key(tree if cls is Static else Static(tree)))
            return device
        children, static = container.open(tree)
        if len(children) > _CHILDREN_AT_MOST:
            raise _Apart
        into[0].append(_key((cls, static, len(children))))
        return self._take(children, into, device)

    def _found(self, place: int, tree: Any) -> Found | None:
        """The kind of a tree that somebody has looked into, and its buffers."""
        for known in self._known.get(place, ()):
            found = known.look(tree)
            if found is not None:
                return found
        return None

    def finder(self, structure: Structure) -> Callable[[Any], Found | None] | None:
        """What finds the kind and the buffers of trees of a structure that is known."""
        listed = chain.from_iterable([*self._known.values()])
        return next((each.look for each in listed if each.structure is structure), None)

    def _learned(self, place: int, tree: Any) -> Found | None:
        """The same of one to be known from now on."""
        structure = _structure(tree)
        if structure is None:
            return None
        known = self._known.get(place, ())
        self._known[place] = (_Known(structure), *known)[:_TREES_AT_MOST]
        return self._found(place, tree)

    def _upload(self, into: _Into, device: Any) -> None:
        """Bring numbers and arrays of the host to a device, where all others are."""
        kinds, pieces, of_host, _ = into
        for at, place, value in of_host:
            made = self.uploaded(at, value, device)
            kinds[at] = number_class(value) or made.type
            pieces[place] = (made.buffer,)

    def uploaded(self, at: int, value: Any, device: Any) -> Uploaded:
        """The number or the array at a place, on a device."""
        latest = self._numbers.get(at) if self._numbers else None
        if latest is None or latest.value is not value or latest.device is not device:
            latest = Uploaded(value, device, *from_host(value, device))
            if self._numbers is not None and type(value) in NUMBER_TYPES:
                self._numbers[at] = latest
        return latest


class _Apart(Exception):
    """Arguments that must be taken apart."""


class Uploaded(NamedTuple):
    """A number, or an array, and its copy on a device; a number is often the same one again."""

    value: Any
    device: Any
    type: Any
    buffer: Any


def _common(one: Any, other: Any) -> Any:
    """The one device of both, if there is one."""
    if one is not other and one is not None and other is not None:
        raise _Apart
    return other if one is None else one


def _key(kind: Any) -> Any:
    """The kind of what has no buffer."""
    try:
        hash(kind)
    except TypeError:  # of which taking all apart tells the user
        raise _Apart from None
    return kind


class _Known:
    """A structure, and of what kind its latest leaves were."""

    __slots__ = ("latest", "read", "structure")

    def __init__(self, structure: Structure) -> None:
        self.structure, self.read = structure, reader(structure)
        self.latest: tuple[list[int] | None, Kind | None] = None, None

    def look(self, tree: Any) -> Found | None:
        """The kind of a tree, if it is of this structure and its leaves are computed tensors, and
        their buffers."""
        leaves: list[Any] = []
        return self._found(leaves) if self.read(tree, leaves) else None

    def _found(self, leaves: list[Any]) -> Found | None:
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


def _structure(tree: Any) -> Structure | None:
    """The structure of a container of tensors, none of which are in a lazy tree; None of what is
    anything else."""
    lazy: list[Any] = []

    def peek(part: Any) -> tuple[list[Any], Structure] | None:
        if bundle_of(part) is None:
            return None
        lazy.append(part)
        return [], LEAF

    leaves, structure = flatten(tree, peek)
    are_tensors = all([issubclass(type(leaf), Handle) for leaf in leaves])
    return structure if structure is not LEAF and are_tensors and not lazy else None
