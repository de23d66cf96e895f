"""Batched funcs against what batching means: the func run for each lane, and the results stacked.

Comes in: a func, which arguments are batched, and the arguments of each lane. Goes out: the first
difference, in words, or None.
Never: a batched func that does not verify, or that has lost a symbol.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brimstone.ir.dims import Size, evaluate
from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from brimstone.ir.verifier import verify
from brimstone.passes.batch import batch
from brimstone.passes.oracle import difference
from kit.evaluate import Array, near

Arrays = Sequence[Array]


@dataclass(frozen=True)
class Lanes:
    """The arguments of each lane, at some sizes; `given[0]` has those that are not batched.

    There is one list of arguments at least, also where there are no lanes.
    """

    given: Sequence[Arrays]
    count: int
    sizes: Mapping[str, int]

    def stacked(self, batched: Sequence[bool]) -> list[Array]:
        """What the batched func is given."""
        pairs = enumerate(batched)
        return [self._stack(place) if each else self.given[0][place] for place, each in pairs]

    def alone(self, batched: Sequence[bool], lane: int) -> list[Array]:
        """What the func is given in one lane."""
        pairs = enumerate(batched)
        return [self.given[lane if each else 0][place] for place, each in pairs]

    def _stack(self, place: int) -> Array:
        return np.stack([arguments[place] for arguments in self.given])[: self.count]


def batching_differs(
    func: Func,
    batched: Sequence[bool],
    lanes: Lanes,
    size: Size | None = None,
    units: float = 0.0,
    module: Module | None = None,
) -> str | None:
    """How the batched func differs from the func in each lane; results within `units` are equal.

    `size` is how many lanes there are said to be, if that is not their number.
    """
    made, varying = batch(func, batched, lanes.count if size is None else size, module=module)
    verify(made)
    sizes = {**lanes.sizes, "lanes": lanes.count}
    found = interpret(made, *lanes.stacked(batched), sizes=sizes)
    alone = [
        interpret(module or func, *lanes.alone(batched, lane), sizes=lanes.sizes)
        for lane in range(lanes.count)
    ]
    for place, value in enumerate(func.results):
        symbols = {symbol: lanes.sizes[symbol.name] for symbol in func.symbols}
        empty = np.empty(
            (0, *[evaluate(each, symbols) for each in value.type.shape]), value.dtype.storage
        )
        stack = np.stack([results[place] for results in alone]) if alone else empty
        array = found[place]
        if not varying[place]:
            array = np.broadcast_to(array, (lanes.count, *array.shape))
        changed = unlike(stack, np.asarray(array), units)
        if changed is not None:
            return f"result {place}: {changed}"
    return None


def unlike(expected: Any, found: Any, units: float) -> str | None:
    """The difference of two arrays, unless it is within some units in the last place."""
    if units and expected.dtype.kind not in "biu" and near(found, expected, units):
        return None
    return difference([expected], [found])


def func_of(text: str) -> Func:
    """The first func of a text."""
    func = parse(text).main
    verify(func)
    return func


def same_alone(text: str, batched: Sequence[bool], *given: Arrays, **sizes: int) -> None:
    """The batched func gives what the func gives in each lane, whose arguments are `given`."""
    changed = batching_differs(func_of(text), batched, Lanes(given, len(given), sizes))
    assert changed is None, changed


def text_of(text: str, batched: Sequence[bool], size: int = 3) -> str:
    """What batching makes of the func."""
    return print_func(batch(func_of(text), batched, size)[0])
