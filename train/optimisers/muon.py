"""Muon: a momentum made orthogonal, for the matrices inside a network."""

from dataclasses import dataclass
from math import prod, sqrt

from ... import Tensor, maximum, zeros_like
from ...frontend.errors import ArgumentError, ShapeError, fail
from ..checks import expect_among, expect_at_least, expect_positive, expect_shares, expect_whole
from ..schedules.schedule import Rate, expect_rate
from .optimiser import Now, Optimiser, Slots, norm


@dataclass(frozen=True)
class Muon(Optimiser):
    """Steps by the momentum with all singular values brought near 1 (Jordan et al., 2024).

    For matrices, and for kernels of convolutions, each output channel of which is a row; vectors,
    embeddings and the last layer are left to another optimiser, with `Groups`. `weight_decay`
    shrinks the parameter. `adjust_lr_fn` scales the rate to a matrix of [m, n]: "original" by
    max(1, m / n) ** 0.5, "match_rms_adamw" by 0.2 * max(m, n) ** 0.5. The iteration is computed in
    the dtype of the update, float32 at least.
    """

    lr: Rate = 1e-3
    weight_decay: float = 0.1
    momentum: float = 0.95
    nesterov: bool = True
    ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315)
    eps: float = 1e-7
    ns_steps: int = 5
    adjust_lr_fn: str | None = None

    def __post_init__(self) -> None:
        expect_rate(self, lr=self.lr)
        expect_shares(self, momentum=self.momentum)
        expect_at_least(self, 0, weight_decay=self.weight_decay)
        expect_positive(self, eps=self.eps)
        expect_whole(self, 0, ns_steps=self.ns_steps)
        expect_among(self, (None, "original", "match_rms_adamw"), adjust_lr_fn=self.adjust_lr_fn)
        if not isinstance(self.ns_coefficients, tuple) or len(self.ns_coefficients) != 3:
            problem = "ns_coefficients is a tuple of 3 numbers"
            fail(ArgumentError, "Muon", problem, self.ns_coefficients)

    def first(self, parameter: Tensor) -> Slots:
        """The momentum."""
        if parameter.ndim < 2:
            fail(
                ShapeError, "Muon", "takes matrices, and kernels of convolutions", parameter,
                hint="`train.Groups({train.is_matrix: train.Muon()}, train.AdamW())`",
            )  # fmt: skip
        return {"momentum": zeros_like(parameter)}

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its momentum."""
        momentum = self.momentum * slots["momentum"] + (1.0 - self.momentum) * gradient
        ahead = self.momentum * momentum + (1.0 - self.momentum) * gradient
        chosen = ahead if self.nesterov else momentum
        rows, columns = parameter.shape[0], prod(parameter.shape[1:])
        move = self._orthogonal(chosen.reshape(rows, columns)).reshape(parameter.shape)
        shrunk = parameter * (1.0 - now.rate * self.weight_decay)
        return shrunk - now.rate * self._adjustment(rows, columns) * move, {"momentum": momentum}

    def _orthogonal(self, matrix: Tensor) -> Tensor:
        """A matrix with the same singular vectors and singular values near 1."""
        one, three, five = self.ns_coefficients
        is_tall = matrix.shape[0] > matrix.shape[1]
        x = matrix.mT if is_tall else matrix
        x = x / maximum(norm(x), self.eps)
        for _ in range(self.ns_steps):
            gram = x @ x.mT
            x = one * x + (three * gram + five * (gram @ gram)) @ x
        return x.mT if is_tall else x

    def _adjustment(self, rows: int, columns: int) -> float:
        """What the rate is multiplied by, for a matrix of this shape."""
        if self.adjust_lr_fn == "match_rms_adamw":
            return 0.2 * sqrt(max(rows, columns))
        return sqrt(max(1.0, rows / columns))
