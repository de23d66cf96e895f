"""What is known of the values of a func: the table that `flow` fills, and everybody reads.

Comes in: facts, value by value. Goes out: for values of integers and booleans a `Range`, for floats
their `Traits`; a value that nobody has said anything of, such as one that a rewrite has just made,
is looked at when it is asked for.
Never: a fact that is not certain.
"""

from collections.abc import Callable
from typing import Any, cast

from ...ir.dims import DimError
from ...ir.dtypes import BITS
from ...ir.tensor import TensorOp
from ...ir.types import Tensor, Type
from ...ir.values import AnyValue
from .bounds import LIMITS, Range, joined
from .traits import NONE, Traits

Fact = Range | Traits
Rule = Callable[[Any, "Known"], Fact]
"""The fact of an op's only result, given those of the values that it reads."""


class Known(dict[AnyValue, Fact]):
    """Facts by value; `known[value]` is never missing."""

    def __init__(self, rule_of: Callable[[TensorOp], Rule | None]) -> None:
        super().__init__()
        self.rule_of = rule_of

    def __missing__(self, value: AnyValue) -> Fact:
        return self.look_again(value)

    def look_again(self, value: AnyValue) -> Fact:
        """Note what its op, which has no regions, says of a value now."""
        op = value.owner
        rule = self.rule_of(op) if isinstance(op, TensorOp) else None
        try:
            fact = unknown(value.type) if rule is None else rule(op, self)
        except DimError:  # a size too large to compute with
            fact = unknown(value.type)
        self[value] = fact
        return fact

    def range(self, value: AnyValue) -> Range:
        """Where each element of a value of integers or booleans lies."""
        return cast(Range, self[value])

    def traits(self, value: AnyValue) -> Traits:
        """What is certain of each element of a value of floats; of other values, nothing."""
        fact = self[value]
        return fact if isinstance(fact, int) else NONE


def unknown(type_: Type) -> Fact:
    """What is known of a value by its type alone."""
    return LIMITS[type_.dtype] if isinstance(type_, Tensor) and type_.dtype in BITS else NONE


def either(one: Fact, other: Fact) -> Fact:
    """What is known of a value that is one of two, of the same dtype."""
    if isinstance(one, int) or isinstance(other, int):
        return cast(Traits, one) & cast(Traits, other)
    return joined(one, other)
