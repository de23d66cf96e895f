"""Takes out what nobody reads.

Comes in: a func. Goes out: the func without the pure ops, at any depth, whose results are unused.
Never: an op with an effect or one that holds such an op; nor an unused result of an op that has
used ones, such as a carry of a loop.
"""

from ..ir.func import Func, Module
from ..ir.rewriter import Journal
from ..ir.values import Block, Op, walk
from .context import Context
from .copying import copy_module
from .declare import pipeline_pass


@pipeline_pass("dead")
def dead(func: Func, context: Context) -> None:
    """Erase pure ops whose results nobody reads."""
    sweep(func.body, context)


def sweep(block: Block, journal: Journal | None = None) -> None:
    """The same in one block and the regions inside."""
    # A stack of ops, the last of the program on top: readers come before what they read.
    pending = list(block)
    while pending:
        op = pending.pop()
        if removable(op) and (journal is None or journal.allow("dead", op)):
            op.detach()
            continue
        for region in op.regions:
            pending.extend(region)


def removable(op: Op) -> bool:
    """Whether nobody reads the op, and nothing in it has an effect."""
    return (
        op.pure
        and op.unused
        and (not op.regions or all(each.pure or each.terminator for each in walk([op])))
    )


def swept(module: Module) -> Module:
    """A copy of a module without dead code."""
    copy = copy_module(module)
    for func in copy:
        dead(func, Context())
    return copy
