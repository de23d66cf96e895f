"""Layers that are one product with a matrix, and modules called one after the other.

Comes in: sizes, initialisers, a key. Goes out: modules.
Never: a name of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

from ...frontend.errors import ArgumentError, fail
from ...frontend.functions.products import matmul
from ...frontend.tensor import Tensor
from ..arguments import check_counts, check_flags
from ..initialisers import Initialiser, Keys, inverse_root
from ..module import Module


class Linear(Module):
    """`x @ weight.T + bias` along the last axis: from `in_features` numbers to `out_features`."""

    weight: Tensor  # [out_features, in_features]
    bias: Tensor | None  # [out_features]

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, *,
        initialiser: Initialiser | None = None, key: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        check_flags("Linear", bias=bias)
        check_counts("Linear", in_features=in_features, out_features=out_features)
        default, keys = inverse_root(in_features), Keys(key)
        shape = (out_features, in_features)
        self.weight = (initialiser or default)(shape, keys.next(), dtype)
        self.bias = default((out_features,), keys.next(), dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """[…, in_features] -> […, out_features]"""
        made = matmul(x, self.weight.T)
        return made if self.bias is None else made + self.bias


class Identity(Module):
    """Hands on what it is given."""

    def forward(self, x: Any) -> Any:
        """x -> x"""
        return x


class Sequential(Module):
    """Modules, or functions, each of which is given what the one before returned.

    They are attributes named "0", "1" and so on, as PyTorch calls them.
    """

    def __init__(self, *layers: Any) -> None:
        for place, layer in enumerate(layers):
            if isinstance(layer, type):
                problem = f"layer {place} is the class {layer.__name__}, and no layer"
                hint = f"make one: `{layer.__name__}(...)`"
                fail(ArgumentError, "Sequential", problem, hint=hint)
            if not callable(layer):
                problem = f"layer {place} is a {type(layer).__name__}, which cannot be called"
                hint = "give layers one by one: `Sequential(*layers)`"
                fail(ArgumentError, "Sequential", problem, hint=hint)
            setattr(self, str(place), layer)

    def forward(self, x: Any) -> Any:
        """What the last one returns."""
        for layer in self:
            x = layer(x)
        return x

    def __len__(self) -> int:
        return sum([name.isdecimal() for name in vars(self)])

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, str(place)) for place in range(len(self))])

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> Sequential: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return Sequential(*list(self)[place])
        if not -len(self) <= place < len(self):
            raise IndexError(f"there are {len(self)} layers, and none at {place}")
        return getattr(self, str(place % len(self)))
