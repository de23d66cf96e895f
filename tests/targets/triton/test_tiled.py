"""What tiling makes of kernels prints as well: the tile floor knows of no machine.

The steps run in the interpreter, which hands each launch of tiles to Triton's own.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from brimstone.ir.dtypes import f32, i32
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.step import tiles
from brimstone.ir.tensor.rules import Term
from brimstone.targets.triton import Refused, print_triton
from kit.interpret import run_triton
from kit.tiling import along, arrays_for, kernel, sizes_of, spread, tiled

Build = Callable[..., Any]
SCHEDULES = ({"n": 8, "m": 4, "unroll": 2}, {"n": 12, "m": 3, "unroll": 1})


def softmax(x: Term) -> Term:
    above = (x - along(x.apply("reduce_maximum", axes=(1,)), x, 1)).apply("exp")
    return above / along(above.apply("reduce_sum", axes=(1,)), x, 1)


CASES: dict[str, tuple[Build, tuple[str, ...]]] = {
    "chain": (lambda x, y: (x * y + x).apply("tanh"), ("n m f32", "n m f32")),
    "broadcast": (lambda x, y: x * spread(y, x, 1), ("n m f32", "m f32")),
    "rows": (lambda x: x.apply("reduce_maximum", axes=(1,)), ("n m f32",)),
    "columns": (lambda x: x.cast(f32).apply("reduce_sum", axes=(0,)), ("n m bf16",)),
    "integers": (lambda x, y: x.apply("divide", y), ("n m i32", "n m i32")),
    "places": (lambda x: x.apply("arg_maximum", axis=1, dtype=i32), ("n m f32",)),
    "turned": (lambda x, y: x.apply("permute", axes=(1, 0)) + y, ("m n f32", "n m f32")),
}


@pytest.mark.parametrize("schedule", SCHEDULES, ids=["even", "odd"])
@pytest.mark.parametrize("name", CASES)
def test_a_tiled_kernel(
    name: str, schedule: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    build, types = CASES[name]
    func = kernel(build, *types)
    made = tiled(func, schedule)
    assert not made.refused
    calls: list[str] = []

    def run(printed: Func, arguments: Sequence[Any], *_: Any) -> None:
        calls.append(run_triton(printed, arguments).name)

    for sizes in sizes_of(func, 4):
        arrays = arrays_for(func, sizes, whole=True)
        expected = interpret(made.module, *arrays)
        with monkeypatch.context() as patch:
            patch.setattr(tiles, "run_kernel", run)
            found = interpret(made.module, *arrays)
        np.testing.assert_array_equal(found, expected)
    assert calls


def test_memory_of_one_program_is_refused() -> None:
    """Rows that no result has room for are kept in scratch memory, which Triton has not."""

    def peaks(x: Term) -> Term:
        return softmax(x).apply("reduce_maximum", axes=(1,))

    made = tiled(kernel(peaks, "n m f32"), SCHEDULES[0])
    with pytest.raises(Refused, match="no memory of one program"):
        print_triton(made.module["k"])
