"""Prints `passes/expand/coefficients.py`: the polynomials of the mathematical functions.

    python -m benchmarks.coefficients > passes/expand/coefficients.py

Each is the best one for its interval, found by `minimax`; the coefficients are rounded to the
dtype one after the other, and those above fitted again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import log2

from benchmarks.minimax import (
    Function,
    Problem,
    Solution,
    evaluate,
    minimax,
    rounded_minimax,
    shown,
    to_bits,
)

HEADER = '''"""Coefficients of polynomials, from the constant term up. Written by

    python -m benchmarks.coefficients

Comes in: nothing. Goes out: one table for each function, by dtype. Beside each row stands how far
the polynomial is from the function, relative to what the function is used for.
Never: a number that was changed by hand.
"""

from collections.abc import Mapping

from ...ir.dtypes import DType, f32, f64

Table = Mapping[DType, tuple[float, ...]]

# fmt: off
'''
BITS = {"f32": 24, "f64": 53}
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628621")
LN2 = Decimal(2).ln()
TINY = Decimal("1e-9")
"""Stands for 0, where a function is a quotient of two that vanish."""
ONE, HALF = Decimal(1), Decimal("0.5")


def series(term: Decimal, step: Callable[[int], Decimal]) -> Decimal:
    """The sum of terms, each the one before times `step(place)`, until they are too small."""
    total, place = term, 0
    while abs(term) > Decimal("1e-58"):
        place += 1
        term *= step(place)
        total += term
    return total


def sine_ratio(u: Decimal) -> Decimal:
    """sin(x) / x of x²."""
    return series(ONE, lambda n: -u / (2 * n * (2 * n + 1)))


def cosine(u: Decimal) -> Decimal:
    """cos(x) of x²."""
    return series(ONE, lambda n: -u / (2 * n * (2 * n - 1)))


def sinh_ratio(u: Decimal) -> Decimal:
    """sinh(x) / x of x²."""
    return series(ONE, lambda n: u / (2 * n * (2 * n + 1)))


def tanh_ratio(u: Decimal) -> Decimal:
    """tanh(x) / x of x²."""
    return sinh_ratio(u) / series(ONE, lambda n: u / (2 * n * (2 * n - 1)))


def arctan_ratio(u: Decimal) -> Decimal:
    """arctan(x) / x of x² < 1, by Euler's series."""
    return series(1 / (1 + u), lambda n: 2 * n * u / ((2 * n + 1) * (1 + u)))


def erf_ratio(u: Decimal) -> Decimal:
    """erf(x) / x of x²."""
    total = series(ONE, lambda n: 2 * u / (2 * n + 1))
    return total * (-u).exp() * 2 / PI.sqrt()


def erfc_scaled(x: Decimal) -> Decimal:
    """erfc(x) exp(x²)."""
    return (x * x).exp() - x * (x * x).exp() * erf_ratio(x * x)


def erfc(x: Decimal) -> Decimal:
    """1 - erf(x)."""
    return 1 - x * erf_ratio(x * x)


def erfc_shape(t: Decimal) -> Decimal:
    """(x + 2) exp(x²) erfc(x) of (x - 2) / (x + 2), by a continued fraction where x is large."""
    x = 2 * (1 + t) / (1 - t)
    if x < 4:
        return (x + 2) * erfc_scaled(x)
    below = x
    for place in range(200, 0, -1):
        below = x + place / (2 * below)
    return (x + 2) / (below * PI.sqrt())


def erf_inverse_ratio(w: Decimal) -> Decimal:
    """y / x, where erf(y) = x = √(1 - e^-w), by Newton's method."""
    x = (1 - (-w).exp()).sqrt()
    y = min(x, w.sqrt() * Decimal("0.9"))
    step = ONE
    while abs(step) > Decimal("1e-30"):
        step = (erfc(y) - (1 - x)) * (y * y).exp() * PI.sqrt() / 2
        y += step
    return y / x


def exp_rest(r: Decimal) -> Decimal:
    """(e^r - 1 - r) / r²."""
    return series(HALF, lambda n: r / (n + 2))


def log_rest(f: Decimal) -> Decimal:
    """(log(1 + f) - f) / f²."""
    return ((1 + f).ln() - f) / (f * f)


def log_weight(f: Decimal) -> Decimal:
    """What makes an error of `log_rest` relative to the logarithm."""
    return f * f / abs((1 + f).ln())


