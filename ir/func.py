"""Funcs and modules, and the two ops every dialect ends its blocks with.

Comes in: a name, the types of the arguments, the symbolic dims they are written in. Goes out: a
`Func`, whose body is one block that ends in `return`; a `Module` of funcs with distinct names.
Never: a target, a device, a schedule's meaning; settings are kept as `attributes`, uninterpreted.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any

from .attributes import MAPPING, Frozen
from .declare import BareOp, Op, Operands
from .dims import Symbol
from .locations import UNKNOWN, Location
from .types import Type
from .values import AnyValue, Block, walk


class Return(Op, name="return", terminator=True):
    """Leave the func with these values."""

    values: Operands[Type]


class Yield(Op, name="yield", terminator=True):
    """Leave the region with these values."""

    values: Operands[Type]


@dataclass(slots=True, eq=False, repr=False)
class Func:
    """A named function: symbolic dims, settings, and one block, whose arguments are the func's."""

    name: str
    types: InitVar[Iterable[Type]] = ()
    symbols: tuple[Symbol, ...] = ()
    attributes: Mapping[str, Any] = Frozen({})
    location: Location = UNKNOWN
    body: Block = field(init=False)

    def __post_init__(self, types: Iterable[Type]) -> None:
        self.attributes = MAPPING.normalise(self.attributes)
        self.body = Block(types, self)

    @property
    def arguments(self) -> tuple[AnyValue, ...]:
        """The arguments of the body."""
        return self.body.arguments

    @property
    def results(self) -> tuple[AnyValue, ...]:
        """The values that `return` hands back."""
        return self.body.terminator.operands

    def walk(self) -> Iterator[BareOp]:
        """Every op, outside first, in program order."""
        return walk(self.body)

    def __repr__(self) -> str:
        return f"<func @{self.name}>"


class Module:
    """Funcs by name, in order."""

    def __init__(self, funcs: Iterable[Func] = ()) -> None:
        self.funcs: dict[str, Func] = {}
        for func in funcs:
            self.add(func)

    def add(self, func: Func) -> Func:
        """One func more; its name must be new."""
        if self.funcs.setdefault(func.name, func) is not func:
            raise ValueError(f"the module has a func @{func.name} already")
        return func

    @property
    def main(self) -> Func:
        """The first func."""
        return next(iter(self))

    def __iter__(self) -> Iterator[Func]:
        return iter(self.funcs.values())

    def __getitem__(self, name: str) -> Func:
        return self.funcs[name]

    def __len__(self) -> int:
        return len(self.funcs)


def func_of(block: Block) -> Func | None:
    """The func that a block, however deep, belongs to."""
    parent = block.parent
    while isinstance(parent, BareOp):
        parent = parent.block.parent if parent.block is not None else None
    return parent
