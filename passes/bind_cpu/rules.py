"""The rule of each tile op.

Comes in: the tables of the families. Goes out: one table.
"""

from . import (
    arg_reduce,
    control,
    dot,
    elementwise,
    ids,
    memory,
    random,
    reduce,
    scan,
    scattered,
    shapes,
    sort,
)  # fmt: skip
from .binding import Rules

RULES: Rules = {
    **ids.RULES,
    **shapes.RULES,
    **elementwise.RULES,
    **memory.RULES,
    **control.RULES,
    **reduce.RULES,
    **arg_reduce.RULES,
    **scan.RULES,
    **dot.RULES,
    **scattered.RULES,
    **random.RULES,
    **sort.RULES,
}  # fmt: skip
