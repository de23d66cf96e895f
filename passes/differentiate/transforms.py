"""The four passes: `jvp`, `linearise`, `transpose` and `vjp`, from one func to others.

Comes in: a func, and a flag for each argument: whether to differentiate with respect to it. Goes
out: new funcs with the same sizes, whose ops have the lines of the ops they come from. Of the
outputs, all floats and complex numbers have tangents, in order; zeros where none depends.
Never: a change to the func, or a call to another one: see `inlined`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from ...ir.builder import Builder
from ...ir.dtypes import INEXACT
from ...ir.func import Func, Return
from ...ir.tensor.base import Tangents
from ...ir.tensor.control import types_of
from ...ir.tensor.rules import present
from ...ir.values import AnyValue, Block
from ..prune import sweep
from ..reads import depends, needed
from . import control_apart, control_backward, control_forward
from .backward import Backward
from .errors import NotDifferentiable
from .forward import Forward
from .regions import parted, some, spaced
from .split import Split


class Origin(Enum):
    """Where a residual is, besides among the residuals."""

    ARGUMENT = "argument"
    OUTPUT = "output"
    STORED = "stored"


@dataclass(frozen=True, slots=True)
class Source:
    """A residual is argument `index` of the forward func, or its output `index`, or neither: it is
    then kept for the linear func alone, and `index` is its place among all results."""

    origin: Origin
    index: int


@dataclass(frozen=True, slots=True)
class Linearised:
    """A func taken apart.

    `forward` takes the arguments and returns the outputs, then the residuals. `linear` takes the
    residuals, then the tangents of the arguments asked for, and returns those of the outputs.
    Residuals are distinct; `residual_sources` says of each where else it is found.
    """

    forward: Func
    linear: Func
    residual_sources: tuple[Source, ...]


def jvp(func: Func, wrt: Sequence[bool]) -> Func:
    """Arguments, then tangents of those asked for; outputs, then their tangents."""
    made = _named(func, "jvp")
    forward = Forward(Builder(made.body), control_forward.CONTROL)
    arguments = _arguments(made, func.arguments)
    chosen = _chosen(func, wrt)
    tangents = _arguments(made, chosen, "_tangent")
    outputs, changes = _run(func, forward, arguments, spaced(tangents, wrt), func.results)
    ends = _ends(forward.builder, outputs, changes)
    return _returned(made, forward.builder, outputs, ends)


def linearise(func: Func, wrt: Sequence[bool], pushed: bool = False) -> Linearised:
    """The func with its residuals, and the linear func of its tangents; with `pushed` this is to
    run as it stands, and is not only transposed."""
    first, second = _named(func, "forward"), _named(func, "linear")
    rules = control_apart.PUSHED if pushed else control_apart.CONTROL
    forward = Forward(Builder(first.body), rules)
    arguments = _arguments(first, func.arguments)
    chosen = _chosen(func, wrt)
    tangents = Block(types_of(chosen)).arguments
    outputs, changes = _run(func, forward, arguments, spaced(tangents, wrt), func.results)
    split = Split(first.body, forward.linear, some(changes), at_hand=arguments)
    residuals = tuple(split.residuals)
    known = _arguments(second, residuals)
    values = dict(zip(residuals, known, strict=True))
    values.update(zip(tangents, _arguments(second, chosen, "_tangent"), strict=True))
    builder = Builder(second.body)
    split.rebuild(builder, values)
    split.erase()
    moved = [change and values.get(change, change) for change in changes]
    _returned(second, builder, _ends(builder, outputs, moved))
    _returned(first, forward.builder, outputs, residuals)
    return Linearised(first, second, _sources(residuals, arguments, outputs))


def transpose(linear: Func, residual_count: int) -> Func:
    """Residuals, then cotangents of the outputs; cotangents of the other arguments."""
    made = _named(linear, "transpose")
    residuals, tangents = linear.arguments[:residual_count], linear.arguments[residual_count:]
    _check_inexact(linear, "argument", tangents)
    _check_inexact(linear, "output", linear.results)
    values = dict(zip(residuals, _arguments(made, residuals), strict=True))
    cotangents = _arguments(made, linear.results, "_cotangent")
    backward = Backward(Builder(made.body), control_backward.CONTROL, set(), values)
    backward.block(linear.body, tangents, cotangents)
    ends = _ends(backward.builder, tangents, backward.found(tangents))
    return _returned(made, backward.builder, ends)


def vjp(func: Func, wrt: Sequence[bool], outputs: Sequence[int]) -> Func:
    """Arguments, then cotangents of the outputs at these places; all outputs, then gradients."""
    made = _named(func, "vjp")
    forward = Forward(Builder(made.body), control_apart.CONTROL)
    arguments = _arguments(made, func.arguments)
    chosen = _chosen(func, wrt)
    pulled = [func.results[place] for place in outputs]
    _check_inexact(func, "output", pulled)
    cotangents = _arguments(made, pulled, "_cotangent")
    tangents = Block(types_of(chosen)).arguments
    ends, changes = _run(func, forward, arguments, spaced(tangents, wrt), pulled)
    linear = [op for op in made.body if depends(op, forward.linear)]
    backward = Backward(forward.builder, control_backward.CONTROL, forward.linear, {})
    changing = [changes[place] for place in outputs]
    backward.add(some(changing), parted(cotangents, changing)[0])
    backward.run(reversed(linear))
    gradients = _ends(forward.builder, tangents, backward.found(tangents))
    for op in reversed(linear):
        op.detach()
    return _returned(made, forward.builder, ends, gradients)


def _named(func: Func, suffix: str) -> Func:
    """A func without arguments and ops, but with the sizes and settings of another."""
    return Func(f"{func.name}_{suffix}", (), func.symbols, func.attributes, func.location)


def _arguments(func: Func, like: Iterable[AnyValue], suffix: str = "") -> tuple[AnyValue, ...]:
    """New arguments of the types and with the names of some values."""
    return func.body.add_arguments([(each.type, each.name and each.name + suffix) for each in like])


def _chosen(func: Func, wrt: Sequence[bool]) -> list[AnyValue]:
    """The arguments with a flag."""
    if len(wrt) != len(func.arguments):
        count = len(func.arguments)
        raise NotDifferentiable(f"@{func.name} has {count} arguments, and wrt {len(wrt)} flags")
    chosen = [value for value, flag in zip(func.arguments, wrt, strict=True) if flag]
    _check_inexact(func, "argument", chosen)
    return chosen


def _check_inexact(func: Func, what: str, values: Iterable[AnyValue]) -> None:
    for value in values:
        if value.dtype not in INEXACT:
            problem = f"an {what} is {value!r}, and only floats and complex numbers have tangents"
            raise NotDifferentiable(f"@{func.name}: {problem}", func.location)


def _run(
    func: Func,
    forward: Forward,
    arguments: Sequence[AnyValue],
    tangents: Sequence[AnyValue | None],
    wanted: Iterable[AnyValue],
) -> tuple[tuple[AnyValue, ...], Tangents]:
    """Sweep a func; its outputs in the new one, and the tangents of those that are wanted."""
    forward.bind(arguments, tangents)
    counted = needed(func.body, [value for value in wanted if value.dtype in INEXACT])
    forward.aside = {op for op in func.body if counted.isdisjoint(op.results)}
    return forward.region(func.body, forward.builder, arguments)


def _ends(
    builder: Builder, values: Iterable[AnyValue], tangents: Iterable[AnyValue | None]
) -> list[AnyValue]:
    """The tangents of those values that can have one, zeros where they are zero."""
    pairs = zip(values, tangents, strict=True)
    return [present(builder, each, value) for value, each in pairs if value.dtype in INEXACT]


def _returned(func: Func, builder: Builder, *groups: Sequence[AnyValue]) -> Func:
    """The func, which returns these values and computes nothing else."""
    builder.location = func.location
    builder.emit_all(Return, [value for group in groups for value in group])
    sweep(func.body)
    return func


def _sources(
    residuals: Iterable[AnyValue], arguments: Sequence[AnyValue], outputs: Sequence[AnyValue]
) -> tuple[Source, ...]:
    """Where each residual is found; of an argument that is also an output, as an argument."""
    found = {value: Source(Origin.OUTPUT, place) for place, value in enumerate(outputs)}
    found |= {value: Source(Origin.ARGUMENT, place) for place, value in enumerate(arguments)}
    return tuple(
        [
            found.get(value, Source(Origin.STORED, len(outputs) + place))
            for place, value in enumerate(residuals)
        ]
    )
