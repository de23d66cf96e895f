"""Launching kernels: funcs of the module that compute on memory.

Comes in: arrays and sizes that a kernel reads, arrays that it writes. Goes out: nothing; the arrays
are written. How a kernel of a floor is launched is registered in `KERNELS`, by the class of type
that its arguments have.
Never: what the kernel computes.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations
from typing import Any, NamedTuple, TypeVar

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
from ..values import AnyValue
from .allocations import check_writes, overlaps
from .base import StepOp

T = TypeVar("T")
Run = Callable[[Sequence[Array], Sequence[Array]], None]
"""What runs a kernel on what it reads and what it writes."""


class Group(NamedTuple):
    """What one run of a kernel is handed, and its grid."""

    reads: Sequence[AnyValue]
    writes: Sequence[AnyValue]
    grid: Shape


class Launch(StepOp, name="step.launch", effects=(Effect.READ, Effect.WRITE)):
    """Run the func `kernel`, on `grid` programs where its floor has programs.

    What is written may be what is read, whole: the kernel then works in place. It runs for each of
    so many `groups`, in any order: reads, writes and grids stand group after group, sizes are bound
    for each, and no group writes what another one reads or writes.
    """

    reads: Operands[types.Array | Scalar]
    writes: Operands[types.Array]
    kernel: Attr[Ref]
    grid: Attr[Shape]
    groups: Attr[int | None] = None

    @property
    def count(self) -> int:
        """How often the kernel runs."""
        return 1 if self.groups is None else self.groups

    @property
    def each(self) -> list[Group]:
        """What is handed to each run of the kernel."""
        if self.groups is None:
            return [Group(self.reads, self.writes, self.grid)]
        parts = [_split(part, self.count) for part in (self.reads, self.writes, self.grid)]
        return [Group(*part) for part in zip(*parts, strict=True)]

    def check(self) -> None:
        if self.groups is not None:
            self._check_groups(self.groups)
        for size in self.grid:
            check_size(size)

    def _check_groups(self, count: int) -> None:
        """Refuse lists that so many groups cannot share."""
        require(count >= 1, f"there are {count} groups")
        for name, part in (("reads", self.reads), ("writes", self.writes), ("grid", self.grid)):
            shared = len(part) % count == 0
            require(shared, f"{name} has {len(part)} entries for {count} groups")

    def check_in(self, module: Module) -> None:
        kernel = _kernel(self, module)
        caller = func_of(self.block) if self.block is not None else None
        if caller is not None:
            check_not_recursive(caller, kernel, module)
        for group in self.each:
            kernels_of(kernel).check(group, kernel)

    def act(self, frame: Any, *arrays: Array) -> None:
        kernel = _kernel(self, frame.module)
        count = len(self.reads)
        reads, writes = arrays[:count], arrays[count:]
        check_writes(reads, writes)
        read, written = _split(reads, self.count), _split(writes, self.count)
        _check_apart(read, written)
        for group, *handed in zip(self.each, read, written, strict=True):
            kernels_of(kernel).run(group, kernel, frame, *handed)

    def ready(self, frame: Any) -> Run:
        """What `act` does, again and again, on memory that is known to be as it should be."""
        kernel, count = _kernel(self, frame.module), self.count
        runs = [kernels_of(kernel).ready(group, kernel, frame) for group in self.each]
        if count == 1:
            return runs[0]

        def run_all(reads: Sequence[Array], writes: Sequence[Array]) -> None:
            handed = zip(runs, _split(reads, count), _split(writes, count), strict=True)
            for run, read, written in handed:
                run(read, written)

        return run_all


class Kernels:
    """How the kernels of one floor are launched."""

    def check(self, launch: Group, kernel: Func) -> None:
        """Refuse a launch whose arrays and grid do not fit the kernel."""
        raise NotImplementedError

    def run(
        self,
        launch: Group,
        kernel: Func,
        frame: Any,
        reads: Sequence[Array],
        writes: Sequence[Array],
    ) -> None:
        """Run the kernel on live memory; writes overlap neither each other nor parts of reads."""
        raise NotImplementedError

    def ready(self, launch: Group, kernel: Func, frame: Any) -> Run:
        """What runs the kernel again and again, at the sizes of this frame."""
        return partial(self.run, launch, kernel, frame)


class TensorKernels(Kernels):
    """Kernels of the tensor floor: reads are the arguments, results go into the writes."""

    def check(self, launch: Group, kernel: Func) -> None:
        self._match(launch, kernel)

    def run(
        self,
        launch: Group,
        kernel: Func,
        frame: Any,
        reads: Sequence[Array],
        writes: Sequence[Array],
    ) -> None:
        found = self._match(launch, kernel)
        sizes = {symbol.name: frame.size(size) for symbol, size in found.items()}
        _put(frame.call(kernel.name, reads, sizes), writes)

    def ready(self, launch: Group, kernel: Func, frame: Any) -> Run:
        """Arguments of the launch's types are the kernel's own: they are not looked at again."""
        found = self._match(launch, kernel)
        sizes = {symbol: frame.size(size) for symbol, size in found.items()}

        def run(reads: Sequence[Array], writes: Sequence[Array]) -> None:
            _put(frame.inner(kernel.name, sizes).run(kernel.body, reads), writes)

        return run

    def _match(self, launch: Group, kernel: Func) -> Any:
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


def _put(made: Sequence[Array], writes: Sequence[Array]) -> None:
    """What a kernel has made, where it belongs; a result may be an argument itself, which another
    write would change under it."""
    made = made if len(made) == 1 else [np.array(each) for each in made]
    for write, array in zip(writes, made, strict=True):
        write[...] = array


def _kernel(launch: Launch, module: Module | None) -> Func:
    name = launch.kernel
    require(module is not None and name in module.funcs, f"there is no func @{name} in the module")
    assert module is not None
    return module[name]


def _split(values: Sequence[T], count: int) -> list[Sequence[T]]:
    """As many equal parts."""
    length = len(values) // count
    return [values[place * length : (place + 1) * length] for place in range(count)]


def _check_apart(reads: Sequence[Sequence[Array]], writes: Sequence[Sequence[Array]]) -> None:
    """Refuse groups that do not see the same memory in every order."""
    for one, other in permutations(range(len(reads)), 2):
        for write in writes[one]:
            apart = not any(overlaps(write, read) for read in reads[other])
            require(apart, f"group {one} writes what group {other} reads")


def _as_tensor(type_: types.Array | Scalar) -> Tensor:
    """What a kernel of the tensor floor sees of memory, or of a size on the host."""
    return Tensor(type_.shape if isinstance(type_, types.Array) else (), type_.dtype)
