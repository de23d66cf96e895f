"""A func as a graph of nodes that compute, joined by reads through views.

Comes in: what `nodes` finds in a func. Goes out: a `Graph`: a `Node` for each op that computes,
whose axes are leaves that all nodes share, so that nodes which traverse the same axes say so; and
the `Read`s between them. A read at another place than its reader's own is `cut`: what it reads must
be in memory.
Never: a kernel; which nodes share one is decided later. Constants and counters belong to no node.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dims import Symbol
from ...ir.func import Func
from ...ir.locations import Location
from ...ir.payloads import Payload
from ...ir.tensor.elementwise import Elementwise
from ...ir.values import AnyValue, Op
from .axes import Axes, Group, Groups
from .refuse import Refuse

MAPS = (Elementwise, tensor.Select, tensor.Cast, tensor.Bitcast)


class Kind(Enum):
    """What a node does with the places of its axes."""

    MAP = "map"
    REDUCTION = "reduction"
    COPY = "copy"
    FILL = "fill"
    PRODUCT = "product"
    ALONE = "alone"


@dataclass(eq=False, slots=True)
class Source:
    """A value that is computed by a node, or an argument; or the memory of another in a `shape`
    that its axes do not show. One that is `pinned` is read from memory at other places."""

    value: AnyValue
    groups: Groups
    node: "Node | None" = None
    memory: "Source | None" = None
    readers: list["Node"] = field(default_factory=lambda: [])
    leaves: Group = ()
    returned: bool = False
    pinned: bool = False

    @property
    def shape(self) -> Shape:
        """The shape in which the value is known."""
        return self.value.type.shape

    @property
    def root(self) -> "Source":
        """What was computed, or the argument."""
        return self if self.memory is None else self.memory


@dataclass(eq=False, slots=True)
class Read:
    """What a node reads: a source, seen in the axes `start`, through a chain of views that ends in
    the axes `groups`; or, without a source, a constant or a counter (`given`)."""

    chain: tuple[Op, ...]
    start: Groups
    groups: Groups
    source: Source | None = None
    given: Op | None = None
    cut: Refuse | None = None


@dataclass(eq=False, slots=True)
class Node:
    """One op, or (without one) a copy of what it reads; `groups` are the axes over which it runs,
    `reduced` those of them that its result does not have. It runs when what it `waits` for is
    there, which it need not read."""

    number: int
    kind: Kind
    op: Op | None
    location: Location
    reads: list[Read] = field(default_factory=lambda: [])
    makes: list[Source] = field(default_factory=lambda: [])
    groups: Groups = ()
    reduced: Group = ()
    leaves: Group = ()
    filled: Payload | None = None
    waits: list[Source] = field(default_factory=lambda: [])


@dataclass(slots=True)
class Graph:
    """The nodes in program order, what the func takes and returns, and places of its symbols."""

    func: Func
    axes: Axes
    nodes: list[Node]
    arguments: list[Source]
    results: list[Source]
    places: Mapping[Symbol, int] = field(init=False)

    def __post_init__(self) -> None:
        self.places = {symbol: place for place, symbol in enumerate(self.func.symbols)}
