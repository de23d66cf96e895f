"""What each thread has recorded and nobody has computed yet, as far as somebody still holds it.

Comes in: weak references to handles. Goes out: the nodes that are still wanted. When memory is
short they are computed unasked, since what is recorded keeps all that it reads.
Never: a handle kept alive, or a computation while a function is traced.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from operator import attrgetter
from threading import local
from typing import TYPE_CHECKING
from weakref import ref

from ..runtime import memory
from ..runtime.device import chosen_device, default_device
from .errors import BrimstoneError
from .trace import current_trace

if TYPE_CHECKING:
    from .handle import Handle
    from .node import Node

COMPACT_AT = 4096


class _Pending(local):
    """The handles that this thread has made of what is not computed yet; and those of what was to
    be computed, and may not be, since something failed: that waits until somebody reads it."""

    def __init__(self) -> None:
        self.handles: list[ref[Handle]] = []
        self.taken: list[ref[Handle]] = []
        self.compact_at = COMPACT_AT


PENDING = _Pending()


def remember(handle: ref[Handle]) -> None:
    """Note the handle of a tensor that is not computed yet."""
    handles = PENDING.handles
    handles.append(handle)
    if len(handles) > PENDING.compact_at:
        is_some = bool(live())
        PENDING.compact_at = max(COMPACT_AT, 2 * len(handles))
        if is_some and current_trace() is None and memory.short():
            _relieve()


def _relieve() -> None:
    """Compute what is pending; what fails is reported when it is read, and the newest does not wait
    for it."""
    from .force import force  # which stands on this module

    with suppress(BrimstoneError):
        force(*live()[-1:])


def live() -> list[Node]:
    """What this thread has recorded, somebody holds, and nobody has computed."""
    return _live(PENDING.handles)


def _live(handles: list[ref[Handle]]) -> list[Node]:
    """The nodes of handles that somebody holds, and nobody has computed; the others are let go."""
    seen = [*handles]
    pairs = [(each, held) for each in seen if (held := each()) is not None and held.pending]
    gone = {id(each) for each in seen}.difference([id(handle) for handle, _ in pairs])
    # A handler of signals may have added some, and looked, meanwhile.
    handles[:] = [each for each in handles if id(each) not in gone]
    return [held.node for _, held in pairs]


def readers_of(leaves: Collection[Node]) -> list[Node]:
    """What this thread has recorded, live or taken before, that reads one of these leaves, or what
    is made of it."""
    if not leaves:
        return []
    wanted = [*live(), *_live(PENDING.taken)]
    left, oldest = list(wanted), min([leaf.serial for leaf in leaves])
    younger: set[Node] = set()
    while left:
        node = left.pop()
        if node.serial > oldest and node not in younger:  # what is older reads none of them
            younger.add(node)
            left += node.operands
    reading = {*leaves}
    for node in sorted(younger, key=attrgetter("serial")):
        if not reading.isdisjoint(node.operands):
            reading.add(node)
    return [node for node in wanted if node in reading]


def take() -> list[Node]:
    """What is live, and from now on no more: it is going to be computed.

    What lives on no device yet was made where none is named. In a block that names another one than
    the usual it stays, or it would be there for good.
    """
    nodes, handles, taken, chosen = live(), PENDING.handles, PENDING.taken, chosen_device()
    _live(taken)  # what is computed by now is let go
    if chosen is None or chosen is default_device():
        taken += handles
        handles.clear()
        return nodes
    staying = {node for node in nodes if node.device is None}
    of_all, handles[:] = [*handles], []
    for each in of_all:
        held = each()
        (handles if held is not None and held.node in staying else taken).append(each)
    return [node for node in nodes if node not in staying]
