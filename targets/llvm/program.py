"""The host side of a compiled step: its ops as Python actions, once for each tuple of sizes.

Comes in: a module whose main func is on the step floor, and its kernels by name. Goes out: a
`Program`, which runs it on numpy arrays.
Never: what a kernel computes. Kernels that are still on the tensor floor run in the interpreter.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

from ...ir import step
from ...ir.dims import Size, Symbol, evaluate
from ...ir.errors import ExecutionError, Unmet
from ...ir.func import Func, Module
from ...ir.interpreter import Frame
from ...ir.payloads import Array
from ...ir.shared.named import called, read_only
from ...ir.types import Scalar, Shaped
from ...ir.values import AnyValue, Block, Op
from .code import Code
from .kernel import Kernel, Launcher
from .memory import Pool

Sizes = Mapping[Symbol, int]
Memory = list[Any]
"""What stands for each value of the func: an array, or a number of the host."""
Action = Callable[[Memory], None]
PREPARED_AT_MOST = 64


class Program:
    """A step that runs kernels one after the other, for any sizes."""

    def __init__(self, module: Module, code: Code, pool: Pool) -> None:
        self.module, self.code, self.pool = module, code, pool
        func = module.main
        self.places: dict[AnyValue, int] = {}
        for value in (*func.arguments, *[each for op in func.walk() for each in _made_by(op)]):
            self.places[value] = len(self.places)
        self.returned = [self.places[value] for value in func.results]
        self._empty = [None] * (len(self.places) - len(func.arguments))
        self._names = [symbol.name for symbol in func.symbols]
        self._prepared: dict[tuple[int | None, ...], list[Action]] = {}
        self._lock = Lock()

    def __call__(self, buffers: Sequence[Array], sizes: Mapping[str, int]) -> tuple[Array, ...]:
        """Run the step on buffers of the target."""
        memory: Memory = [*buffers, *self._empty]
        for act in self._actions(buffers, sizes):
            act(memory)
        results = tuple([memory[place] for place in self.returned])
        for result in results:
            result.flags.writeable = False
        return results

    def _actions(self, buffers: Sequence[Array], given: Mapping[str, int]) -> list[Action]:
        """The actions for these sizes; those that are not given, the buffers' shapes say."""
        prepared = self._prepared.get(tuple([given.get(name) for name in self._names]))
        if prepared is not None:
            return prepared
        sizes = bind(self.module.main, buffers, given)
        key = tuple([sizes[symbol] for symbol in self.module.main.symbols])
        with self._lock:
            prepared = self._prepared.get(key)
            if prepared is None:
                if len(self._prepared) >= PREPARED_AT_MOST:
                    self._prepared.pop(next(iter(self._prepared)))
                prepared = self._prepared[key] = Preparation(self, sizes).all()
        return prepared


class Preparation:
    """The actions of a program's blocks, where its symbols have certain sizes."""

    def __init__(self, program: Program, sizes: Sizes) -> None:
        self.program, self.sizes = program, sizes
        self.pool, self.module = program.pool, program.module

    def all(self) -> list[Action]:
        """The actions of the whole step, once there is code for the kernels that it launches."""
        body = self.module.main.body
        self.program.code.make(self.launched(body))
        return self.block(body)

    def block(self, block: Block) -> list[Action]:
        """The actions of the ops of a block, in order."""
        return [self._action(op) for op in block if not op.terminator]

    def launched(self, block: Block) -> Iterator[str]:
        """The kernels that are launched with these sizes."""
        for op in block:
            if isinstance(op, step.Launch):
                yield op.kernel
            regions = op.regions
            if isinstance(op, step.When):
                regions = (self.chosen(op),)
            for region in regions:
                yield from self.launched(region)

    def chosen(self, op: step.When) -> Block:
        """The region that runs."""
        return op.enough if self.size(op.size) >= op.at_least else op.below

    def place(self, value: AnyValue) -> int:
        """Where the value is kept."""
        return self.program.places[value]

    def size(self, size: Size) -> int:
        """What a size is."""
        return size if isinstance(size, int) else evaluate(size, self.sizes)

    def shape(self, value: Any) -> tuple[int, ...]:
        """What the shape of an array is."""
        return tuple([self.size(size) for size in value.type.shape])

    def _action(self, op: Op) -> Action:
        prepare = PREPARE.get(op.__class__)
        if prepare is None:
            raise Unmet(f"the CPU has no {op.name}")
        act = prepare(self, op)

        def blamed(memory: Memory) -> None:
            try:
                act(memory)
            except (Unmet, ValueError, IndexError, OverflowError, ArithmeticError) as problem:
                raise ExecutionError(f"{op.name}: {problem}", op.location) from problem

        return blamed


def bind(func: Func, buffers: Sequence[Array], given: Mapping[str, int]) -> Sizes:
    """What the func's symbols are: by name, else from the shapes of the arguments."""
    sizes: dict[Symbol, int] = {}
    for symbol in func.symbols:
        if symbol.name in given:
            sizes[symbol] = given[symbol.name]
    for value, buffer in zip(func.arguments, buffers, strict=True):
        shape = value.type.shape if isinstance(value.type, Shaped) else ()
        for size, found in zip(shape, np.shape(buffer), strict=True):
            if isinstance(size, Symbol):
                sizes.setdefault(size, found)
    for symbol in func.symbols:
        if symbol not in sizes or not symbol.admits(sizes[symbol]):
            found = f"is {sizes[symbol]}" if symbol in sizes else "is not given"
            raise ExecutionError(f"@{func.name}: the size {symbol.name} {found}", func.location)
    return sizes


