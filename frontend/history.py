"""What is kept of a computation so that it can be differentiated later.

Comes in: recordings that depend on tensors which ask for gradients. Goes out: for each tensor that
was computed of them, the `Segment` it came from: the linear function of the step at these values.
Never: a change to a parameter. A history lives as long as a handle on what was computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.dtypes import INEXACT
from ..ir.func import Func
from ..passes.differentiate import transpose, vjp
from .funcs import table_of_funcs
from .functions.common import filled
from .node import Called, Node, leaf, record_parts
from .ready import Step
from .recording import Recording

History = tuple["Segment", int]
_TRANSPOSED = table_of_funcs(1024)


class Segment:
    """One computation: its inputs, and how cotangents of its outputs become those of its inputs.

    With `residuals`, the linear function is at hand; without, the step is run once more.
    """

    __slots__ = ("inputs", "key", "recipe", "residuals", "serial", "types")

    def __init__(
        self, recording: Recording, recipe: Func, residuals: Sequence[Node] | None = None
    ) -> None:
        self.inputs = tuple(recording.inputs)
        self.key = recording.key
        self.recipe = recipe
        self.residuals = residuals
        self.serial = max((node.serial for node in recording.nodes), default=0)
        self.types = tuple([node.type for node in recording.outputs])

    @property
    def tracked(self) -> list[Node]:
        """The inputs that cotangents flow to."""
        return [node for node in self.inputs if node.tracked]

    def pull_back(self, cotangents: dict[int, Node]) -> list[Node]:
        """The cotangents of the tracked inputs, of those of some outputs."""
        flags = tuple([node.tracked for node in self.inputs])
        if self.residuals is not None:
            func = _transposed(self.key, self.recipe, len(self.residuals), flags)
            given = [
                cotangents[place] if place in cotangents else filled(0, type_.shape, type_.dtype)
                for place, type_ in enumerate(self.types)
                if type_.dtype in INEXACT
            ]
            return record_parts(Called, (*self.residuals, *given), (func,), types=_types(func))
        places = tuple(sorted(cotangents))
        func = _reversed(self.key, self.recipe, places, flags)
        operands = (*self.inputs, *[cotangents[place] for place in places])
        return record_parts(Called, operands, (func,), types=_types(func))[len(self.types) :]


def segment_of(recording: Recording, step: Step, buffers: Sequence[Any]) -> Segment:
    """The history of what a step has just computed."""
    if step.linear is None:
        assert step.func is not None  # as something is tracked
        return Segment(recording, step.func)
    kept = buffers[len(buffers) - len(step.residuals) :]
    pairs = zip(kept, step.residuals, strict=True)
    line = recording.outputs[-1].location  # roughly: who has it computed keeps this, too
    residuals = [leaf(buffer, type_, step.device, location=line) for buffer, type_ in pairs]
    return Segment(recording, step.linear, residuals)


def _transposed(key: Any, linear: Func, residuals: int, flags: tuple[bool, ...]) -> Func:
    """The transpose of a linear function, for cotangents of all of its outputs."""
    found = _TRANSPOSED.get((key, flags))
    return found or _TRANSPOSED.put((key, flags), transpose(linear, residuals))


def _reversed(key: Any, func: Func, places: tuple[int, ...], flags: tuple[bool, ...]) -> Func:
    """A func and its transpose as one function."""
    found = _TRANSPOSED.get((key, flags, places))
    return found or _TRANSPOSED.put((key, flags, places), vjp(func, flags, places))


def _types(func: Func) -> tuple[Any, ...]:
    return tuple([value.type for value in func.results])
