"""Where a number that is not finite comes from: the first operation that made it, and its line.

Comes in: a function, and arguments for which it gives NaN or an infinity. Goes out: an `Origin`.
Never: speed; the interpreter runs the function, op by op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ir.interpreter import Frame
from .arguments import Arguments
from .errors import expect_functions
from .explanation.labels import argument_labels
from .function import trace
from .handle import wrap
from .tensor import host_array
from .trace import untraced
from .updates import collecting

HostArray = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Origin:
    """What made a number that is not finite: an operation at a line, or an argument had it."""

    what: str
    operation: str
    location: str
    given: str = ""

    def __str__(self) -> str:
        if not self.location:
            return f"{self.operation} has {self.what}"
        took = f" from {self.given}" if self.given else ""
        return f"`{self.operation}` at {self.location} made {self.what}{took}"


def nonfinite_origin(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Origin | None:
    """Which operation made the first NaN or infinity that reached a result; None if none is there.

    An infinity that was a constant, such as a mask's, counts when it became NaN.
    """
    expect_functions("nonfinite_origin", function)
    given = Arguments(args, kwargs)

    def run(values: list[Any]) -> Any:
        args, kwargs = given.rebuilt(values)
        with collecting():  # what modules leave is for who asked for the number
            return function(*args, **kwargs)

    traced = trace("nonfinite_origin", run, given.like)
    labels = argument_labels(function, given.structure)
    names = [labels[place] for place in given.places]
    names += [f"a tensor from outside ({node.type})" for node in traced.captures]
    nodes = [*given.nodes, *traced.captures]
    with untraced():
        arrays = [host_array(wrap(node), "nonfinite_origin") for node in nodes]
    frame = _Watching(None, {})
    frame.label(traced.func.arguments, arrays, names)
    with np.errstate(all="ignore"):
        results = frame.run(traced.func.body, arrays)
    outputs = zip(traced.func.results, results, strict=True)
    return next((frame.origins[value] for value, made in outputs if _flaw(made)), None)


class _Watching(Frame):
    """A frame that notes for each value that is not finite where that comes from."""

    __slots__ = ("origins", "within")

    def __init__(self, module: Any, sizes: Any) -> None:
        super().__init__(module, sizes)
        self.origins: dict[Any, Origin] = {}
        self.within: Origin | None = None

    def label(self, values: Sequence[Any], arrays: Sequence[HostArray], names: list[str]) -> None:
        """Say what the arguments are called, of which some may not be finite."""
        for value, array, name in zip(values, arrays, names, strict=True):
            flaw = _flaw(array)
            if flaw:
                self.origins[value] = Origin(flaw, name, "")

    def _step(self, op: Any, operands: list[Any]) -> None:
        outer, self.within = self.within, None
        super()._step(op, operands)
        inside, self.within = self.within, outer
        for value in op.results:
            flaw = _flaw(self.values[value])
            if flaw:
                found = self._origin(op, operands, flaw, inside)
                self.origins[value] = found
                self.within = self.within or found

    def _origin(self, op: Any, operands: list[Any], flaw: str, inside: Origin | None) -> Origin:
        """Where a flaw of an op's result comes from: an operand that has it, else the op."""
        for value, array in zip(op.operands, operands, strict=True):
            known = self.origins.get(value)
            if known is not None and _flaw(array) == flaw:
                return known
        if inside is not None:
            return inside
        given = ", ".join([_range_of(array) for array in operands[:3]])
        return Origin(flaw, op.name.removeprefix("tensor."), str(op.location), given)


def _flaw(array: Any) -> str:
    """`NaN` where a tensor has one, else `infinity` where it has one, else nothing."""
    found = np.asarray(array)
    if found.dtype.kind not in "fcV" or found.dtype.itemsize == 0:
        return ""
    wide = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
    if np.isnan(wide).any():
        return "NaN"
    return "" if np.isfinite(wide).all() else "infinity"


def _range_of(array: Any) -> str:
    """A tensor by its shape and the range of its numbers."""
    found = np.asarray(array)
    if found.size == 0:
        return f"{list(found.shape)}"
    wide = found.astype(np.float64) if found.dtype.kind != "c" else np.abs(found)
    return f"{list(found.shape)} with {wide.min():.4g} to {wide.max():.4g}"
