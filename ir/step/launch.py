"""Launching kernels: funcs of the module that compute on memory.

Comes in: arrays and sizes that a kernel reads, arrays that it writes. Goes out: nothing; the arrays
are written. How a kernel of a floor is launched is registered in `KERNELS`, by the class of type
that its arguments have.
Never: what the kernel computes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import types
from ..attributes import Ref, Shape
from ..declare import Attr, Effect, Operands
from ..dims import check_size
from ..errors import Unmet, require
from ..func import Func, Module, func_of
from ..payloads import Array
from ..shared.signature import check_not_recursive, match
from ..types import Scalar, Tensor, Type
from .allocations import check_writes
from .base import StepOp


class Launch(StepOp, name="step.launch", effects=(Effect.READ, Effect.WRITE)):
    """Run the func `kernel`, on `grid` programs where its floor has programs.

    What is written may be what is read, whole: the kernel then works in place.
    """

    reads: Operands[types.Array | Scalar]
    writes: Operands[types.Array]
    kernel: Attr[Ref]
    grid: Attr[Shape]

    def check(self) -> None:
        for size in self.grid:
            check_size(size)

    def check_in(self, module: Module) -> None:
        kernel = _kernel(self, module)
        caller = func_of(self.block) if self.block is not None else None
        if caller is not None:
            check_not_recursive(caller, kernel, module)
        kernels_of(kernel).check(self, kernel)

    def act(self, frame: Any, *arrays: Array) -> None:
        kernel = _kernel(self, frame.module)
        count = len(self.reads)
        reads, writes = arrays[:count], arrays[count:]
        check_writes(reads, writes)
        kernels_of(kernel).run(self, kernel, frame, reads, writes)


class Kernels:
    """How the kernels of one floor are launched."""

    def check(self, launch: Launch, kernel: Func) -> None:
        """Refuse a launch whose arrays and grid do not fit the kernel."""
        raise NotImplementedError

    def run(
        self,
        launch: Launch,
        kernel: Func,
        frame: Any,
        reads: Sequence[Array],
        writes: Sequence[Array],
    ) -> None:
        """Run the kernel on live memory; writes overlap neither each other nor parts of reads."""
        raise NotImplementedError


class TensorKernels(Kernels):
    """Kernels of the tensor floor: reads are the arguments, results go into the writes."""

    def check(self, launch: Launch, kernel: Func) -> None:
        self._match(launch, kernel)

    def run(
        self,
        launch: Launch,
        kernel: Func,
        frame: Any,
        reads: Sequence[Array],
        writes: Sequence[Array],
    ) -> None:
        found = self._match(launch, kernel)
        sizes = {symbol.name: frame.size(size) for symbol, size in found.items()}
        # A result may be an argument itself, which another write would change under it.
        made = [np.array(each) for each in frame.call(kernel.name, reads, sizes)]
        for write, array in zip(writes, made, strict=True):
            write[...] = array

    def _match(self, launch: Launch, kernel: Func) -> Any:
        reads = [_as_tensor(value.type) for value in launch.reads]
        writes = [_as_tensor(value.type) for value in launch.writes]
        return match(kernel, reads, writes, through_results=True)


KERNELS: dict[type[Type], Kernels] = {Tensor: TensorKernels()}
"""For each class of type that a kernel's arguments or results may have, how it is launched."""


def kernels_of(kernel: Func) -> Kernels:
    """How a kernel is launched, from the first of its types that says so."""
    for value in (*kernel.arguments, *kernel.results):
        found = KERNELS.get(value.type.__class__)
        if found is not None:
            return found
    known = " or ".join(each.keyword for each in KERNELS)
    raise Unmet(f"@{kernel.name} is no kernel: it takes and returns no {known}")


def _kernel(launch: Launch, module: Module | None) -> Func:
    name = launch.kernel
    require(module is not None and name in module.funcs, f"there is no func @{name} in the module")
    assert module is not None
    return module[name]


def _as_tensor(type_: types.Array | Scalar) -> Tensor:
    """What a kernel of the tensor floor sees of memory, or of a size on the host."""
    return Tensor(type_.shape if isinstance(type_, types.Array) else (), type_.dtype)
