"""Nested lists of numbers, arrays and tensors, of which one tensor is made.

Comes in: lists and tuples as a user gives them. Goes out: lists of what numpy reads, and in which
dtype all meet, as they would beside each other in an operation; or, where a tensor among them is
traced or keeps a history, one that is put together from them.
Never: a number that is another one in that dtype, but for the rounding of floats.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dtypes as ir
from ..dtypes import DEFAULTS, OF_IR
from ..errors import DTypeError, ShapeError, fail
from ..foreign import host_array_of, is_foreign
from ..handle import Handle
from .common import meeting, with_number
from .manipulation import stack

if TYPE_CHECKING:
    from ..tensor import Tensor

NUMBERS = {bool, int, float, complex}
DEEPEST = 64
"""numpy's arrays have so many axes at most."""
KINDS = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
"""Which number of Python's is of a kind of numpy's."""


def read(obj: Any, name: str, dtype: Any = None) -> np.ndarray[Any, Any]:
    """What numpy reads of numbers and nested lists."""
    try:
        return np.asarray(obj, dtype)
    except (ValueError, TypeError, OverflowError) as problem:
        fail(
            ShapeError if "inhomogeneous" in str(problem) else DTypeError, name,
            f"cannot make a tensor: {problem}", hint="give numbers, or lists of equal lengths",
        )  # fmt: skip


def others_in(obj: Any, deepest: int = DEEPEST) -> list[Any]:
    """What nested lists have in them that is no number of Python's."""
    if not deepest:
        problem = f"lists hold themselves, or are nested more than {DEEPEST} deep"
        fail(ShapeError, "asarray", problem)
    found: list[Any] = []
    for each in obj:
        if isinstance(each, list | tuple):
            found += others_in(each, deepest - 1)
        elif each.__class__ not in NUMBERS:
            found.append(each)
    return found


def is_recorded(leaf: Any) -> bool:
    """Whether something is a tensor that is traced, and has no value yet, or that keeps a history,
    which its value alone has not."""
    return isinstance(leaf, Handle) and (leaf.node.trace is not None or leaf.node.tracked)


def stacked(obj: Any) -> Tensor:
    """One tensor of nested lists with tensors in them."""
    if not isinstance(obj, list | tuple):
        return _plain(obj)
    return stack([stacked(each) for each in obj])


def _plain(leaf: Any) -> Any:
    """A float64 of numpy's is a float of Python's, too; so are complex numbers."""
    if isinstance(leaf, float | complex):
        return complex(leaf) if isinstance(leaf, complex) else float(leaf)
    return leaf


def with_values(obj: Any) -> Any:
    """Nested lists with arrays of numpy in the place of tensors and of other libraries' arrays;
    floats that numpy does not know as such are float32, which holds them all."""
    if isinstance(obj, list | tuple):
        return [with_values(each) for each in obj]
    if isinstance(obj, Handle):
        from ..tensor import host_array

        return _known(host_array(obj, "asarray"))
    return _known(host_array_of(obj, "asarray") if is_foreign(obj) else obj)


def _known(value: Any) -> Any:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return value.astype(np.float32) if kind == "V" else value


def in_common_dtype(array: Any, others: Iterable[Any]) -> Any:
    """What numpy has read of nested lists, in the dtype in which the arrays among the `others` in
    them meet; Python's numbers follow these, and are of the default dtype where there are none."""
    kind, own = KINDS[array.dtype.kind], _dtype_of(others)
    if own is None:
        return array.astype(DEFAULTS[kind].ir.storage) if kind in (float, complex) else array
    wanted = with_number(own, kind)
    made = array.astype(wanted.storage)
    if kind is int and wanted in ir.INTEGERS and (made != array).any():
        value = array[made != array].flat[0]
        fail(DTypeError, "asarray", f"{value} is not a value of {OF_IR[wanted]}")
    return made


def _dtype_of(others: Iterable[Any]) -> ir.DType | None:
    """The dtype in which tensors and arrays meet; None if there are none."""
    found: ir.DType | None = None
    for dtype in map(_own_dtype, others):
        found = found if dtype is None else meeting("asarray", found, dtype)
    return found


def _own_dtype(value: Any) -> ir.DType | None:
    """The dtype of a tensor or an array; a float64 of numpy's alone is a float of Python's."""
    if isinstance(value, Handle):
        return value.node.type.dtype
    if isinstance(value, float | complex):
        return None
    known = host_array_of(value, "asarray") if is_foreign(value) else value
    return ir.of_numpy(known.dtype) if isinstance(known, np.ndarray | np.generic) else None
