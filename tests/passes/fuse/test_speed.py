"""The time that fusing takes grows as the number of ops does."""

import gc
from time import process_time

from brimstone.ir import tensor
from brimstone.ir.dims import Symbol
from brimstone.ir.func import Func
from brimstone.passes.fuse import fuse
from kit.recorder import Recorder

SECONDS_PER_OP = 400e-6
"""Several times what it takes, for the sake of busy machines."""


def layers(count: int) -> Func:
    """Maps with a norm now and then, a vector that changes, and everything read twice."""
    r, rows = Recorder(), Symbol("n", 1)
    r.func.symbols = (rows,)
    x, weight = r.arguments((rows, 64), (64,))
    for layer in range(count):
        y = r.map(tensor.Multiply, r.emit(tensor.Tanh, x), weight)
        x = r.emit(tensor.Add, y, x)
        if layer % 8 == 7:
            x = r.along(tensor.Subtract, x, r.reduce(tensor.ReduceSum, x))
            weight = r.emit(tensor.Exp, weight)
    return r.done(x)


def seconds(func: Func) -> float:
    """How long it takes to fuse a func, at best, for each of its ops."""
    ops = sum(1 for _ in func.body)
    taken: list[float] = []
    for _ in range(2):
        gc.collect()
        start = process_time()
        fuse(func)
        taken.append(process_time() - start)
    return min(taken) / ops


def test_time_is_linear() -> None:
    seconds(layers(20))
    small, large = seconds(layers(150)), seconds(layers(1500))
    assert large < SECONDS_PER_OP
    assert large < 4 * small
