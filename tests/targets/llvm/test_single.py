"""Elements that are read one by one, as those of a column are, or those that indices name: code for
each processor and dtype, and what it gives here."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.passes.bind_cpu import bind_cpu
from brimstone.targets.llvm.machines import CPU, MODELS
from kit.lowered import in_tiles

DTYPES = ["bool", "int8", "uint8", "int16", "float16", "float32", "float64"]
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "a column": lambda x, at: x[:, 1],
    "some columns": lambda x, at: x[:, ::2],
    "columns from the last on": lambda x, at: x[:, ::-2],
    "one of two columns": lambda x, at: library(x).where(x[:, 0] > 0, x[:, 1], x[:, 2]),
    "every second row": lambda x, at: x[::2, 0],
    "rows": lambda x, at: x[:, 0][at],
    "the largest of each column": lambda x, at: library(x).max(x[:, ::2], axis=0),
}


def library(x: Any) -> Any:
    """Whose functions take x."""
    return np if isinstance(x, np.ndarray) else bs


@pytest.mark.parametrize("machine", MODELS.values(), ids=lambda machine: machine.name)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_processor_has_code(machine: CPU, dtype: str, name: str) -> None:
    given = bs.zeros((100, 3), dtype=dtype), bs.zeros(50, dtype="int64")
    made = in_tiles(FUNCTIONS[name], *given, machine=machine)
    assert not made.refused
    for kernel in made.kernels:
        bind_cpu(made.module[kernel], machine)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_element_is_that_of_its_place(dtype: str, name: str) -> None:
    function = bs.jit(FUNCTIONS[name])
    rng = np.random.default_rng(0)
    for rows in (1, 2, 15, 16, 17, 67, 131):
        x = rng.integers(0, 2 if dtype == "bool" else 100, (rows, 3)).astype(dtype)
        at = rng.permutation(rows)
        with bs.device("cpu"):
            found = function(bs.asarray(x), bs.asarray(at)).numpy()
        np.testing.assert_array_equal(found, FUNCTIONS[name](x, at))
