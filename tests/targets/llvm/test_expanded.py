"""What `expand` leaves, the CPU has: every kind and every cast, of every dtype."""

import pytest

from brimstone.ir import loop
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import ORDERED, DType
from brimstone.ir.func import Func, Return
from brimstone.ir.loop.kinds import dtypes_of
from brimstone.ir.types import Buffer, Space
from brimstone.passes.expand import expand
from brimstone.targets.llvm.machines import AVX512, CPU, SSE42
from brimstone.targets.llvm.printer import print_llvm

DTYPES = sorted(ORDERED, key=lambda dtype: dtype.name)


def everything(dtype: DType) -> Func:
    """A kernel with every op on vectors of a dtype."""
    func = Func("everything", [Buffer(dtype, Space.GLOBAL)])
    builder = Builder(func.body)
    emit, (buffer,) = builder.emit, func.arguments
    zero = emit(loop.ProgramId, axis=0)
    x = emit(loop.LoadVector, buffer, zero, lanes=4)
    y = emit(loop.LoadVector, buffer, emit(loop.ProgramId, axis=1), lanes=4)
    families = [(loop.Unary, loop.UnaryKind, (x,)), (loop.Binary, loop.BinaryKind, (x, y))]
    families.append((loop.Compare, loop.CompareKind, (x, y)))
    for op, kinds, operands in families:
        for kind in kinds:
            if dtype in dtypes_of(kind):
                emit(op, *operands, kind=kind)
    for target in DTYPES:
        emit(loop.Cast, x, dtype=target)
    builder.emit_all(Return, [])
    return func


@pytest.mark.parametrize("machine", [AVX512, SSE42], ids=lambda machine: machine.name)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nothing_is_refused(dtype: DType, machine: CPU) -> None:
    func = everything(dtype)
    expand(func, machine)
    assert "define void @everything" in print_llvm([func], machine)
