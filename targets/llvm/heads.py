"""What is to be known of a kernel before it is launched, besides its code.

Comes in: a kernel as a tile func, or what was written of one. Goes out: a `Head`, and a func that
has it as attributes and no ops.
Never: a size; scratch memory says how much it is for any.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

from ...ir import tile
from ...ir.builder import Builder
from ...ir.dims import Size, Symbol, symbols
from ...ir.dtypes import DType
from ...ir.func import Func, Return
from ...ir.types import View
from .naming import name_of
from .sharing import chunks_of, effort_of

NO_ARGUMENT = -1


class Asked(NamedTuple):
    """A size that scratch memory asks for, and the axis of an argument that is so long; neither
    where only the step knows it."""

    symbol: Symbol
    argument: int = NO_ARGUMENT
    axis: int = NO_ARGUMENT


class Head(NamedTuple):
    """The name of a kernel's code, how much work a byte of its arrays is, how many chunks each
    thread has of a launch at most, what scratch memory it wants, and which sizes that asks for."""

    alike: str
    effort: int
    chunks: int
    scratch: tuple[tuple[Size, DType], ...] = ()
    asked: tuple[Asked, ...] = ()

    @classmethod
    def of(cls, func: Func) -> "Head":
        """That of a tile func."""
        allocated = [op for op in func.walk() if isinstance(op, tile.Scratch)]
        scratch = tuple([(prod(op.shape), op.dtype) for op in allocated])
        wanted = dict.fromkeys([symbol for count, _ in scratch for symbol in symbols(count)])
        asked = tuple([_asked(func, symbol) for symbol in wanted])
        return cls(name_of(func), effort_of(func), chunks_of(func), scratch, asked)

    @classmethod
    def written(cls, attributes: Mapping[str, Any]) -> "Head":
        """What `as_func` has written."""
        known = dict(attributes)
        scratch = zip(known.pop("scratch"), known.pop("dtypes"), strict=True)
        asked = [Asked(*each) for each in known.pop("asked")]
        return cls(**known, scratch=tuple(scratch), asked=tuple(asked))

    def as_func(self, name: str) -> Func:
        """A func of that name, whose attributes this is."""
        attributes = {
            **self._asdict(),
            "scratch": [count for count, _ in self.scratch],
            "dtypes": [dtype for _, dtype in self.scratch],
            "asked": [[*each] for each in self.asked],
        }
        made = Func(name, (), tuple([each.symbol for each in self.asked]), attributes)
        Builder(made.body).emit_all(Return, [])
        return made


def _asked(func: Func, symbol: Symbol) -> Asked:
    """Where a size is found."""
    for number, argument in enumerate(func.arguments):
        known = argument.type.facts.get("size", ()) if isinstance(argument.type, View) else ()
        if symbol in known:
            return Asked(symbol, number, known.index(symbol))
    return Asked(symbol)
