"""Common subexpressions: what is computed twice is computed once.

Comes in: a func. Goes out: the func in which no two equal pure ops are such that one dominates the
other; the one that stays stands for the lines of both.
Never: a merge of ops with regions, nor of two ops in sibling regions, of which neither dominates;
nor across the border of a checkpoint, which computes again rather than keeps.
"""

from ..ir.func import Func
from ..ir.tensor import Checkpoint
from ..ir.values import Key, Op, replace
from .context import Context
from .declare import pipeline_pass


@pipeline_pass("cse")
def cse(func: Func, context: Context) -> None:
    """Merge equal pure ops into the one that dominates the others."""
    # One table is enough: an op that does not dominate this place dominates no later one either,
    # so the newer op may take its entry.
    seen: dict[tuple[Op | None, Key], Op] = {}
    for op in list(func.walk()):
        if op.block is None or not op.numbered:
            continue
        key = checkpoint_around(op), op.identity
        found = seen.setdefault(key, op)
        if found is op:
            continue
        if not found.precedes(op):
            seen[key] = op
        elif context.allow("cse", op):
            _merge(op, found)


def checkpoint_around(op: Op) -> Op | None:
    """The innermost checkpoint in whose body an op stands."""
    parent = op.block.parent_op if op.block is not None else None
    while parent is not None and not isinstance(parent, Checkpoint):
        parent = parent.block.parent_op if parent.block is not None else None
    return parent


def _merge(op: Op, into: Op) -> None:
    """Let the readers of `op` read `into`; readers that so become equal merge at once."""
    into.location = into.location.union(op.location)
    for old, new in zip(op.results, into.results, strict=True):
        new.name = new.name or old.name
        replace(old, new)
    op.detach()
    if into.block is not None:
        into.block.numbering[into.identity] = into
