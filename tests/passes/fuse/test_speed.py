"""The work of fusing grows as the number of ops does."""

from brimstone.ir import tensor
from brimstone.ir.dims import Symbol
from brimstone.ir.func import Func
from brimstone.passes.fuse import fuse
from kit.recorder import Recorder
from kit.work import calls_of


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


def calls(func: Func) -> float:
    """How many functions are called to fuse a func, for each of its ops."""
    ops = sum(1 for _ in func.body)
    return calls_of(lambda: fuse(func)) / ops


def test_work_is_linear() -> None:
    calls(layers(20))
    small, large = calls(layers(150)), calls(layers(1500))
    assert large < 1.5 * small
