"""Sizes that a tile func is told: those of which it has need, and no array.

Comes in: a tile func that has begun. Goes out: the same func, with an empty array for each such
size before its other arguments, which a launch finds there.
Never: a size that an array has.
"""

from ...ir.attributes import Frozen
from ...ir.dims import Symbol
from ...ir.func import Func
from ...ir.types import Tensor, View
from ...ir.values import AnyValue
from ..witness import witness
from .schedule import Chooser, KernelShape, Schedule

TOLD = "told"
"""With this in its schedule, a func is told what it asks for."""


class Told:
    """What a func has asked for so far."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.views: dict[Symbol, AnyValue] = {}

    def ask(self, symbol: Symbol) -> AnyValue:
        """The argument of the func of which axis 0 is so long."""
        if symbol not in self.views:
            type_, body = witness(symbol), self.func.body
            facts = Frozen({"size": type_.shape, "unit_stride": len(type_.shape) - 1})
            view = body.add_argument(View(len(type_.shape), type_.dtype, facts), f"of_{symbol}")
            body.arguments = (view, *body.arguments[:-1])
            for place, argument in enumerate(body.arguments):
                argument.index = place
            self.func.symbols = (*self.func.symbols, symbol)
            self.views[symbol] = view
        return self.views[symbol]


def telling(choose: Chooser) -> Chooser:
    """The same schedules, of funcs that are told what they ask for."""

    def chosen(shape: KernelShape) -> Schedule:
        return {**choose(shape), TOLD: 1}

    return chosen


def told_by(func: Func, others: int) -> list[Tensor]:
    """The empty arrays that tell a func sizes, before so many other arguments."""
    views = func.arguments[: len(func.arguments) - others]
    return [witness(each.type.facts["size"][0]) for each in views]
