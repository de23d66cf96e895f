"""Ops that say how something is differentiated: not at all, by running it again, by a rule.

Comes in: tensors, and regions that take them. Goes out: what the regions yield.
Never: a difference to the values: whoever does not differentiate may put the body in the place of
the op. `passes/differentiate` gives these ops their meaning for derivatives.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..declare import Attr, Operand, Operands, Region, Results, among
from ..dtypes import ALL, INEXACT
from ..errors import require
from ..payloads import Array
from ..shared.regions import check_pure, check_takes, check_yields, yielded
from ..types import Tensor, Type
from ..values import Block
from .control import ControlOp, handed_back, types_of
from .elementwise import Unary
from .rules import no_tangent


class StopGradient(Unary, name="tensor.stop_gradient", meaning=np.asarray):
    """x, as a constant for derivatives: its tangent is zero."""

    x: Operand[Tensor] = among(ALL)

    jvp = no_tangent


class Checkpoint(ControlOp, name="tensor.checkpoint"):
    """What the body yields; to differentiate it, the body is run again from the arguments alone.

    One that runs `again` shares nothing with what was computed before, and waits for all of its
    arguments.
    """

    arguments: Operands[Tensor]
    again: Attr[bool] = False
    body: Region
    outputs: Results[Tensor]

    @staticmethod
    def infer(body: Block) -> tuple[Type, ...]:
        return yielded("body", body)

    def check(self) -> None:
        check_takes("body", self.body, types_of(self.arguments))
        check_yields("body", self.body, types_of(self.outputs))
        check_pure("body", self.body)

    def run(self, frame: Any, *arguments: Array) -> Any:
        return handed_back(frame.run(self.body, arguments))


class CustomVjp(ControlOp, name="tensor.custom_vjp"):
    """What `primal` yields; its gradient is what `backward` says.

    `forward` yields the same outputs and then residuals. `backward` takes these, and a cotangent of
    each float or complex output; it yields a cotangent of each float or complex argument.
    """

    arguments: Operands[Tensor]
    primal: Region
    forward: Region
    backward: Region
    outputs: Results[Tensor]

    @staticmethod
    def infer(primal: Block) -> tuple[Type, ...]:
        return yielded("primal", primal)

    def check(self) -> None:
        arguments, outputs = types_of(self.arguments), types_of(self.outputs)
        check_takes("primal", self.primal, arguments)
        check_yields("primal", self.primal, outputs)
        check_takes("forward", self.forward, arguments)
        residuals = yielded("forward", self.forward)[len(outputs) :]
        check_yields("forward", self.forward, (*outputs, *residuals))
        check_takes("backward", self.backward, (*residuals, *inexact(outputs)))
        check_yields("backward", self.backward, inexact(arguments))
        for field, region in zip(self.region_fields, self.regions, strict=True):
            check_pure(field.name, region)

    def run(self, frame: Any, *arguments: Array) -> Any:
        return handed_back(frame.run(self.primal, arguments))


class LinearCall(ControlOp, name="tensor.linear_call"):
    """The linear function of the tangents whose transpose is `backward`.

    `backward` takes the residuals, and a cotangent for each output; it yields one for each tangent.
    To run this op forward is slow: `backward` runs once for every number of the outputs.
    """

    residuals: Operands[Tensor]
    tangents: Operands[Tensor]
    backward: Region
    outputs: Results[Tensor]

    @staticmethod
    def infer(residuals: tuple[Tensor, ...], backward: Block) -> tuple[Type, ...]:
        return types_of(backward.arguments[len(residuals) :])

    def check(self) -> None:
        outputs, tangents = types_of(self.outputs), types_of(self.tangents)
        require(inexact(outputs) == outputs, "an output has a dtype without cotangents", *outputs)
        require(inexact(tangents) == tangents, "a tangent has a dtype without any", *tangents)
        check_takes("backward", self.backward, (*types_of(self.residuals), *outputs))
        check_yields("backward", self.backward, tangents)
        check_pure("backward", self.backward)

    def run(self, frame: Any, *operands: Array) -> Any:
        count = len(self.residuals)
        residuals, tangents = operands[:count], operands[count:]
        outputs = [
            np.zeros(frame.shape(value.shape), value.dtype.storage) for value in self.outputs
        ]
        for output in outputs:
            for place, unit, part in units(output):
                cotangents = [unit if each is output else np.zeros_like(each) for each in outputs]
                pulled = frame.run(self.backward, (*residuals, *cotangents))
                output[place] += product(pulled, tangents) * part
        return handed_back(tuple(outputs))


def units(array: Array) -> Iterator[tuple[tuple[int, ...], Array, Any]]:
    """For each number of an array, and each part of a complex one: its place, the cotangent that
    picks it out, and what the part is counted in."""
    complex_number = array.dtype.kind == "c"
    for place in np.ndindex(array.shape):
        for unit, part in ((1, 1), (-1j, 1j)) if complex_number else ((1, 1),):
            picks = np.zeros_like(array)
            picks[place] = unit
            yield place, picks, part


def product(cotangents: Sequence[Array], tangents: Sequence[Array]) -> float:
    """Re Σ c·t, summed in f64."""
    total = 0.0
    for cotangent, tangent in zip(cotangents, tangents, strict=True):
        products = cotangent.astype(np.complex128) * tangent.astype(np.complex128)
        total += float(products.real.sum())
    return total


def inexact(types: Sequence[Type]) -> tuple[Tensor, ...]:
    """Those of the types whose values have tangents."""
    return tuple([each for each in types if isinstance(each, Tensor) and each.dtype in INEXACT])
