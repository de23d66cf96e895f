"""numpy's functions of elements, where some of what they are given is a tensor.

Comes in: what numpy says of a call, or of an operator with an array of its own on the left. Goes
out: what the function of that meaning here makes of it.
Never: a write into an array of numpy's, whose reader would have to wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .elsewhere import CALLED
from .errors import DTypeError, fail
from .methods import divided
from .namespace import namespace


def call(ufunc: np.ufunc, method: str, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What one of numpy's functions is to give back."""
    name = ufunc.__name__
    ours = CALLED.get(name, name)
    function = divided if name == "divmod" else getattr(namespace(), ours, None)
    if method == "__call__" and function is not None and not named:
        return function(*given)
    asked = f"np.{name}" if method == "__call__" else f"np.{name}.{method}"
    if "out" in named:
        problem = "a tensor is not written into an array of numpy's"
        hint = f"make another one, as in `a = bs.{ours}(a, x)`"
    else:
        problem = "it takes no tensors" + "".join([f" with `{each}`" for each in [*named][:1]])
        hint = "`x.numpy()` is an array of numpy's"
    fail(DTypeError, asked, problem, *given, hint=hint)