def _allocate(preparation: Preparation, op: step.Allocate) -> Action:
    shape, storage = preparation.shape(op.array), op.array.dtype.storage
    place, empty = preparation.place(op.array), preparation.pool.empty

    def act(memory: Memory) -> None:
        memory[place] = empty(shape, storage)

    return act


def _free(preparation: Preparation, op: step.Free) -> Action:
    place = preparation.place(op.array)

    def act(memory: Memory) -> None:
        memory[place] = None

    return act


def _view(preparation: Preparation, op: step.View) -> Action:
    source, place = preparation.place(op.array), preparation.place(op.part)
    shape, storage = preparation.shape(op.part), op.part.dtype.storage
    start = preparation.size(op.offset) * op.array.dtype.itemsize
    stop = start + int(np.prod(shape, dtype=np.int64)) * storage.itemsize

    def act(memory: Memory) -> None:
        array = memory[source]
        if (start, stop, storage) == (0, array.nbytes, array.dtype):
            memory[place] = array.reshape(shape)
        else:
            memory[place] = (
                array.reshape(-1).view(np.uint8)[start:stop].view(storage).reshape(shape)
            )

    return act


def _row(preparation: Preparation, op: step.Row) -> Action:
    source, index = preparation.place(op.array), preparation.place(op.index)
    place = preparation.place(op.row)

    def act(memory: Memory) -> None:
        memory[place] = memory[source][int(memory[index]), ...]

    return act


def _dim(preparation: Preparation, op: step.Dim) -> Action:
    size = np.asarray(preparation.shape(op.array)[op.axis], np.int64)
    place = preparation.place(op.size)

    def act(memory: Memory) -> None:
        memory[place] = size

    return act


def _copy(preparation: Preparation, op: step.Copy) -> Action:
    source, destination = preparation.place(op.source), preparation.place(op.destination)

    def act(memory: Memory) -> None:
        np.copyto(memory[destination], memory[source])

    return act


def _fill(preparation: Preparation, op: step.Fill) -> Action:
    place, value = preparation.place(op.array), op.value.array

    def act(memory: Memory) -> None:
        memory[place].fill(value)

    return act


def _host(preparation: Preparation, op: step.Host) -> Action:
    reads = [preparation.place(value) for value in op.reads]
    writes = [preparation.place(value) for value in op.writes]

    def act(memory: Memory) -> None:
        called(
            op.function,
            *[read_only(memory[place]) for place in reads],
            *[memory[place] for place in writes],
        )

    return act


def _inside(preparation: Preparation, op: step.Inside) -> Action:
    array, indices = preparation.place(op.array), preparation.place(op.indices)

    def act(memory: Memory) -> None:
        op.act(None, memory[array], memory[indices])

    return act


def _launch(preparation: Preparation, op: step.Launch) -> Action:
    kernel = preparation.program.code.get(op.kernel)
    return _interpreted(preparation, op) if kernel is None else _compiled(preparation, op, kernel)


def _compiled(preparation: Preparation, op: step.Launch, kernel: Kernel) -> Action:
    """The launch of a kernel that is machine code."""
    values = (*op.reads, *op.writes)
    places = [preparation.place(value) for value in values]
    grid = [preparation.size(size) for size in op.grid]
    shapes = [None if isinstance(v.type, Scalar) else preparation.shape(v) for v in values]
    launch = Launcher(kernel, shapes, grid, preparation.sizes, preparation.pool)

    def act(memory: Memory) -> None:
        launch([memory[place] for place in places])

    return act


def _interpreted(preparation: Preparation, op: step.Launch) -> Action:
    """The launch of a kernel that is still tensors."""
    places = [preparation.place(value) for value in (*op.reads, *op.writes)]
    split, module, sizes = len(op.reads), preparation.module, preparation.sizes

    def act(memory: Memory) -> None:
        arrays = [memory[place] for place in places]
        with np.errstate(all="ignore"):
            op.run(Frame(module, sizes), *map(read_only, arrays[:split]), *arrays[split:])

    return act


def _loop(preparation: Preparation, op: step.Loop) -> Action:
    trip, index = preparation.size(op.trip), preparation.place(op.body.arguments[0])
    actions = preparation.block(op.body)

    def act(memory: Memory) -> None:
        for count in range(trip):
            memory[index] = np.asarray(count, np.int64)
            for each in actions:
                each(memory)

    return act


def _branch(preparation: Preparation, op: step.Branch) -> Action:
    predicate = preparation.place(op.predicate)
    on_true, on_false = preparation.block(op.on_true), preparation.block(op.on_false)

    def act(memory: Memory) -> None:
        for each in on_true if memory[predicate] else on_false:
            each(memory)

    return act


def _when(preparation: Preparation, op: step.When) -> Action:
    enough = preparation.size(op.size) >= op.at_least
    actions = preparation.block(op.enough if enough else op.below)

    def act(memory: Memory) -> None:
        for each in actions:
            each(memory)

    return act


PREPARE: dict[type[Op], Callable[[Preparation, Any], Action]] = {
    step.Allocate: _allocate,
    step.Branch: _branch,
    step.Copy: _copy,
    step.Dim: _dim,
    step.Fill: _fill,
    step.Free: _free,
    step.Host: _host,
    step.Inside: _inside,
    step.Launch: _launch,
    step.Loop: _loop,
    step.Row: _row,
    step.View: _view,
    step.When: _when,
}


def _made_by(op: Op) -> list[AnyValue]:
    """The values that an op makes: its results, and what its regions take."""
    return [*op.results, *[value for region in op.regions for value in region.arguments]]
