"""The func on real tensors.

Comes in: a func of the tensor floor. Goes out: one without complex numbers, or the func itself.
Never: an op of complex numbers that stays among others.
"""

from collections.abc import Mapping, Sequence

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.func import Func, Return
from ...ir.values import AnyValue, Op, walk
from ..copying import copy_ops
from ..reads import reads
from .rules import RULES, Parts, is_complex, is_known, of_real


def complex_to_real(func: Func) -> Func:
    """The func on real tensors; the func itself if it has no complex ones, or must stay."""
    if not any(map(_is_complex_op, func.walk())) and not any(map(is_complex, func.arguments)):
        return func
    if not all(map(_has_rule, func.body)):
        return func
    made = Func(func.name, (), func.symbols, func.attributes, func.location)
    builder = Builder(made.body, location=func.location)
    parts = {value: _argument(made, value) for value in func.arguments}
    for op in func.body:
        builder.location = op.location
        if not op.terminator:
            parts.update(_on_parts(op, builder, parts))
    builder.location = func.location
    results = [
        _together(builder, *parts[each]) if is_complex(each) else parts[each][0]
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


def _has_rule(op: Op) -> bool:
    """Whether nothing in an op is complex, or there is a rule for it."""
    known = op.terminator or is_known(op)
    return known or not any(map(_is_complex_op, walk([op])))


def _is_complex_op(op: Op) -> bool:
    return any(map(is_complex, (*op.operands, *op.results)))


def _argument(made: Func, value: AnyValue) -> Parts:
    """The arguments that stand for one of the func's."""
    part = value.type.with_dtype(value.dtype.real)
    real = made.body.add_argument(part, value.name)
    return (real, made.body.add_argument(part)) if is_complex(value) else of_real(real)


def _on_parts(op: Op, builder: Builder, parts: Mapping[AnyValue, Parts]) -> dict[AnyValue, Parts]:
    """The parts of what an op makes."""
    if _is_complex_op(op):
        return {op.results[0]: RULES[op.__class__](op, builder, [parts[x] for x in op.operands])}
    real = {value: parts[value][0] for value in reads(op)}
    copy_ops([op], builder, real)
    return {result: of_real(real[result]) for result in op.results}


def _together(builder: Builder, real: AnyValue, imaginary: AnyValue) -> AnyValue:
    """Both parts as they stand in memory."""
    shape = (*real.type.shape, 1)
    columns = [builder.emit(tensor.Reshape, each, shape=shape) for each in (real, imaginary)]
    return builder.emit(tensor.Concat, columns, axis=len(shape) - 1)
