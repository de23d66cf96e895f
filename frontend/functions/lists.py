"""Nested lists of numbers, arrays and tensors, of which one tensor is made.

Comes in: lists and tuples as a user gives them. Goes out: lists of what numpy reads, and what dtype
all have together; or, where a tensor among them is traced or keeps a history, one that is put
together from them.
Never: a dtype that some array or tensor of the list does not fit into; Python's numbers adapt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import DEFAULTS
from ..foreign import host_array_of, is_foreign
from ..handle import Handle
from .manipulation import stack

if TYPE_CHECKING:
    from ..tensor import Tensor

NUMBERS = {bool, int, float, complex}
DEFAULT_STORAGE = {"f": DEFAULTS[float].ir.storage, "c": DEFAULTS[complex].ir.storage}
"""What floats and complex numbers of Python are stored as where nobody says, by numpy's kinds."""


def others_in(obj: Any) -> list[Any]:
    """What nested lists have in them that is no number of Python's."""
    found: list[Any] = []
    for each in obj:
        if isinstance(each, list | tuple):
            found += others_in(each)
        elif each.__class__ not in NUMBERS:
            found.append(each)
    return found


def is_recorded(leaf: Any) -> bool:
    """Whether something is a tensor that is traced, and has no value yet, or that keeps a history,
    and has more than one."""
    return isinstance(leaf, Handle) and (leaf.node.trace is not None or leaf.node.tracked)


def stacked(obj: Any) -> Tensor:
    """One tensor of nested lists with tensors in them."""
    return stack([stacked(each) if isinstance(each, list | tuple) else each for each in obj])


def with_values(obj: Any) -> Any:
    """Nested lists with arrays of numpy in the place of tensors and of other libraries' arrays."""
    if isinstance(obj, list | tuple):
        return [with_values(each) for each in obj]
    if isinstance(obj, Handle):
        from ..tensor import host_array

        return host_array(obj, "asarray")
    return host_array_of(obj, "asarray") if is_foreign(obj) else obj


def storage_of(others: list[Any], found: Any) -> Any:
    """The dtype for what numpy reads as one of the dtype `found`: that of the arrays in it, and of
    Python's numbers alone the default one. A float64 of numpy's is a float of Python's, too."""
    default = DEFAULT_STORAGE.get(found.kind)
    arrays = [each for each in others if not isinstance(each, float | complex)]
    inexact = [each.dtype for each in arrays if each.dtype.kind in DEFAULT_STORAGE]
    if default is None or not inexact:
        return found if default is None else default
    if found.kind == "c" and not any([each.kind == "c" for each in inexact]):
        inexact.append(np.dtype(np.complex64))
    return np.result_type(*inexact)
