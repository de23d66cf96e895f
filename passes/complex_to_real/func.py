"""The func on real tensors.

Comes in: a func of the tensor floor. Goes out: one without complex numbers, or the func itself.
Never: an op of complex numbers that stays among others.
"""

from collections.abc import Sequence

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.func import Func, Return
from ...ir.values import AnyValue
from .regions import Known, argument, has_rule, is_touched, put
from .rules import is_complex


def complex_to_real(func: Func) -> Func:
    """The func on real tensors; the func itself if it has no complex ones, or must stay."""
    if not any(map(is_complex, func.arguments)) and not any(map(is_touched, func.body)):
        return func
    if not all(map(has_rule, func.body)):
        return func
    made = Func(func.name, (), func.symbols, func.attributes, func.location)
    builder = Builder(made.body, location=func.location)
    known: Known = {value: argument(made.body, value) for value in func.arguments}
    put(func.body, builder, known)
    builder.location = func.location
    results = [
        _together(builder, *known[each]) if is_complex(each) else known[each][0]
        for each in func.results
    ]
    builder.emit_all(Return, results)
    return made


def names_of_parts(func: Func, names: Sequence[str]) -> list[str]:
    """What people call the arguments of what `complex_to_real` makes of a func."""
    found: list[str] = []
    for value, name in zip(func.arguments, names, strict=True):
        parts = [f"real {name}", f"imaginary {name}"]
        found += parts if is_complex(value) else [name]
    return found


def _together(builder: Builder, real: AnyValue, imaginary: AnyValue) -> AnyValue:
    """Both parts as they stand in memory."""
    shape = (*real.type.shape, 1)
    columns = [builder.emit(tensor.Reshape, each, shape=shape) for each in (real, imaginary)]
    return builder.emit(tensor.Concat, columns, axis=len(shape) - 1)
