"""What recurrent layers refuse, and which steps of their inputs count.

Comes in: what users give to layers and cells. Goes out: errors that name shapes; states and masks.
Never: a look at how many sequences there are in a batch, unless somebody gives a state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...frontend.errors import ArgumentError, DTypeError, ShapeError, fail
from ...frontend.functions.creation import arange, asarray
from ...frontend.functions.types import isdtype
from ...frontend.handle import Handle
from ...frontend.tensor import Tensor
from .recurrence import PLAIN, State

if TYPE_CHECKING:
    from .layers import RecurrentLayers


def check_sizes(layers: RecurrentLayers) -> None:
    """Refuse sizes that no layers have."""
    name = type(layers).__name__
    for what in ("input_size", "hidden_size", "num_layers"):
        if getattr(layers, what) < 1:
            fail(ArgumentError, name, f"{what} is at least 1", getattr(layers, what))
    if not 0 <= layers.proj_size < layers.hidden_size:
        problem = f"proj_size is less than hidden_size, {layers.hidden_size}, or 0 for none"
        fail(ArgumentError, name, problem, layers.proj_size)


def check_nonlinearity(name: str, nonlinearity: str) -> None:
    """Refuse a function that is not one of the two."""
    if nonlinearity not in PLAIN:
        fail(ArgumentError, name, 'nonlinearity is "tanh" or "relu"', nonlinearity)


def as_pair(name: str, hx: Any) -> State | None:
    """The state of an LSTM, (h, c)."""
    if hx is not None and (not isinstance(hx, tuple | list) or len(hx) != 2):
        fail(ArgumentError, name, "the state is a pair of tensors, (h, c)", hx)
    return None if hx is None else tuple(hx)


def check_input(layers: RecurrentLayers, x: Tensor, state: State | None) -> None:
    """Refuse inputs and states that do not fit the layers, or each other."""
    name = type(layers).__name__
    if x.ndim not in (2, 3) or x.shape[-1] != layers.input_size:
        order = "batch, length" if layers.batch_first else "length, batch"
        problem = f"takes inputs [{order}, {layers.input_size}], or [length, {layers.input_size}]"
        fail(ShapeError, name, problem, x)
    if state is None:
        return
    batch = x.shape[:-1][0 if layers.batch_first else 1 :][: x.ndim - 2]
    for each, size in zip(state, (layers.output_size, layers.hidden_size), strict=False):
        wanted = (layers.num_layers * layers.directions, *batch, size)
        if each.shape != wanted:
            fail(ShapeError, name, f"takes a state {list(wanted)} for these inputs", x, each)


def active_steps(name: str, steps: Tensor, lengths: Any) -> Tensor | None:
    """Which steps of inputs [length, batch, size] count: booleans [length, batch, 1]."""
    if lengths is None:
        return None
    given: Any = lengths if isinstance(lengths, Handle) else np.asarray(lengths)
    if given.ndim != 1:
        fail(ShapeError, name, "`lengths` has one axis, with a number for each sequence", lengths)
    total = steps.shape[0]
    if (
        isinstance(given, np.ndarray)
        and given.size
        and not 0 <= given.min() <= given.max() <= total
    ):
        fail(ArgumentError, name, f"lengths are from 0 to {total}, that of the inputs", lengths)
    counts = asarray(given)
    if not isdtype(counts.dtype, "integral"):
        fail(DTypeError, name, "lengths are integers", lengths)
    if counts.shape[0] != steps.shape[1]:
        fail(ShapeError, name, "there is one length for each sequence of a batch", steps, counts)
    return (arange(total, device=counts.device)[:, None] < counts)[..., None]
