"""Quotients of sizes, rounded up, where integers are divided toward zero.

Comes in: a dividend and a divisor, which is at least 1. Goes out: the dividends of divisions toward
zero, which are added.
Never: a quotient of what may be negative by one division: of -6 + 4 - 1 a fourth is 0, and not -1.
"""

from ..ir.dims import Size, interval, maximum, minimum


def dividends(above: Size, below: Size) -> list[Size]:
    """What `below` divides so that the sum is `ceil_div(above, below)`."""
    lifted = above + below - 1
    if interval(lifted)[0] >= 0:
        return [lifted]
    return [maximum(above, 0) + below - 1, minimum(above, 0)]
