"""Funcs and modules, and the two ops every dialect ends its blocks with.

Comes in: a name, the symbolic dims it is written in, the types of its arguments. Goes out: a
`Func`, whose body is one block that ends in `return`; a `Module` of funcs with distinct names.
Never: a target, a device, a schedule's meaning; settings are kept as `attributes`, uninterpreted.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .attributes import Frozen
from .declare import Op, Operands
from .dims import Symbol
from .locations import UNKNOWN, Location
from .types import Type
from .values import AnyValue, Block
from .values import Op as BareOp


class Return(Op, name="return", terminator=True):
    """Leave the func with these values."""

    values: Operands[Type]


class Yield(Op, name="yield", terminator=True):
    """Leave the region with these values."""

    values: Operands[Type]


class Func:
    """A named function: symbolic dims, arguments, one block."""

    __slots__ = ("attributes", "body", "location", "name", "symbols")

    def __init__(
        self,
        name: str,
        types: Iterable[Type] = (),
        symbols: Iterable[Symbol] = (),
        attributes: Mapping[str, Any] | None = None,
        location: Location = UNKNOWN,
    ) -> None:
        self.name = name
        self.symbols: tuple[Symbol, ...] = tuple(symbols)
        self.body = Block(types, self)
        self.attributes = Frozen(attributes or {})
        self.location = location

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
        return self.body.walk()

    def __repr__(self) -> str:
        return f"<func @{self.name}>"


class Module:
    """Funcs by name, in order."""

    __slots__ = ("funcs",)

    def __init__(self, funcs: Iterable[Func] = ()) -> None:
        self.funcs: dict[str, Func] = {}
        for func in funcs:
            self.add(func)

    def add(self, func: Func) -> Func:
        """One func more; its name must be new."""
        if func.name in self.funcs:
            raise ValueError(f"the module has a func @{func.name} already")
        self.funcs[func.name] = func
        return func

    @property
    def main(self) -> Func:
        """The first func."""
        return next(iter(self.funcs.values()))

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
        if parent.block is None:
            return None
        parent = parent.block.parent
    return parent
