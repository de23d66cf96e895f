"""The whole of a kernel: its arguments, and the split of its programs into interior and edge.

Comes in: a tile func, a machine. Goes out: a loop func for one program of the grid. For each view
it takes a buffer, which begins at the view's first element, then an i64 for the size of each axis,
then one for the stride of each axis, in elements; scalars as they are; then a buffer for each
`tile.scratch`, whose lengths are the func's attribute `scratch`.
Never: a change to the tile func.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from math import prod
from typing import cast

from ...ir import tile
from ...ir.dims import Symbol
from ...ir.dtypes import i64
from ...ir.func import Func, Return
from ...ir.types import INDEX, Buffer, Scalar, Space, Tile, View
from ...ir.values import AnyValue, Block, Op, walk
from ..dead import sweep
from ..machine import Machine
from ..past_caches import stores_past_caches
from ..ranges import Ranges
from .binding import Binding, Memory, Splits
from .checks import Check, open_checks
from .dot import streamed_ops
from .emitter import Emitter, Index
from .interior import is_interior
from .memory import load_numbers
from .refused import TooLong
from .rules import RULES
from .sizes import Symbols, size_index
from .split import evaluate
from .tail import Tails, keys_of, tails_of
from .twice import run_block, twice

PRELUDE = (
    tile.Constant, tile.ProgramId, tile.ProgramCount, tile.Extent, tile.View, tile.Unary,
    tile.Binary, tile.Compare, tile.Select, tile.Cast, tile.Bitcast,
)  # fmt: skip
"""What is computed before it is known whether a program is one of the interior."""


def bind_cpu(func: Func, machine: Machine) -> Func:
    """The loop func of a tile func."""
    ranges = Ranges(func)  # what is proved once holds for every attempt
    tails = tails_of(func, ranges)
    for splits in (Splits.ALL, Splits.INNERMOST):
        try:
            return _bound(func, machine, ranges, splits, tails)
        except TooLong:
            continue  # with fewer loops that are written out twice
    return _bound(func, machine, ranges, Splits.NONE, tails)


def _bound(func: Func, machine: Machine, ranges: Ranges, splits: Splits, tails: Tails) -> Func:
    scratches = [op for op in func.walk() if isinstance(op, tile.Scratch)]
    attributes = {**func.attributes, "scratch": [prod(op.shape) for op in scratches]}
    made = Func(func.name, (), func.symbols, attributes, func.location)
    emitter = Emitter(made.body)
    binding = Binding(machine, lanes_of(func, machine), ranges, emitter, RULES)
    binding.splits, binding.tails, binding.streamed = splits, tails, streamed_ops(func)
    binding.past_caches.update(stores_past_caches(func, ranges))
    binding.schedule = cast(Mapping[str, int], func.attributes.get("tile", {}))
    symbols: dict[Symbol, Index] = {}
    for argument in func.arguments:
        binding.values[argument] = _argument(argument, made.body, symbols)
    load_numbers(func, binding)
    for op in scratches:
        name = op.result.name or "scratch"
        buffer = made.body.add_argument(Buffer(op.dtype, Space.GLOBAL), name)
        binding.values[op.result] = _scratch(binding, buffer, op, symbols)
    _program(func, binding)
    emitter.location = func.location
    emitter.emit_all(Return, [])
    sweep(made.body)
    return made


def lanes_of(func: Func, machine: Machine) -> int:
    """How many lanes the vectors of a kernel have: as many as a register holds of its widest dtype,
    but that 64-bit integers, which are places mostly, may fill two."""
    values = [value for op in func.walk() for value in op.results if isinstance(value.type, Tile)]
    dtypes = {value.dtype for value in values}
    return min([machine.lanes(dtype) for dtype in dtypes - {i64} or dtypes], default=1)


def _argument(argument: AnyValue, body: Block, symbols: dict[Symbol, Index]) -> AnyValue | Memory:
    """What stands for an argument."""
    type_, name = argument.type, argument.name or f"argument_{argument.index}"
    if isinstance(type_, Scalar):
        return body.add_argument(type_, name)
    assert isinstance(type_, View)
    axes = range(type_.rank)
    buffer = body.add_argument(Buffer(type_.dtype, Space.GLOBAL), name)
    sizes: list[Index] = [body.add_argument(INDEX, f"{name}_size_{axis}") for axis in axes]
    strides: list[Index] = [body.add_argument(INDEX, f"{name}_stride_{axis}") for axis in axes]
    for axis, size in enumerate(type_.facts.get("size", ())):
        if isinstance(size, Symbol):
            sizes[axis] = symbols.setdefault(size, sizes[axis])
        sizes[axis] = size if isinstance(size, int) else sizes[axis]
    if "unit_stride" in type_.facts:
        strides[type_.facts["unit_stride"]] = 1
    for axis in range(type_.rank - type_.facts.get("dense", 0), type_.rank):
        behind = [size for size in sizes[axis + 1 :] if isinstance(size, int)]
        if len(behind) == type_.rank - axis - 1:
            strides[axis] = prod(behind)
    return Memory(buffer, 0, tuple(sizes), tuple(strides))


def _scratch(binding: Binding, buffer: AnyValue, op: tile.Scratch, symbols: Symbols) -> Memory:
    """Row-major memory of a program."""
    emitter = binding.emitter
    sizes = [size_index(emitter, size, symbols) for size in op.shape]
    strides: list[Index] = []
    stride: Index = 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride = emitter.product(stride, size)
    return Memory(buffer, 0, tuple(sizes), tuple(strides))


def _program(func: Func, binding: Binding) -> None:
    """The interior and the edge, or the one body if there is no difference."""
    for op in func.body:
        plain = isinstance(op, PRELUDE) and not isinstance(op.results[0].type, Tile)
        if plain and all(operand in binding.values for operand in op.operands):
            binding.bind(op)
    checks = [
        check
        for check in open_checks(func.body, binding.ranges)
        if check.source in binding.values
        and check.key not in binding.tails.keys
        and evaluate(binding, check.offset, {}) is not None
    ]
    binding.emitter.location = func.location
    if not checks:
        run_block(binding, func.body)
        return
    condition = is_interior(func, binding, checks)
    if func.body in binding.tails.of:
        twice(binding, checks, condition, partial(run_block, binding, func.body))
        return
    before, ops, behind = _around(func.body, checks, binding.ranges)
    binding.run(before)
    twice(binding, checks, condition, partial(binding.run, ops))
    binding.run(behind)


def _around(
    body: Block, checks: Iterable[Check], ranges: Ranges
) -> tuple[list[Op], list[Op], list[Op]]:
    """The ops of a body before those that are to be written out twice; those, from the first to the
    last one with such a check; and those behind, if they need nothing that is made in between."""
    ops, keys = [*body], {check.key for check in checks}
    have = [at for at, op in enumerate(ops) if keys.intersection(keys_of([op], ranges))]
    first, last = have[0], have[-1] + 1
    made = {value for op in ops[first:last] for value in op.results}
    if any([value in made for op in walk(ops[last:]) for value in op.operands]):
        last = len(ops)
    return ops[:first], ops[first:last], ops[last:]
