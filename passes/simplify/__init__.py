"""`simplify`: algebra that never changes a bit of a result.

Comes in: a tensor func. Goes out: the same func with fewer and simpler ops, folded constants,
composed views, and no dead code. The rules stand in one file for each kind of op.
Never: a rewrite that is right only for real numbers.
"""

from ...ir.func import Func
from ...ir.rewriter import Rules, apply
from ..context import Context
from ..declare import pipeline_pass
from .arithmetic import ARITHMETIC
from .control import CONTROL
from .conversions import CONVERSIONS
from .gaps import GAPS
from .logic import LOGIC
from .nothing import NOTHING
from .reductions import REDUCTIONS
from .views import VIEWS
from .windows import WINDOWS

SIMPLIFY = Rules(NOTHING, ARITHMETIC, LOGIC, CONVERSIONS, VIEWS, WINDOWS, GAPS, REDUCTIONS, CONTROL)


@pipeline_pass("simplify")
def simplify(func: Func, context: Context) -> None:
    """Algebra that never changes a result's bits."""
    apply(SIMPLIFY, func, context)
