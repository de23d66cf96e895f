"""Every f32 denominator in machine code that multiplies by reciprocals, held against division.

    python -m benchmarks.every_quotient

Such a quotient, rounded, could differ from the one that division gives only where x / y lies next
to the middle between two numbers, so those are tried: for every denominator from 1 to 2 all
numerators for which 2 x 2^k - (2 q + 1) y, in units of the last places, is at most 12 in size (6
would do; docs/math.md). Powers of two change nothing. It takes some minutes.
"""

import numpy as np

from benchmarks.machine_code import Array, MachineCode
from brimstone.targets.llvm.machines import CPU, host

LOW, HIGH = 1 << 23, 1 << 24
"""The denominators from 1 to 2, and the numerators, as whole numbers."""
AT_A_TIME = 1 << 12
CLOSEST = 12
LANES, ROUNDS = 16, 18
TEXT = f"""
func @kernel(%x: buffer<f32, global>, %y: buffer<f32, global>, %out: buffer<f32, global>,
             %rows: scalar<i64>) {{
  %zero = loop.constant {{value = 0}} : scalar<i64>
  %one = loop.constant {{value = 1}} : scalar<i64>
  %step = loop.constant {{value = {LANES}}} : scalar<i64>
  %columns = loop.constant {{value = {LANES * ROUNDS}}} : scalar<i64>
  loop.for %zero, %rows, %one (%i: scalar<i64>) {{
    %divisor = loop.load %y, %i : scalar<f32>
    %all = loop.splat %divisor {{lanes = {LANES}}} : vec<{LANES}, f32>
    %start = loop.binary %i, %columns {{kind = multiply}} : scalar<i64>
    loop.for %zero, %columns, %step (%j: scalar<i64>) {{
      %at = loop.binary %start, %j {{kind = add}} : scalar<i64>
      %v = loop.load_vector %x, %at {{lanes = {LANES}}} : vec<{LANES}, f32>
      %q = loop.binary %v, %all {{kind = divide}} : vec<{LANES}, f32>
      loop.store_vector %out, %at, %q
      yield
    }}
    yield
  }}
  return
}}"""


class Rows:
    """Machine code that divides each row of 288 numbers by a number of its own."""

    def __init__(self, machine: CPU) -> None:
        self.code = MachineCode(TEXT, machine)

    def __call__(self, x: Array, y: Array) -> Array:
        """x[i, j] / y[i]"""
        out = np.empty_like(x)
        self.code(x, y, out, y.size)
        return out


def close_numerators(y: Array) -> Array:
    """For whole denominators, from 2^23 to 2^24, a row each of whole numerators whose quotient lies
    next to the middle between two numbers; what is left of a row is y.

    Sought is x with 2 x 2^k = (2 q + 1) y + j, for small j and a q of 24 bits. Let y be 2^s times
    the odd number o. Then 2^s divides j, and x is (j / 2^s + o) / 2 / 2^(k-s), modulo o.
    """
    shift = np.log2(y & -y).astype(np.int64)
    odd = y >> shift
    rows, filled = np.repeat(y[:, None], LANES * ROUNDS, 1), np.zeros_like(y)
    for k in (23, 24):
        by_power = np.ones_like(y)
        for halving in range(k):
            by_power = np.where(halving < k - shift, _half(by_power, odd), by_power)
        for j in [*range(-CLOSEST, 0), *range(1, CLOSEST + 1)]:
            part = (j >> shift) + odd
            whole = (((j >> shift) << shift) == j) & (part % 2 == 0)
            x = part // 2 % odd * by_power % odd
            x += np.maximum(LOW - x + odd - 1, 0) // odd * odd
            while (whole & (x < HIGH)).any():
                at = np.flatnonzero(whole & (x < HIGH) & ((x < y) == (k == 24)))
                rows[at, filled[at]] = x[at]
                filled[at] += 1
                x += odd
    return rows


def wrong(rows: Rows, y: Array) -> tuple[int, int]:
    """How many quotients by whole denominators were tried, and how many were others."""
    numerators = close_numerators(y)
    x, divisors = numerators.astype(np.float32), y.astype(np.float32)
    differ = rows(x, divisors) != x / divisors[:, None]
    return int((numerators != y[:, None]).sum()), int(differ.sum())


def _half(x: Array, odd: Array) -> Array:
    """x / 2 modulo an odd number."""
    return (x + (x & 1) * odd) >> 1


def main() -> None:
    """Print how many were tried and how many are wrong."""
    rows, totals = Rows(host()), np.zeros(2, np.int64)
    for start in range(LOW, HIGH, AT_A_TIME):
        totals += wrong(rows, np.arange(start, start + AT_A_TIME, dtype=np.int64))
    print(f"{HIGH - LOW} denominators, {totals[0]} quotients, {totals[1]} wrong")


if __name__ == "__main__":
    main()
