"""`infer`: what the sizes and elements of a func certainly are, and the rewrites that follow.

Comes in: a tensor func. Goes out: the func with simpler sizes, and without the tests, extremes,
casts and roundings that are decided before it runs.
Never: an assumption. Later passes ask for the same knowledge:

    known = analysed(func)
    known.range(value)    the integers, or sizes, between which each element lies: `0..n - 1`
    known.traits(value)   of floats: NUMBER, FINITE, NOT_NEGATIVE, PLUS, NOT_POSITIVE, WHOLE
    ranges(func)          the range of every value of integers or booleans

It stays true while ops are replaced by others that give the same, and grows with them.
"""

from collections.abc import Iterator, Mapping

from ...ir.dtypes import BITS
from ...ir.func import Func
from ...ir.rewriter import Rules
from ...ir.types import Tensor
from ...ir.values import AnyValue
from ..context import Context
from ..declare import pipeline_pass
from .bounds import Range
from .decisions import DECISIONS
from .flow import analysed
from .identities import IDENTITIES
from .known import Known
from .sizes import settle_sizes
from .using import use

INFER = Rules(DECISIONS, IDENTITIES)

__all__ = ["INFER", "Known", "Range", "analysed", "infer", "ranges", "rewrite_known"]


@pipeline_pass("infer")
def infer(func: Func, context: Context) -> None:
    """Decide before the program runs what sizes, ranges and traits decide."""
    if context.spent:
        return
    settle_sizes(func, context)
    rewrite_known(func, context)


def rewrite_known(func: Func, context: Context, rules: Rules = INFER) -> None:
    """Apply rewrites that ask what is known of the values of a func."""
    use(rules, func, analysed(func), context)


def ranges(func: Func) -> Mapping[AnyValue, Range]:
    """Where the elements of each value of integers or booleans lie, in regions too."""
    known = analysed(func)
    return {value: known.range(value) for value in _values(func) if _is_counted(value)}


def _values(func: Func) -> Iterator[AnyValue]:
    yield from func.arguments
    for op in func.walk():
        yield from op.results
        for region in op.regions:
            yield from region.arguments


def _is_counted(value: AnyValue) -> bool:
    return isinstance(value.type, Tensor) and value.type.dtype in BITS
