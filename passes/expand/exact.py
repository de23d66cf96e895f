"""Functions without rounding: what is left of a division, neighbours, signs.

Comes in: terms of f32 or f64; for neighbours, of any float. Goes out: the function of them, to the
last bit. Never: a quotient that does not fit.
"""

from math import inf, nan

from ...ir.dtypes import f32, i8, i16, i32, i64
from .formats import Format, format_of, power_of_two
from .narrow import converted
from .terms import Sheet, Term, any_lane, copy_sign, repeat, select

SIGNED = {8: i8, 16: i16, 32: i32, 64: i64}


def sign(x: Term) -> Term:
    """-1 or 1; zeros and NaN as they are."""
    return select(abs(x) > 0.0, copy_sign(x.like(1.0), x), x)


def remainder(x: Term, y: Term) -> Term:
    """x - y trunc(x / y), by taking away y 2^k for as long as something is left. Each difference is
    exact: y 2^k is more than half of what it is taken from."""
    layout = format_of(x)
    step = abs(y)
    regular = (step > 0.0) & (abs(x) < inf)

    def more(carries: list[Term]) -> Term:
        rest, divisor = carries
        return any_lane(rest >= divisor)

    def take(sheet: Sheet, carries: list[Term]) -> list[Term]:
        rest, divisor = carries
        multiple = _as_large(divisor, rest, layout)
        multiple = select(multiple > rest, multiple * 0.5, multiple)
        return [select(rest >= divisor, rest - multiple, rest), divisor]

    # Where there is nothing to take away, NaN stops the loop.
    rest, _ = repeat(more, take, [abs(x), select(regular, step, nan)])
    return copy_sign(select(regular | (abs(x) < inf) & step.equals(inf), rest, nan), x)


def _as_large(x: Term, like: Term, layout: Format) -> Term:
    """x 2^k with the exponent of another number; the power of two may need two factors."""
    raised, exponent = _normal(x, layout)
    other, wanted = _normal(like, layout)
    lowered = select(other.equals(like), wanted, wanted - layout.fraction)
    shift = lowered - exponent + 2 * layout.bias
    half = shift >> 1
    return raised * power_of_two(half, layout) * power_of_two(shift - half, layout)


def _normal(x: Term, layout: Format) -> tuple[Term, Term]:
    """A positive number, raised if it is denormal, and its exponent then, with the bias."""
    raised = select(x < layout.least_normal, x * 2.0**layout.fraction, x)
    return raised, raised.bits(layout.unsigned) >> layout.fraction


def next_after(x: Term, y: Term) -> Term:
    """The neighbour of x, among the numbers of its dtype, on the side of y."""
    whole = SIGNED[x.dtype.bits]
    wide = f32 if x.dtype.bits < 32 else x.dtype
    here, there = converted(x, wide), converted(y, wide)
    bits, sign_bit = x.bits(whole), -(1 << (x.dtype.bits - 1))
    away = (here < there).equals(here > 0.0)
    stepped = select(away, bits + 1, bits - 1)
    stepped = select(here.equals(0.0), (y.bits(whole) & sign_bit) | 1, stepped)
    stepped = select(here.equals(there), y.bits(whole), stepped)
    unordered = here.differs(here) | there.differs(there)
    return select(unordered, converted(here + there, x.dtype).bits(whole), stepped).bits(x.dtype)
