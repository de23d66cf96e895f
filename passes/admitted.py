"""Numbers that a symbol may stand for.

Comes in: a symbol, and about how large its size is to be. Goes out: a size that it admits.
Never: a func; what a func asks of several sizes at once is not looked at.
"""

from ..ir.dims import Symbol


def admitted(symbol: Symbol, size: int) -> int:
    """The size nearest to `size` that a symbol may have."""
    rounded_up = -(-size // symbol.multiple) * symbol.multiple
    return min(max(rounded_up, symbol.low), symbol.high)