@dataclass
class Entry:
    """One table: what it approximates, in words and as a function, and the degrees by dtype."""

    name: str
    words: str
    target: Function
    low: Decimal
    high: Decimal | dict[str, Decimal]
    degrees: dict[str, tuple[int, int]]
    fixed: tuple[Decimal, ...] = ()
    weight: Function | None = None


def polynomial(f32: int | None, f64: int | None) -> dict[str, tuple[int, int]]:
    """The degrees of a polynomial for each dtype."""
    return {name: (d, 0) for name, d in (("f32", f32), ("f64", f64)) if d is not None}


def series_rest(z: Decimal) -> Decimal:
    """(artanh(s) / s - 1 - s² / 3 - s⁴ / 5) / s⁶ of s²."""
    total, power, place = Decimal(0), ONE, 7
    while power > Decimal("1e-58"):
        total, power, place = total + power / place, power * z, place + 2
    return total


LOG_LOW, LOG_HIGH = HALF.sqrt() - 1, Decimal(2).sqrt() - 1
QUARTER = (PI / 4 * Decimal("1.01")) ** 2
EXP_HALF = LN2 / 2 * Decimal("1.001")

ENTRIES = [
    Entry("EXP", "e^r, |r| <= log 2", Decimal.exp, -LN2 * Decimal("1.001"),
          LN2 * Decimal("1.001"), polynomial(8, 13), (ONE, ONE)),
    Entry("EXP_NEAR", "e^r, |r| <= log 2 / 2", Decimal.exp, -EXP_HALF, EXP_HALF,
          polynomial(6, 11), (ONE, ONE)),
    Entry("EXP2", "2^r, |r| <= 1", lambda r: (r * LN2).exp(), -ONE, ONE, polynomial(8, 13), (ONE,)),
    Entry("EXPM1", "(e^r - 1 - r) / r², |r| <= log 2 / 2", exp_rest, -EXP_HALF, EXP_HALF,
          polynomial(5, 11), (HALF,), lambda r: r * r / abs(r.exp() - 1)),
    Entry("LOG", "(log(1 + f) - f) / f², √½ <= 1 + f <= √2", log_rest, LOG_LOW, LOG_HIGH,
          polynomial(9, 20), (-HALF,), log_weight),
    Entry("SIN", "sin(r) / r of r², |r| <= π/2", sine_ratio, TINY, (PI / 2 * Decimal("1.01")) ** 2,
          polynomial(4, 8), (ONE,)),
    Entry("SIN_NEAR", "sin(r) / r of r², |r| <= π/4", sine_ratio, TINY, QUARTER,
          polynomial(3, 7), (ONE,)),
    Entry("COS_NEAR", "cos(r) of r², |r| <= π/4", cosine, TINY, QUARTER,
          polynomial(4, 7), (ONE, -HALF)),
    Entry("SINH_NEAR", "sinh(x) / x of x², |x| <= 1", sinh_ratio, TINY, ONE,
          polynomial(4, 8), (ONE,)),
    Entry("TANH_NEAR", "tanh(x) / x of x², |x| <= 0.35", tanh_ratio, TINY,
          Decimal("0.35") ** 2, polynomial(3, None), (ONE,)),
    Entry("ARCTAN", "arctan(x) / x of x², |x| <= tan(π/8)", arctan_ratio, TINY,
          Decimal("0.1716"), polynomial(5, 12), (ONE,)),
    Entry("EXP2_HALF", "2^r, |r| <= 1/2", lambda r: (r * LN2).exp(), -HALF, HALF,
          polynomial(5, None)),
    Entry("ERF_NEAR", "erf(x) / x - 1 of x², |x| <= 0.9, and 1", lambda u: erf_ratio(u) - 1, TINY,
          {"f32": Decimal("0.9") ** 2, "f64": ONE}, polynomial(6, 12), (),
          lambda u: 1 / erf_ratio(u)),
    Entry("LOG2_ERFC", "log2(erfc(x)), 0.9 <= x <= 4", lambda x: erfc(x).ln() / LN2,
          Decimal("0.9"), Decimal(4), polynomial(6, None), (),
          lambda x: erfc(x) * LN2 / (1 - erfc(x))),
    Entry("ERFC_FAR", "erfc(x) exp(x²) of (x - 2) / (x + 2), 1 <= x <= 6",
          lambda t: erfc_scaled(2 * (1 + t) / (1 - t)), -ONE / 3, HALF, polynomial(None, 17)),
    Entry("ERFC", "(x + 2) exp(x²) erfc(x) of (x - 2) / (x + 2), 1/2 <= x <= 28", erfc_shape,
          Decimal("-0.6"), Decimal("0.867"), polynomial(None, 22)),
    Entry("POWER_LOG2", "log2(1 + f) / f, √½ <= 1 + f <= √2", lambda f: (1 + f).ln() / LN2 / f,
          LOG_LOW, LOG_HIGH, polynomial(None, 13)),
    Entry("POWER_EXP2", "2^r, |r| <= 1/2", lambda r: (r * LN2).exp(), -HALF, HALF,
          polynomial(None, 6)),
    Entry("POWER_SERIES", "(artanh(s) / s - 1 - s² / 3 - s⁴ / 5) / s⁶ of s², |s| <= 0.172",
          series_rest, Decimal(0), Decimal("0.0296"), polynomial(None, 7)),
    Entry("CUBE_ROOT", "∛w, 1/√8 <= w <= √8", lambda w: (w.ln() / 3).exp(),
          Decimal("0.353"), Decimal("2.83"), polynomial(5, 5)),
    Entry("ERF_INVERSE_NEAR", "y / erf(y) of w - 3.125, w = -log(1 - erf(y)²) <= 6.25",
          lambda t: erf_inverse_ratio(t + Decimal("3.125")), Decimal("-3.125") + TINY,
          Decimal("3.125"), polynomial(None, 24)),
    Entry("ERF_INVERSE_FAR", "the same of √w - 3.25, 2.5 <= √w <= 4",
          lambda t: erf_inverse_ratio((t + Decimal("3.25")) ** 2), Decimal("-0.75"),
          Decimal("0.75"), polynomial(None, 18)),
    Entry("ERF_INVERSE_FARTHEST", "the same of √w - 5, 4 <= √w <= 6.01",
          lambda t: erf_inverse_ratio((t + 5) ** 2), Decimal(-1), Decimal("1.01"),
          polynomial(None, 17)),
]  # fmt: skip


