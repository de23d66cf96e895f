"""What the state of a recurrent layer becomes at one step: its formulas, one function a kind.

Comes in: what a step's input adds, a state (a tuple of tensors, of which the first is the output),
the weights of one direction of one layer. Goes out: the next state.
Never: a loop over steps, or a module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...frontend.functions.activations import relu, sigmoid
from ...frontend.functions.elementwise import tanh
from ...frontend.functions.pieces import chunk
from ...frontend.tensor import Tensor
from ..functions.linear import linear
from ..initialisers import Keys, inverse_root

State = tuple[Tensor, ...]


class Weights(NamedTuple):
    """What one direction of one layer has learned, by PyTorch's names.

    The rows are those of one gate after the other, `hidden_size` each.
    """

    weight_ih: Tensor  # [gates * hidden_size, input_size]
    weight_hh: Tensor  # [gates * hidden_size, size of the output]
    bias_ih: Tensor | None  # [gates * hidden_size]
    bias_hh: Tensor | None  # [gates * hidden_size]
    weight_hr: Tensor | None  # [size of the output, hidden_size]


@dataclass(frozen=True)
class Recurrence:
    """A kind of recurrent layer: how many gates it has, of how many tensors its state consists."""

    gates: int
    states: int
    advance: Callable[[Tensor, State, Weights], State]


def draw_weights(
    recurrence: Recurrence, sizes: tuple[int, int, int], bias: bool, keys: Keys, dtype: Any
) -> Weights:
    """Weights to begin with, for sizes of the input, of what is hidden, of the projection.

    A projection of size 0 is none.
    """
    inputs, hidden, projection = sizes
    rows, draw = recurrence.gates * hidden, inverse_root(hidden)
    shapes = (
        (rows, inputs),
        (rows, projection or hidden),
        (rows,) if bias else None,
        (rows,) if bias else None,
        (projection, hidden) if projection else None,
    )
    return Weights(*[draw(shape, keys.next(), dtype) if shape else None for shape in shapes])  # pyright: ignore[reportArgumentType]


def _plain(activation: Callable[[Any], Tensor]) -> Recurrence:
    def advance(projected: Tensor, state: State, weights: Weights) -> State:
        return (activation(projected + linear(state[0], weights.weight_hh, weights.bias_hh)),)

    return Recurrence(1, 1, advance)


def _advance_gru(projected: Tensor, state: State, weights: Weights) -> State:
    """A reset gate, an update gate, a new value, in this order of rows."""
    (h,) = state
    recurrent = linear(h, weights.weight_hh, weights.bias_hh)
    reset, update, new = chunk(projected, 3, -1)
    reset_h, update_h, new_h = chunk(recurrent, 3, -1)
    new = tanh(new + sigmoid(reset + reset_h) * new_h)
    return (new + sigmoid(update + update_h) * (h - new),)


def _advance_lstm(projected: Tensor, state: State, weights: Weights) -> State:
    """Gates of input and forgetting, a new value, a gate of output, in this order of rows."""
    h, c = state
    gates = projected + linear(h, weights.weight_hh, weights.bias_hh)
    enter, forget, new, leave = chunk(gates, 4, -1)
    c = sigmoid(forget) * c + sigmoid(enter) * tanh(new)
    h = sigmoid(leave) * tanh(c)
    return h if weights.weight_hr is None else h @ weights.weight_hr.mT, c


PLAIN = {"tanh": _plain(tanh), "relu": _plain(relu)}
GRU = Recurrence(3, 1, _advance_gru)
LSTM = Recurrence(4, 2, _advance_lstm)
