"""Which chains of views are read of an array in one go, and which are stored on the way."""

from collections.abc import Callable

import pytest

from brimstone.ir import tensor
from brimstone.ir.dtypes import f32
from brimstone.ir.payloads import Number
from brimstone.ir.values import AnyValue
from kit.fusing import checked
from kit.recorder import Recorder

View = Callable[[Recorder, AnyValue], AnyValue]


def pad(low: int, high: int, between: int = 0, axis: int = 0, value: float = 0.0) -> View:
    """So much more along an axis."""

    def emit(r: Recorder, x: AnyValue) -> AnyValue:
        sizes = [tuple([each * (at == axis) for at in (0, 1)]) for each in (low, high, between)]
        return r.emit(tensor.Pad, x, *sizes, value=Number(value, f32))

    return emit


def part(start: int, size: int, step: int = 1) -> View:
    """Some rows."""
    return lambda r, x: r.emit(tensor.Slice, x, (start, 0), (size, x.type.shape[1]), (step, 1))


def flip(axis: int) -> View:
    """Backwards along an axis."""
    return lambda r, x: r.emit(tensor.Flip, x, axes=(axis,))


def turn(r: Recorder, x: AnyValue) -> AnyValue:
    """Rows for columns."""
    return r.emit(tensor.Permute, x, axes=(1, 0))


def repeat(r: Recorder, x: AnyValue) -> AnyValue:
    """A row, several times."""
    row = r.emit(tensor.Slice, x, (0, 0), (1, 5), (1, 1))
    return r.emit(tensor.Broadcast, row, shape=(4, 5), axes=(0, 1))


CHAINS: dict[str, tuple[list[View], int]] = {
    "padding": ([pad(1, 2)], 1),
    "part of a padding": ([pad(1, 2), part(0, 3)], 1),
    "padding of a part": ([part(1, 3, 2), pad(1, 2)], 1),
    "part of a padding of a part": ([part(1, 3), pad(1, 2), part(0, 4)], 1),
    "padding along both axes": ([pad(1, 0), pad(0, 2, axis=1)], 1),
    "padding, backwards along another axis": ([pad(1, 2), flip(1)], 1),
    "padding, backwards": ([pad(1, 2), flip(0)], 2),
    "padding, turned, backwards": ([pad(1, 2), turn, flip(1)], 2),
    "padding, turned, backwards along another axis": ([pad(1, 2), turn, flip(0)], 1),
    "padding, in steps": ([pad(1, 2), part(0, 3, 2)], 2),
    "backwards, padding": ([flip(0), pad(1, 2)], 1),
    "padding of a part of a padding": ([pad(1, 2), part(0, 4), pad(2, 0)], 2),
    "padding with another number": ([pad(1, 2), pad(1, 2, value=3.0)], 2),
    "padding of what is repeated": ([repeat, pad(1, 0)], 2),
    "what is repeated, backwards": ([repeat, flip(1)], 1),
    "gaps": ([pad(0, 0, 1)], 2),
    "part of gaps": ([pad(1, 0, 1), part(2, 4)], 2),
}


@pytest.mark.parametrize(("chain", "kernels"), CHAINS.values(), ids=CHAINS)
def test_what_is_not_read_in_one_go_is_stored(chain: list[View], kernels: int) -> None:
    r = Recorder()
    x = r.argument(7, 5)
    for view in chain:
        x = view(r, x)
    fused = checked(r.done(r.emit(tensor.Exp, x)))
    assert len(fused.report.kernels) == kernels


def test_gaps_that_are_all_that_is_wanted_are_one_kernel() -> None:
    r = Recorder()
    fused = checked(r.done(pad(1, 0, 2)(r, r.argument(7, 5))))
    assert len(fused.report.kernels) == 1