def solved(entry: Entry, name: str) -> Solution:
    """The coefficients of one row, rounded."""
    numerator, denominator = entry.degrees[name]
    high = entry.high[name] if isinstance(entry.high, dict) else entry.high
    problem = Problem(
        entry.target, entry.low, high, numerator, denominator, entry.fixed, entry.weight
    )
    return quotient(problem, BITS[name]) if denominator else rounded_minimax(problem, BITS[name])


def quotient(problem: Problem, bits: int) -> Solution:
    """Both polynomials, scaled so that the leading coefficients lose least when rounded."""
    found = minimax(problem)
    first = found.numerator[0]
    scale = min(
        (1 + Decimal(place) / 2 ** (bits - 1) for place in range(512)),
        key=lambda scale: abs(to_bits(first * scale, bits) / (first * scale) - 1),
    )
    numerator = [to_bits(each * scale, bits) for each in found.numerator]
    denominator = [to_bits(each * scale, bits) for each in found.denominator]
    error = max(
        abs((evaluate(numerator, x) / evaluate(denominator, x) - value) * weight)
        for x, value, weight in zip(problem.grid, problem.values, problem.weights, strict=True)
    )
    return Solution(numerator, denominator, error)


def rows(entry: Entry) -> str:
    """The text of an entry's tables."""
    above: list[str] = []
    below: list[str] = []
    for name in entry.degrees:
        found = solved(entry, name)
        note = f"  # 2^{log2(found.error):.1f}"
        above.append(row(name, found.numerator, note))
        if len(found.denominator) > 1:
            below.append(row(name, found.denominator, ""))
    text = f"\n# {entry.words}\n{entry.name}: Table = {{\n{''.join(above)}}}\n"
    if below:
        text += f"{entry.name}_BELOW: Table = {{\n{''.join(below)}}}\n"
    return text


def row(name: str, coefficients: list[Decimal], note: str) -> str:
    """One line or more of a table."""
    texts = [shown(each, BITS[name]) for each in coefficients]
    texts = [text if set(text) & set(".e") else f"{text}.0" for text in texts]
    lines = [f"    {name}: ({note}"]
    for text in texts:
        if len(lines[-1]) + len(text) > 96 or lines[-1].endswith(f"({note}"):
            lines.append("       ")
        lines[-1] += f" {text},"
    return "\n".join([*lines, "    ),\n"])


def main() -> None:
    """Print the file."""
    print(HEADER + "".join(rows(entry) for entry in ENTRIES), end="")


if __name__ == "__main__":
    main()
