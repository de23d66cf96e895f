"""A product with a matrix that models have learned.

Comes in: tensors. Goes out: a tensor.
Never: a look at any axis but the last.
"""

from __future__ import annotations

from ...frontend.tensor import Tensor


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weightᵀ + bias: from [..., inputs] to [..., outputs] with weights [outputs, inputs]."""
    made = x @ weight.mT
    return made if bias is None else made + bias
