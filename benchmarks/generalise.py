"""What `generalise` costs, in µs of processor time per op, and whether new sizes keep the text.

    python -m benchmarks.generalise [--layers 40] [--runs 9]

Layers of a perceptron with norms are recorded, each run at a size of its own; a layer has 22 ops.
The figure is the median over the runs, after one that warms up; beside it stands what recording
and printing the same func cost.
"""

import argparse
import statistics
import time
from itertools import pairwise

from brimstone.ir import Builder, Func, print_func, tensor
from brimstone.ir.dtypes import f32
from brimstone.ir.func import Return
from brimstone.ir.payloads import Number
from brimstone.ir.types import Tensor
from brimstone.ir.values import AnyValue
from brimstone.passes.generalise import generalise

ROWS = ("record", "generalise", "print")


class Recorder:
    """A func in the making."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.func = Func("step")
        self.builder = Builder(self.func.body)

    def argument(self, *shape: int) -> AnyValue:
        """One argument more."""
        return self.func.body.add_argument(Tensor(shape, f32))

    def spread(self, x: AnyValue, *axes: int) -> AnyValue:
        """x, along the axes of all rows and columns that it lacks."""
        shape = (self.rows, self.columns)
        return self.builder.emit(tensor.Broadcast, x, shape=shape, axes=axes)

    def number(self, value: float) -> AnyValue:
        """A number, everywhere."""
        return self.spread(self.builder.emit(tensor.Constant, Number(value, f32)))

    def mean(self, x: AnyValue) -> AnyValue:
        """The mean of each row, in all its columns."""
        total = self.builder.emit(tensor.ReduceSum, x, axes=(1,))
        return self.builder.emit(
            tensor.Multiply, self.spread(total, 0), self.number(1 / self.columns)
        )

    def layer(self, x: AnyValue) -> AnyValue:
        """x + gelu(norm(x)·weight + bias)"""
        emit = self.builder.emit
        centred = emit(tensor.Subtract, x, self.mean(x))
        variance = self.mean(emit(tensor.Multiply, centred, centred))
        inverse = emit(tensor.ReciprocalSquareRoot, emit(tensor.Add, variance, self.number(1e-5)))
        normal = emit(tensor.Multiply, centred, inverse)
        scaled = emit(tensor.Multiply, normal, self.spread(self.argument(self.columns), 1))
        weight = self.argument(self.columns, self.columns)
        product = emit(tensor.Contract, scaled, weight, (), (), (1,), (0,), f32)
        shifted = emit(tensor.Add, product, self.spread(self.argument(self.columns), 1))
        error = emit(tensor.Erf, emit(tensor.Multiply, shifted, self.number(0.7071)))
        gate = emit(tensor.Multiply, emit(tensor.Add, error, self.number(1.0)), self.number(0.5))
        return emit(tensor.Add, x, emit(tensor.Multiply, shifted, gate))


def recorded(layers: int, rows: int, columns: int) -> Func:
    """So many layers on a tensor of rows and columns."""
    recorder = Recorder(rows, columns)
    x = recorder.argument(rows, columns)
    for _ in range(layers):
        x = recorder.layer(x)
    recorder.builder.emit_all(Return, [x])
    return recorder.func


def measured(layers: int, run: int) -> tuple[dict[str, float], str]:
    """µs per op of each row at one size, and the text that came out."""
    marks = [time.process_time()]
    func = recorded(layers, 100 + run, 200 + run)
    marks.append(time.process_time())
    made = generalise(func)
    marks.append(time.process_time())
    text = print_func(made.func)
    marks.append(time.process_time())
    ops = sum(1 for _ in func.walk())
    took = [(stop - start) / ops * 1e6 for start, stop in pairwise(marks)]
    return dict(zip(ROWS, took, strict=True)), text


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--layers", type=int, default=40, help="how many layers")
    parser.add_argument("--runs", type=int, default=9, help="how many sizes")
    options = parser.parse_args()
    measured(options.layers, 0)
    runs = [measured(options.layers, run) for run in range(1, options.runs + 1)]
    print(f"{options.runs} sizes, {len({text for _, text in runs})} text; µs per op:")
    for row in ROWS:
        print(f"{row:12}{statistics.median(took[row] for took, _ in runs):6.1f}")


if __name__ == "__main__":
    main()
