"""Values, ops and blocks: the mutable graph that passes rewrite.

Comes in: ops made by the builder or the parser. Goes out: one program in SSA form. Always true:
`value.uses` holds exactly the ops that read the value; `block.numbering` finds its pure ops by
`identity`; `op.order` grows along a block. Never: a rule of a dialect (`declare` takes those).
"""

from collections.abc import Iterable, Iterator
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, Union

from .attributes import Shape
from .dtypes import DType
from .locations import Location
from .shared.operands import MANY, Places, exchanged
from .types import Shaped, Type

if TYPE_CHECKING:
    from .func import Func

T = TypeVar("T", bound=Type, covariant=True)
Key = tuple[type["Op"], tuple["Value[Any]", ...], tuple[Any, ...]]
Parent = Union["Op", "Func", None]
ORDER_GAP, ORDER_STEP = 1 << 40, 1 << 20


class Value(Generic[T]):
    """A result of an op, or an argument of a block; `name` is only a hint for the printer."""

    __slots__ = ("index", "name", "owner", "type", "uses")

    def __init__(self, type_: T, owner: "Op | Block", index: int, name: str | None = None) -> None:
        self.type, self.owner, self.index, self.name = type_, owner, index, name
        self.uses: dict[Op, None] = {}

    @property
    def shape(self: "Value[Shaped]") -> Shape:
        """The shape of a shaped type."""
        return self.type.shape

    @property
    def dtype(self) -> DType:
        """The element type, of a type that has one."""
        return self.type.dtype  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]

    @property
    def op(self) -> "Op | None":
        """The op that makes this value; None for the argument of a block."""
        return self.owner if isinstance(self.owner, Op) else None

    @property
    def block(self) -> "Block | None":
        """The block in which this value is made."""
        return self.owner.block if isinstance(self.owner, Op) else self.owner

    def __repr__(self) -> str:
        return f"%{self.name or self.index}: {self.type.text}"


AnyValue = Value[Any]


