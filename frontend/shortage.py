"""What a person is told when there is not enough memory.

Comes in: the `MemoryError` of whoever asked for memory, and what was being computed. Goes out: an
`OutOfMemory` that names the largest tensor of the computation and the line that recorded it, how
much was asked for, and which tensors are alive.
Never: a computation; or an error of its own, however little memory there is left to say this with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod

from ..ir.dims import DimError, evaluate
from ..ir.func import Func
from ..ir.locations import UNKNOWN, Location
from ..ir.types import Tensor as TensorType
from ..targets.script import NoMemory
from .alive import Made, alive, amount, bytes_of, named
from .caller import user_line
from .errors import BrimstoneError, OutOfMemory, failure

_HINT = (
    "compute less at once (smaller batches, narrower dtypes, `bs.checkpoint`), or let go of tensors"
)


def step_out_of_memory(
    problem: MemoryError, func: Callable[[], Func | None], sizes: Mapping[str, int] | None
) -> BrimstoneError:
    """The error of a step that ran out of memory; `func` gives what it computes, if that is known,
    and `sizes` are those of its symbols."""
    try:
        made = _largest(func(), sizes or {}, _asked(problem))
    except MemoryError:
        made = None
    return out_of_memory(problem, "run", *(made or (None, UNKNOWN)))


def out_of_memory(
    problem: MemoryError, operation: str, type_: TensorType | None, location: Location = UNKNOWN
) -> BrimstoneError:
    """The error where there is no memory for a tensor of a type, recorded at `location`."""
    text, notes = "there is not enough memory", list[str]()
    try:
        if type_ is not None:
            text += f" for {named(type_)}, {amount(bytes_of(type_))}"
        notes = [*_circumstances(problem, type_, location), *alive()]
    except MemoryError:
        pass  # then this much has to do
    return failure(OutOfMemory, operation, text, notes=notes, hint=_HINT, location=location)


def _circumstances(
    problem: MemoryError, type_: TensorType | None, location: Location
) -> Iterator[str]:
    """How much more was asked for, or what the allocator says; and which line needed the value."""
    asked = _asked(problem)
    if asked is None:
        yield f"because: {str(problem) or 'the system gives no more'}"
    elif type_ is None or amount(asked) != amount(bytes_of(type_)):
        yield f"asked for: {amount(asked)} at once"
    needed = user_line()
    if location and needed and needed is not location:
        yield f"needed at: {needed}"


def _asked(problem: MemoryError) -> int | None:
    """The bytes that could not be had, if the error says so: ours does, and that of numpy."""
    if isinstance(problem, NoMemory):
        return problem.bytes
    shape, dtype = getattr(problem, "shape", None), getattr(problem, "dtype", None)
    return prod(shape) * dtype.itemsize if isinstance(shape, tuple) and dtype is not None else None


def _largest(func: Func | None, sizes: Mapping[str, int], asked: int | None) -> Made | None:
    """The first of the largest tensors that are computed, and are no larger than what was asked
    for: what is larger was fused away, and never asked for."""
    largest, most = None, -1
    for made in _computed(func, sizes) if func is not None else ():
        bytes_ = bytes_of(made.type)
        if most < bytes_ and (asked is None or bytes_ <= asked):
            largest, most = made, bytes_
    return largest


def _computed(func: Func, sizes: Mapping[str, int]) -> Iterator[Made]:
    """What each op computes, with plain sizes; those of inner loops may not be known."""
    known = {each: sizes[each.name] for each in func.symbols if each.name in sizes}
    for op in func.walk():
        for type_ in [each.type for each in op.results if isinstance(each.type, TensorType)]:
            try:
                shape = tuple([evaluate(size, known) for size in type_.shape])
            except DimError:
                continue
            yield Made(type_.with_shape(shape), op.location)
