"""Cells: one step of a recurrent layer, for loops that are written by hand.

Comes in: sizes, a key. Goes out: modules from (input, state) to the next state.
Never: a name of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal

from ...frontend.errors import ShapeError, fail
from ...frontend.functions.creation import zeros_like
from ...frontend.tensor import Tensor
from ..arguments import check_counts, check_flags
from ..functions.common import check_last
from ..functions.linear import linear
from ..initialisers import Keys
from ..module import Module
from .checks import as_pair, check_nonlinearity
from .recurrence import GRU, LSTM, PLAIN, Recurrence, State, Weights, draw_weights


class _Cell(Module):
    """What all cells have: weights of one gate after the other, `hidden_size` rows each."""

    weight_ih: Tensor  # [gates * hidden_size, input_size]
    weight_hh: Tensor  # [gates * hidden_size, hidden_size]
    bias_ih: Tensor | None  # [gates * hidden_size]
    bias_hh: Tensor | None  # [gates * hidden_size]

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, *,
        key: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        name = type(self).__name__
        check_flags(name, bias=bias)
        check_counts(name, 1, input_size=input_size, hidden_size=hidden_size)
        self.input_size, self.hidden_size = input_size, hidden_size
        sizes = (input_size, hidden_size, 0)
        made = draw_weights(self.recurrence, sizes, bias, Keys(key), dtype)
        self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, _ = made

    @property
    @abstractmethod
    def recurrence(self) -> Recurrence:
        """What a step does."""

    def step(self, x: Tensor, state: State | None) -> State:
        """The next state; zeros come before it where none is given."""
        name = type(self).__name__
        check_last(name, x, (self.input_size,))
        for each in state or ():
            if each.ndim != x.ndim or each.shape[-1] != self.hidden_size:
                problem = f"takes a state [..., {self.hidden_size}] with as many axes as the input"
                fail(ShapeError, name, problem, x, each)
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, None)
        projected = linear(x, self.weight_ih, self.bias_ih)
        nothing = zeros_like(projected[..., : self.hidden_size])
        begin = state or (nothing,) * self.recurrence.states
        return self.recurrence.advance(projected, begin, weights)


class RNNCell(_Cell):
    """tanh(x @ weight_ihᵀ + bias_ih + h @ weight_hhᵀ + bias_hh), or the rectifier of that."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True,
        nonlinearity: Literal["tanh", "relu"] = "tanh", *, key: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        check_nonlinearity("RNNCell", nonlinearity)
        self.nonlinearity = nonlinearity
        super().__init__(input_size, hidden_size, bias, key=key, dtype=dtype)

    @property
    def recurrence(self) -> Recurrence:
        """What a step does."""
        return PLAIN[self.nonlinearity]

    def forward(self, x: Tensor, hx: Tensor | None = None) -> Tensor:
        """[…, input_size], […, hidden_size] -> […, hidden_size]"""
        return self.step(x, None if hx is None else (hx,))[0]


class GRUCell(_Cell):
    """A gated recurrent unit; the reset gate is applied after the product, as in PyTorch."""

    @property
    def recurrence(self) -> Recurrence:
        """What a step does."""
        return GRU

    def forward(self, x: Tensor, hx: Tensor | None = None) -> Tensor:
        """[…, input_size], […, hidden_size] -> […, hidden_size]"""
        return self.step(x, None if hx is None else (hx,))[0]


class LSTMCell(_Cell):
    """A cell of long short-term memory: its state is a pair, of which the first is the output."""

    @property
    def recurrence(self) -> Recurrence:
        """What a step does."""
        return LSTM

    def forward(self, x: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """[…, input_size], two of […, hidden_size] -> two of […, hidden_size]"""
        h, c = self.step(x, as_pair("LSTMCell", hx))
        return h, c
