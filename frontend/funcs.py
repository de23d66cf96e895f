"""Tables of funcs that are costly to make, such as derivatives of what was traced.

Comes in: how many there may be. Goes out: a table, whose funcs have so many ops together at most:
programs that trace or record something else each time make one after the other.
Never: a func that changes; what is kept is everybody's.
"""

from __future__ import annotations

from typing import Any, cast

from ..ir.func import Func
from ..ir.shared.cache import Weighed
from ..runtime.hanging import Table

OPS_AT_MOST = 1 << 17
"""An op takes about 1 KiB."""


def table_of_funcs(limit: int = 4096) -> Table[Any, Any]:
    """One for funcs, and for tuples in which some are."""
    return Table(lambda: Weighed(limit, OPS_AT_MOST, _ops_in))


def _ops_in(made: object) -> int:
    if isinstance(made, Func):
        return sum(1 for _ in made.walk())
    return sum(map(_ops_in, cast("tuple[object, ...]", made))) if isinstance(made, tuple) else 1
