"""Control flow: calls of other funcs, and regions that run once, many times or not at all.

Comes in: tensors, and regions that take them; a region may also read what stands outside it. Goes
out: what the regions yield.
Never: an effect (every region is pure), recursion, or a carried value that changes its type.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..attributes import Ref
from ..builder import Builder
from ..declare import Attr, Op, Operand, Operands, Region, Results, among
from ..dims import Size, check_size
from ..dtypes import boolean, i64
from ..errors import Unmet, require
from ..func import Module, func_of
from ..payloads import Array
from ..shared.regions import check_pure, check_takes, check_yields, yielded
from ..shared.signature import check_not_recursive, match
from ..types import Tensor, Type
from ..values import AnyValue, Block
from .base import TensorOp, Values

INDEX = Tensor((), i64)
PREDICATE = Tensor((), boolean)


class ControlOp(TensorOp):
    """An op that runs other ops; it is not folded, since they may be many."""

    fold = Op.fold


class Call(ControlOp, name="tensor.call"):
    """What the func `callee` returns; its sizes are those of the arguments' axes."""

    arguments: Operands[Tensor]
    callee: Attr[Ref]
    outputs: Results[Tensor]

    def check_in(self, module: Module) -> None:
        require(self.callee in module.funcs, f"there is no func @{self.callee} in the module")
        callee = module[self.callee]
        caller = func_of(self.block) if self.block is not None else None
        if caller is not None:
            check_not_recursive(caller, callee, module)
        match(callee, types_of(self.arguments), types_of(self.outputs))

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        raise Unmet("is put in line before it is batched: hand over its module")

    def run(self, frame: Any, *arguments: Array) -> Any:
        return handed_back(frame.call(self.callee, arguments))


class Cond(ControlOp, name="tensor.cond"):
    """What `on_true` yields where the predicate holds, else what `on_false` yields."""

    predicate: Operand[Tensor] = among({boolean})
    arguments: Operands[Tensor]
    on_true: Region
    on_false: Region
    outputs: Results[Tensor]

    @staticmethod
    def infer(on_true: Block) -> tuple[Type, ...]:
        return yielded("on_true", on_true)

    def check(self) -> None:
        require(self.predicate.type is PREDICATE, "the predicate has rank 0", self.predicate.type)
        for name, region in (("on_true", self.on_true), ("on_false", self.on_false)):
            check_takes(name, region, types_of(self.arguments))
            check_yields(name, region, types_of(self.outputs))
            check_pure(name, region)

    def run(self, frame: Any, predicate: Array, *arguments: Array) -> Any:
        return handed_back(frame.run(self.on_true if predicate else self.on_false, arguments))


class Loop(ControlOp, name="tensor.loop"):
    """The body, `trip` times: carries go from step to step, inputs are read a slice at a time.

    The body takes the step's index, the carries, and each input without its leading axis; it yields
    the next carries and the step's outputs, which are stacked along a new leading axis. `reverse`
    runs the steps from the last to the first; an index still reads and stacks at its own place.
    """

    carries: Operands[Tensor]
    inputs: Operands[Tensor]
    trip: Attr[Size]
    reverse: Attr[bool] = False
    body: Region
    outputs: Results[Tensor]

    @staticmethod
    def infer(carries: tuple[Tensor, ...], trip: Size, body: Block) -> tuple[Type, ...]:
        check_size(trip)
        stacked = _tensors("body", yielded("body", body))[len(carries) :]
        return (*carries, *[type_.with_shape((trip, *type_.shape)) for type_ in stacked])

    def check(self) -> None:
        carries = types_of(self.carries)
        slices = [self._slice(value.type) for value in self.inputs]
        check_takes("body", self.body, (INDEX, *carries, *slices))
        stacked = yielded("body", self.body)[len(carries) :]
        check_yields("body", self.body, (*carries, *stacked))
        check_pure("body", self.body)

    def _slice(self, type_: Tensor) -> Tensor:
        """What one step reads of an input."""
        require(
            type_.rank and type_.shape[0] == self.trip,
            f"an input has type {type_}, expected a leading axis of the trip count, {self.trip}",
        )
        return type_.with_shape(type_.shape[1:])

    def run(self, frame: Any, *operands: Array) -> Any:
        count = len(self.carries)
        trip = frame.size(self.trip)
        require(trip >= 0, f"the trip count {self.trip} is {trip}")
        carries, inputs = operands[:count], operands[count:]
        stacks = [
            np.empty(frame.shape(value.type.shape), value.dtype.storage)
            for value in self.outputs[count:]
        ]
        for step in reversed(range(trip)) if self.reverse else range(trip):
            slices = [array[step, ...] for array in inputs]
            made = frame.run(self.body, (np.asarray(step, np.int64), *carries, *slices))
            carries = made[:count]
            for stack, part in zip(stacks, made[count:], strict=True):
                stack[step] = part
        return handed_back((*carries, *stacks))


class While(ControlOp, name="tensor.while"):
    """The body, as long as the condition holds for the carries that it would take."""

    carries: Operands[Tensor]
    condition: Region
    body: Region
    outputs: Results[Tensor]

    @staticmethod
    def infer(carries: tuple[Tensor, ...]) -> tuple[Type, ...]:
        return carries

    def check(self) -> None:
        carries = types_of(self.carries)
        check_takes("condition", self.condition, carries)
        check_yields("condition", self.condition, (PREDICATE,))
        check_pure("condition", self.condition)
        check_takes("body", self.body, carries)
        check_yields("body", self.body, carries)
        check_pure("body", self.body)

    def run(self, frame: Any, *carries: Array) -> Any:
        while frame.run(self.condition, carries)[0]:
            carries = frame.run(self.body, carries)
        return handed_back(carries)


def types_of(values: Sequence[AnyValue]) -> tuple[Type, ...]:
    """The types of some values."""
    return tuple([value.type for value in values])


def handed_back(values: tuple[Any, ...]) -> Any:
    """What an op's `run` returns for these results: one is not wrapped."""
    return values[0] if len(values) == 1 else values


def _tensors(name: str, types: tuple[Type, ...]) -> tuple[Tensor, ...]:
    """The types that a region yields, all of them tensors."""
    found = tuple([type_ for type_ in types if isinstance(type_, Tensor)])
    require(len(found) == len(types), f"the region {name} yields a value that is no tensor")
    return found
