"""Recurrent layers: a state that goes through all steps of a sequence, in one direction or both.

Comes in: sizes, a key. Goes out: modules from sequences to sequences and last states.
Never: a name or a layout of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, TypedDict, Unpack

from ...frontend.functions.manipulation import concat, stack, swapaxes
from ...frontend.tensor import Tensor
from ..functions.dropout import check_probability
from ..initialisers import Keys
from ..layers.dropout import Dropout
from ..module import Module
from .checks import active_steps, as_pair, check_input, check_nonlinearity, check_sizes
from .direction import Direction
from .recurrence import GRU as GRU_STEP
from .recurrence import LSTM as LSTM_STEP
from .recurrence import PLAIN, Recurrence, State, Weights, draw_weights


class Options(TypedDict, total=False):
    """What all recurrent layers may be told besides their sizes, as PyTorch calls it."""

    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    key: Any
    dtype: Any


class RecurrentLayers(Module):
    """Some layers, one above the other.

    Their parameters are `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, with the number
    of the layer, and with `_reverse` behind for the second direction; see `Weights`.
    """

    proj_size = 0

    def __init__(  # noqa: PLR0913 (each is a choice of the user's, as in PyTorch)
        self, input_size: int, hidden_size: int, num_layers: int = 1, *, bias: bool = True,
        batch_first: bool = True, dropout: float = 0.0, bidirectional: bool = False,
        key: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.batch_first, self.bidirectional = batch_first, bidirectional
        check_sizes(self)
        check_probability(type(self).__name__, dropout)
        self.dropout = float(dropout)
        keys = Keys(key)
        for place, inputs in enumerate(self._inputs()):
            sizes = (inputs, hidden_size, self.proj_size)
            made = draw_weights(self.recurrence, sizes, bias, keys, dtype)
            self._keep(self._suffix(place), made)

    @property
    @abstractmethod
    def recurrence(self) -> Recurrence:
        """What a step does."""

    @property
    def output_size(self) -> int:
        """How wide the output of one direction is."""
        return self.proj_size or self.hidden_size

    @property
    def directions(self) -> int:
        """1, or 2 for a bidirectional layer."""
        return 2 if self.bidirectional else 1

    def run(self, x: Tensor, state: State | None, lengths: Any) -> tuple[Tensor, State]:
        """The outputs of the last layer and the last states of all."""
        check_input(self, x, state)
        batched = x.ndim == 3
        if not batched:
            x = x[None] if self.batch_first else x[:, None]
            state = None if state is None else tuple([each[:, None] for each in state])
        steps = swapaxes(x, 0, 1) if self.batch_first else x
        active = active_steps(type(self).__name__, steps, lengths)
        outputs, last = self._through(steps, state, active)
        outputs = swapaxes(outputs, 0, 1) if self.batch_first else outputs
        if batched:
            return outputs, last
        return outputs.squeeze(0 if self.batch_first else 1), tuple([each[:, 0] for each in last])

    def _through(
        self, x: Tensor, state: State | None, active: Tensor | None
    ) -> tuple[Tensor, State]:
        """All layers, for inputs [length, batch, size]."""
        lasts: list[State] = []
        for layer in range(self.num_layers):
            x = Dropout(self.dropout)(x) if layer else x
            outputs: list[Tensor] = []
            for direction in range(self.directions):
                place = layer * self.directions + direction
                weights = self._weights(self._suffix(place))
                begin = None if state is None else tuple([each[place] for each in state])
                loop = Direction(self.recurrence, weights, reverse=direction == 1)
                made, last = loop.run(x, begin, active)
                outputs.append(made)
                lasts.append(last)
            x = concat(outputs, axis=-1) if self.bidirectional else outputs[0]
        return x, tuple([stack(each, axis=0) for each in zip(*lasts, strict=True)])

    def _inputs(self) -> list[int]:
        """How wide the inputs of each direction of each layer are."""
        above = [self.output_size * self.directions] * (self.num_layers - 1)
        return [size for size in (self.input_size, *above) for _ in range(self.directions)]

    def _suffix(self, place: int) -> str:
        """What stands behind the names of one direction's parameters."""
        layer, direction = divmod(place, self.directions)
        return f"_l{layer}{'_reverse' if direction else ''}"

    def _keep(self, suffix: str, weights: Weights) -> None:
        """Make weights parameters; what there is none of has no name."""
        for name, value in weights._asdict().items():
            if value is not None:
                setattr(self, name + suffix, value)

    def _weights(self, suffix: str) -> Weights:
        """The parameters with this suffix."""
        return Weights(*[getattr(self, name + suffix, None) for name in Weights._fields])  # pyright: ignore[reportArgumentType]


class RNN(RecurrentLayers):
    """Elman's layers: h = tanh(x @ weight_ihᵀ + bias_ih + h @ weight_hhᵀ + bias_hh).

    Unlike in PyTorch, the batch comes first unless `batch_first=False`. `dropout` is between
    layers.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, *,
        nonlinearity: Literal["tanh", "relu"] = "tanh", **options: Unpack[Options],
    ) -> None:  # fmt: skip
        check_nonlinearity("RNN", nonlinearity)
        self.nonlinearity = nonlinearity
        super().__init__(input_size, hidden_size, num_layers, **options)

    @property
    def recurrence(self) -> Recurrence:
        """What a step does."""
        return PLAIN[self.nonlinearity]

    def forward(
        self, x: Tensor, hx: Tensor | None = None, *, lengths: Any = None
    ) -> tuple[Tensor, Tensor]:
        """[batch, length, input_size] -> [batch, length, directions * hidden_size], and the last
        states, [num_layers * directions, batch, hidden_size], as are those to begin with, `hx`.

        `lengths`, [batch], says how many steps of each sequence count: the outputs of others are 0,
        the last state is that after the last that counts, and where the second direction begins.
        Without an axis for a batch, there is none in what comes out.
        """
        outputs, (last,) = self.run(x, None if hx is None else (hx,), lengths)
        return outputs, last


class GRU(RecurrentLayers):
    """Layers of gated recurrent units; the reset gate is applied after the product, as in PyTorch.

    Unlike there, the batch comes first unless `batch_first=False`. `dropout` is between layers.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, **options: Unpack[Options]
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, **options)

    @property
    def recurrence(self) -> Recurrence:
        """What a step does."""
        return GRU_STEP

    def forward(
        self, x: Tensor, hx: Tensor | None = None, *, lengths: Any = None
    ) -> tuple[Tensor, Tensor]:
        """[batch, length, input_size] -> [batch, length, directions * hidden_size], and the last
        states, [num_layers * directions, batch, hidden_size], as are those to begin with, `hx`.

        `lengths` is that of `RNN`.
        """
        outputs, (last,) = self.run(x, None if hx is None else (hx,), lengths)
        return outputs, last


class LSTM(RecurrentLayers):
    """Layers of long short-term memory, whose state is a pair: what they say, what they keep.

    `proj_size`, if not 0, is how wide a product makes what they say. Unlike in PyTorch, the batch
    comes first unless `batch_first=False`. `dropout` is between layers.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, *, proj_size: int = 0,
        **options: Unpack[Options],
    ) -> None:  # fmt: skip
        self.proj_size = proj_size
        super().__init__(input_size, hidden_size, num_layers, **options)

    @property
    def recurrence(self) -> Recurrence:
        """What a step does."""
        return LSTM_STEP

    def forward(
        self, x: Tensor, hx: tuple[Tensor, Tensor] | None = None, *, lengths: Any = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """[batch, length, input_size] -> [batch, length, directions * output size], and the last
        states (h, c), as are those to begin with, `hx`: [num_layers * directions, batch, output
        size] and [num_layers * directions, batch, hidden_size].

        The output size is `proj_size`, or `hidden_size` if that is 0; `lengths` is that of `RNN`.
        """
        outputs, (h, c) = self.run(x, as_pair("LSTM", hx), lengths)
        return outputs, (h, c)