@dataclass(slots=True, eq=False, repr=False)
class Op:
    """One operation, exactly as stated, in no block yet; what it is its class says."""

    operands: tuple[AnyValue, ...]
    attributes: tuple[Any, ...]  # the canonical values, in the declared order
    types: InitVar[Iterable[Type]]
    regions: tuple["Block", ...]  # one block each
    location: Location
    results: tuple[AnyValue, ...] = field(init=False)
    block: "Block | None" = field(default=None, init=False)
    previous: "Op | None" = field(default=None, init=False)
    next: "Op | None" = field(default=None, init=False)
    order: int = field(default=0, init=False)

    name: ClassVar[str] = ""
    numbered: ClassVar[bool] = False
    pure: ClassVar[bool] = True
    terminator: ClassVar[bool] = False
    foldable: ClassVar[bool] = False
    is_constant: ClassVar[bool] = False

    def __post_init__(self, types: Iterable[Type]) -> None:
        self.results = tuple([Value(type_, self, place) for place, type_ in enumerate(types)])
        for operand in self.operands:
            operand.uses[self] = None
        for region in self.regions:
            region.parent = self

    @property
    def identity(self) -> Key:
        """What makes two numbered ops of a block the same op."""
        return (self.__class__, self.operands, self.attributes)

    @property
    def unused(self) -> bool:
        """Whether nobody reads a result."""
        return not any([result.uses for result in self.results])

    def precedes(self, other: "Op") -> bool:
        """Whether this op comes before `other`, which may lie deeper inside a later op."""
        at: Op | None = other
        while at is not None and at.block is not self.block:
            at = at.block.parent_op if at.block is not None else None
        return at is not None and self.order < at.order

    def set_operands(self, operands: tuple[AnyValue, ...]) -> None:
        """Read other values; an op that so becomes equal to another is not merged with it."""
        self.unlink()
        for operand in self.operands:
            operand.uses.pop(self, None)
        for operand in operands:
            operand.uses[self] = None
        self.operands = operands
        if self.block is not None:
            self.block.insert(self, self.next)

    def reread(self, old: AnyValue, new: AnyValue) -> "Op":
        """Read `new` instead of `old`; return the op that is numbered so: this one, or its twin."""
        block, operands, attributes = self.block, self.operands, self.attributes
        before = (self.__class__, operands, attributes)
        if len(operands) == 2:  # as most ops have, and this runs for every reader of every rewrite
            left, right = operands
            operands = (new if left is old else left, new if right is old else right)
        elif len(operands) < MANY or block is None:
            operands = tuple([new if operand is old else operand for operand in operands])
        else:
            operands = exchanged(block.places, self, old, new)
        self.operands = operands
        if not self.numbered or block is None:
            return self
        found = block.numbering.pop(before, self)
        if found is not self:
            block.numbering[before] = found
        return block.numbering.setdefault((self.__class__, operands, attributes), self)

    def detach(self) -> list["Op"]:
        """Take this op out of its block; whoever reads it is the caller's to redirect. The ops of
        which nobody reads some result any more are returned."""
        self.unlink()
        idle: list[Op] = []
        for op in walk([self]) if self.regions else (self,):
            op.block = None
            for operand in op.operands:
                uses = operand.uses
                uses.pop(op, None)
                if not uses and isinstance(operand.owner, Op):
                    idle.append(operand.owner)
        return idle

    def unlink(self) -> None:
        """Leave the place in the block and its numbering, for another place or for good."""
        block = self.block
        if block is not None:
            block.join(self.previous, self.next)
            block.places.pop(self, None)
            key = (self.__class__, self.operands, self.attributes)
            found = block.numbering.pop(key, self)
            if found is not self:
                block.numbering[key] = found

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Block:
    """The arguments and ops of a region or of a func's body, as a linked list."""

    __slots__ = ("arguments", "first", "last", "numbering", "parent", "places")

    is_constant: ClassVar[bool] = False

    def __init__(self, types: Iterable[Type] = (), parent: Parent = None) -> None:
        self.parent: Parent = parent
        self.arguments: tuple[AnyValue, ...] = ()
        self.first: Op | None = None
        self.last: Op | None = None
        self.numbering: dict[Key, Op] = {}
        self.places: dict[Op, Places] = {}
        self.add_arguments([(type_, None) for type_ in types])

    def add_argument(self, type_: Type, name: str | None = None) -> AnyValue:
        """One argument more, at the end."""
        return self.add_arguments([(type_, name)])[0]

    def add_arguments(self, like: Iterable[tuple[Type, str | None]]) -> tuple[AnyValue, ...]:
        """Arguments more, of these types and names."""
        numbered = enumerate(like, len(self.arguments))
        made = tuple([Value(type_, self, index, name) for index, (type_, name) in numbered])
        self.arguments += made
        return made

    @property
    def parent_op(self) -> Op | None:
        """The op this block is a region of; None for the body of a func."""
        return self.parent if isinstance(self.parent, Op) else None

    @property
    def terminator(self) -> Op:
        """The last op."""
        if self.last is None:
            raise ValueError("an empty block has no terminator")
        return self.last

    def __iter__(self) -> Iterator[Op]:
        op = self.first
        while op is not None:
            following = op.next
            yield op
            op = following

    def insert(self, op: Op, before: Op | None = None) -> None:
        """Put a detached op before another of this block, or at the end, and number it."""
        previous = self.last if before is None else before.previous
        low = previous.order if previous is not None else 0
        # A small step leaves room for many more ops before the same one.
        step = ORDER_GAP if before is None else min(ORDER_STEP, (before.order - low) // 2)
        op.block, op.order = self, low + step
        self.join(previous, op)
        self.join(op, before)
        if not step:
            for place, each in enumerate(self, 1):
                each.order = place * ORDER_GAP
        if op.numbered:
            self.numbering.setdefault(op.identity, op)

    def join(self, one: Op | None, other: Op | None) -> None:
        """Let one op follow the other; None stands for what is outside of the block."""
        if one is None:
            self.first = other
        else:
            one.next = other
        if other is None:
            self.last = one
        else:
            other.previous = one

    def move(self, op: Op, before: Op) -> None:
        """Put an op, of this block or another, before one of this block."""
        op.unlink()
        self.insert(op, before)


def walk(ops: Iterable[Op]) -> Iterator[Op]:
    """These ops and every op inside their regions, outside first, in program order."""
    pending = [iter(ops)]
    while pending:
        for op in pending[-1]:
            yield op
            if op.regions:
                pending += [iter(region) for region in reversed(op.regions)]
                break
        else:
            pending.pop()


def replace(old: AnyValue, new: AnyValue) -> dict[Op, None]:
    """Let every reader of `old` read `new`; a reader that so becomes equal to another op of its
    block merges with it, and so on. The ops whose operands changed are returned."""
    touched: dict[Op, None] = {}
    pending = [(old, new)]
    for was, now in pending:  # which grows meanwhile
        readers, was.uses = was.uses, {}
        for reader in readers:
            now.uses[reader] = touched[reader] = None
            twin = reader.reread(was, now)
            if twin is not reader:  # it may be the very op that makes `old`
                pending += [*_merge(reader, twin), (old, new)]
    return touched


def _merge(one: Op, other: Op) -> Iterable[tuple[AnyValue, AnyValue]]:
    """Two equal ops of a block become the earlier one, which then stands for both lines."""
    first, second = (one, other) if one.order < other.order else (other, one)
    assert first.block is not None
    first.location = first.location.union(second.location)
    second.detach()
    first.block.numbering[first.identity] = first
    return zip(second.results, first.results, strict=True)
