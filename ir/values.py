"""Values, ops and blocks: the mutable graph that passes rewrite.

Comes in: ops made by the builder or the parser. Goes out: one program in SSA form, in which every
value knows its readers, every op its place, and equal pure ops of a block are one op.
Never: a rule of a dialect; those are declared in `declare` and stand with the dialect's ops.

Invariants: `value.uses` holds exactly the ops that read the value; `block.numbering` holds each
pure op of the block under `(class, operands, attributes)`; `op.order` grows along a block.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, Union

from .attributes import Shape
from .dtypes import DType
from .locations import Location
from .types import Shaped, Type

if TYPE_CHECKING:
    from .func import Func

T = TypeVar("T", bound=Type, covariant=True)
Key = tuple[type["Op"], tuple["Value[Any]", ...], tuple[Any, ...]]
ORDER_GAP = 1 << 40
ORDER_STEP = 1 << 20


class Value(Generic[T]):
    """A result of an op, or an argument of a block; `name` is only a hint for the printer."""

    __slots__ = ("index", "name", "owner", "type", "uses")

    def __init__(self, type_: T, owner: "Op | Block", index: int, name: str | None = None) -> None:
        self.type = type_
        self.owner: Op | Block = owner
        self.index = index
        self.name = name
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


class Op:
    """One operation; its class says what it is, see `declare`.

    `attributes` are the canonical values, in the declared order; `regions` one block each.
    """

    __slots__ = (
        "attributes", "block", "location", "next", "operands",
        "order", "previous", "regions", "results",
    )  # fmt: skip

    name: ClassVar[str] = ""
    numbered: ClassVar[bool] = False
    pure: ClassVar[bool] = True
    terminator: ClassVar[bool] = False
    foldable: ClassVar[bool] = False
    is_constant: ClassVar[bool] = False

    operands: tuple[AnyValue, ...]
    attributes: tuple[Any, ...]
    results: tuple[AnyValue, ...]
    regions: tuple["Block", ...]
    location: Location
    block: "Block | None"
    previous: "Op | None"
    next: "Op | None"
    order: int

    @property
    def identity(self) -> Key:
        """What makes two numbered ops of a block the same op."""
        return (self.__class__, self.operands, self.attributes)

    @property
    def unused(self) -> bool:
        """Whether nobody reads a result."""
        return not any(result.uses for result in self.results)

    def walk(self) -> Iterator["Op"]:
        """This op and every op inside its regions, outside first, in program order."""
        pending: list[Op] = [self]
        while pending:
            op = pending.pop()
            yield op
            for region in reversed(op.regions):
                pending.extend(region.backwards())

    def set_operands(self, operands: tuple[AnyValue, ...]) -> None:
        """Read other values, with the numbering kept true; a now equal op is not merged."""
        for operand in self.operands:
            operand.uses.pop(self, None)
        for operand in operands:
            operand.uses[self] = None
        self._change(operands, self.attributes)

    def set_attributes(self, attributes: tuple[Any, ...]) -> None:
        """Take other canonical attributes, with the numbering kept true."""
        self._change(self.operands, attributes)

    def _change(self, operands: tuple[AnyValue, ...], attributes: tuple[Any, ...]) -> None:
        block = self.block if self.numbered else None
        if block is not None and block.numbering.get(self.identity) is self:
            del block.numbering[self.identity]
        self.operands, self.attributes = operands, attributes
        if block is not None:
            block.numbering.setdefault(self.identity, self)

    def reread(self, old: AnyValue, new: AnyValue) -> "Op | None":
        """Read `new` where `old` was read; return the op of the block that this one equals now."""
        block, operands = self.block, self.operands
        before = (self.__class__, operands, self.attributes)
        if len(operands) == 2:  # as most ops have, and this runs for every reader of every rewrite
            left, right = operands
            operands = (new if left is old else left, new if right is old else right)
        else:
            operands = tuple([new if operand is old else operand for operand in operands])
        self.operands = operands
        if not self.numbered or block is None:
            return None
        numbering = block.numbering
        found = numbering.pop(before, self)
        if found is not self:
            numbering[before] = found
        twin = numbering.setdefault((self.__class__, operands, self.attributes), self)
        return None if twin is self else twin

    def erase(self) -> None:
        """Take this op, which nobody reads, out of its block, with all that its regions read."""
        if not self.unused:
            raise ValueError(f"{self.name} is erased while its results are read")
        self.detach()

    def detach(self) -> list[AnyValue]:
        """Take this op out of its block; its readers are the caller's to redirect. The values that
        nobody reads any more are returned."""
        unread = self._forget_regions() if self.regions else []
        for operand in self.operands:
            uses = operand.uses
            uses.pop(self, None)
            if not uses:
                unread.append(operand)
        block = self.block
        if block is None:
            return unread
        if self.numbered:
            key = (self.__class__, self.operands, self.attributes)
            found = block.numbering.pop(key, self)
            if found is not self:
                block.numbering[key] = found
        previous, following = self.previous, self.next
        if previous is None:
            block.first = following
        else:
            previous.next = following
        if following is None:
            block.last = previous
        else:
            following.previous = previous
        self.block = self.previous = self.next = None
        return unread

    def _forget_regions(self) -> list[AnyValue]:
        """What the regions read is not read any more."""
        unread: list[AnyValue] = []
        for inner in list(self.walk())[1:]:
            inner.block = None
            for operand in inner.operands:
                operand.uses.pop(inner, None)
                if not operand.uses:
                    unread.append(operand)
        return unread

    def precedes(self, other: "Op") -> bool:
        """Whether this op comes before `other`, which may lie deeper inside a later op."""
        at: Op | None = other
        while at is not None and at.block is not self.block:
            at = at.block.parent_op if at.block is not None else None
        return at is not None and self.order < at.order

    def __repr__(self) -> str:
        return f"<{self.name}>"


Parent = Union[Op, "Func", None]


class Block:
    """The arguments and ops of a region or of a func's body, as a linked list."""

    __slots__ = ("arguments", "first", "last", "numbering", "parent")

    is_constant: ClassVar[bool] = False

    def __init__(self, types: Iterable[Type] = (), parent: Parent = None) -> None:
        self.parent: Parent = parent
        self.arguments: tuple[AnyValue, ...] = ()
        self.first: Op | None = None
        self.last: Op | None = None
        self.numbering: dict[Key, Op] = {}
        for type_ in types:
            self.add_argument(type_)

    def add_argument(self, type_: Type, name: str | None = None) -> AnyValue:
        """One argument more, at the end."""
        value: AnyValue = Value(type_, self, len(self.arguments), name)
        self.arguments = (*self.arguments, value)
        return value

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

    def backwards(self) -> Iterator[Op]:
        """The ops from the last to the first."""
        op = self.last
        while op is not None:
            preceding = op.previous
            yield op
            op = preceding

    def walk(self) -> Iterator[Op]:
        """Every op of the block and of the regions inside, outside first, in program order."""
        for op in self:
            if op.regions:
                yield from op.walk()
            else:
                yield op

    def append(self, op: Op) -> None:
        """Put a detached op at the end, and number it."""
        last = self.last
        op.block, op.previous, op.next = self, last, None
        if last is None:
            self.first, op.order = op, ORDER_GAP
        else:
            last.next, op.order = op, last.order + ORDER_GAP
        self.last = op
        if op.numbered:
            self.numbering.setdefault((op.__class__, op.operands, op.attributes), op)

    def insert(self, op: Op, before: Op | None) -> None:
        """Put a detached op before another of this block, or at the end, and number it."""
        if before is None:
            self.append(op)
            return
        previous = before.previous
        op.block, op.previous, op.next = self, previous, before
        before.previous = op
        if previous is None:
            self.first = op
        else:
            previous.next = op
        # A small step leaves room for many more ops before the same one.
        low = previous.order if previous is not None else before.order - ORDER_GAP
        op.order = low + min(ORDER_STEP, (before.order - low) // 2)
        if op.order == low:
            self._renumber()
        if op.numbered:
            self.numbering.setdefault(op.identity, op)

    def move(self, op: Op, before: Op) -> None:
        """Put an op, of this block or another, before one of this block."""
        operands = op.operands
        op.detach()
        for operand in operands:
            operand.uses[op] = None
        self.insert(op, before)

    def _renumber(self) -> None:
        """Spread the ops' order numbers again."""
        for place, each in enumerate(self):
            each.order = (place + 1) * ORDER_GAP


def replace(old: AnyValue, new: AnyValue) -> list[Op]:
    """Let every reader of `old` read `new`; a reader that so becomes equal to another op of its
    block merges with it, and so on. The ops whose operands changed are returned."""
    touched: list[Op] = []
    forwarded: dict[AnyValue, AnyValue] = {}
    merged = [(old, new)]
    while merged:
        old, new = merged.pop()
        while new in forwarded:
            new = forwarded[new]
        forwarded[old] = new
        readers, old.uses = old.uses, {}
        for reader in readers:
            new.uses[reader] = None
            touched.append(reader)
            twin = reader.reread(old, new)
            if twin is not None:
                merged.extend(_merge(twin, reader))
    return touched


def _merge(one: Op, other: Op) -> Iterable[tuple[AnyValue, AnyValue]]:
    """Two equal ops of a block become the earlier one, which then stands for both lines."""
    first, second = (one, other) if one.order < other.order else (other, one)
    assert first.block is not None
    first.location = first.location.union(second.location)
    second.detach()
    first.block.numbering[first.identity] = first
    return zip(second.results, first.results, strict=True)
