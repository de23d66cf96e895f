"""One op or one program on arrays, and what is said where it is refused.

Comes in: an op class with arrays, or with types, and attributes; or a text and arrays. Goes out:
the results; or the message of the error, where there has to be one.
Never: an expected value, but `filled` makes one of a function of its indices.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brimstone.ir.builder import Builder
from brimstone.ir.declare import Op
from brimstone.ir.dtypes import DType
from brimstone.ir.errors import ExecutionError, VerifyError
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.types import Type
from brimstone.ir.verifier import verify
from kit.evaluate import evaluate, fold, grouped

Array = np.ndarray[Any, np.dtype[Any]]


def call(cls: type[Op], *arrays: Any, **attributes: Any) -> Array:
    """The only result of an op on arrays, which folding gives too wherever the op folds."""
    operands = [np.asarray(array) for array in arrays]
    result: Array = evaluate(cls, *operands, **attributes)
    folded = fold(cls, *operands, **attributes)
    if folded is not None:
        same_bits(folded[0], result)
    return result


def run(text: str, *arrays: Any, **sizes: int) -> tuple[Any, ...]:
    """The results of the first func of a text."""
    module = parse(text)
    verify(module)
    return interpret(module, *arrays, sizes=sizes)


def refusal(cls: type[Op], *types: Type, **attributes: Any) -> str:
    """What building an op on values of these types complains about."""
    func = Func("f", types)
    with pytest.raises(VerifyError) as caught:
        Builder(func.body).emit(cls, *grouped(cls, func.arguments), **attributes)
    return caught.value.message


def failure(text: str, *arrays: Any, **sizes: int) -> str:
    """What running the first func of a text complains about."""
    with pytest.raises(ExecutionError) as caught:
        run(text, *arrays, **sizes)
    return caught.value.message


def same_bits(found: Array, expected: Array) -> None:
    """Both arrays are of one dtype and shape, and have the same bits, those of NaN too."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes(), (found, expected)


def filled(
    shape: tuple[int, ...], dtype: np.dtype[Any], element: Callable[[tuple[int, ...]], Any]
) -> Array:
    """The array whose element at each index is `element(index)`."""
    result = np.empty(shape, dtype)
    for index in np.ndindex(shape):
        result[index] = element(index)
    return result


def counted(shape: tuple[int, ...], dtype: DType, period: int = 100) -> Array:
    """0, 1, 2, … in row-major order, starting again at `period`."""
    total = int(np.prod(shape))
    return (np.arange(total) % period).reshape(shape).astype(dtype.storage)
