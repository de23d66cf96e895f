"""Angles of any size, brought near zero: x = n unit + r, with a whole n and |r| <= unit / 2.

Comes in: a term of f32 or f64, and a unit of π or π/2; where the whole multiples of the unit are
not what is looked for but the places in the middle between them, they are shifted by half a unit.
Goes out: r, and bits whose lowest is that of n.
Never: a table in memory. Huge angles, which are rare, are dealt with in a branch of their own.
"""

from dataclasses import dataclass
from math import pi

from ...ir.dtypes import f32, f64, u32, u64
from .double_words import exact_sum
from .formats import DOUBLE, format_of, nearest_whole, pieces
from .terms import Sheet, Term, any_lane, branch, moved, multiply_add, round_even, select

HALF_TURN = "3.14159265358979323846264338327950288419716939937510582097494459230781640628621"
INVERSE_BITS = 1184
INVERSE = int(
    "517cc1b727220a94fe13abe8fa9a6ee06db14acc9e21c820ff28b1d5ef5de2b0db92371d2126e9700324977504e8"
    "c90e7f0ef58e5894d39f74411afa975da24274ce38135a2fbf209cc8eb1cc1a99cfa4e422fc5defc941d8ffc4bff"
    "ef02cc07f79788c5ad05368fb69b3f6793e584dba7a31fb34f2ff516ba93dd63f5f2f8bd9e839cfbc529497535fd"
    "afd88fc6ae842b019823",
    16,
)
"""1 / π = INVERSE / 2^INVERSE_BITS."""
NEAR = {"f32": 2.0**15, "f64": 2.0**21}
WIDTHS = {
    ("f32", True): (24, 24, 24), ("f64", True): (53, 53, 53), ("f64", False): (31, 31, 31, 53),
}  # fmt: skip
"""The bits of the pieces of π: a multiple of the first ones is exact, alone or in a fused sum."""

# For huge angles: how many bits of 1 / π are taken at once, so that their product with an angle of
# f32, or half of one of f64, is exact; and how many of these chunks there are.
CHUNK = {"f32": 27, "f64": 24}
CHUNKS = {"f32": 7, "f64": 12}
GROUPS = {"f32": 1, "f64": 11}
GROUP_BITS = 96
"""An angle of group g is in 2^96g..2^96(g+1), and reads its chunks from so many bits on."""
UPPER_HALF = 0xFFFFFFFFF8000000


@dataclass(frozen=True, slots=True)
class Unit:
    """π / parts; `shift` is 0, or 1/2 where n + 1/2 takes the place of n."""

    parts: int
    shift: float = 0.0


def reduced(x: Term, unit: Unit) -> tuple[Term, Term]:
    """r, and the bits of n (u32, or u64 for f64)."""
    if x.dtype is f64 or x.sheet.fused:
        return _chosen(x, unit, _reduced_near(x, unit))
    rest, whole = reduced_wide(x, unit)
    return rest.cast(f32), whole


def reduced_wide(x: Term, unit: Unit) -> tuple[Term, Term]:
    """The same for f32, with r in f64."""
    rest, whole = _reduced_near(x.cast(f64), unit)
    return _chosen(x, unit, (rest, whole.cast(u32)))


def _chosen(x: Term, unit: Unit, near: tuple[Term, Term]) -> tuple[Term, Term]:
    """What was found for angles that are not huge, or the rest of the huge ones."""
    large = abs(x) > NEAR[x.dtype.name]

    def huge(sheet: Sheet) -> list[Term]:
        rest, whole = _reduced_huge(moved(x, sheet), unit)
        here = moved(large, sheet)
        found = rest.cast(near[0].dtype), whole
        return [select(here, far, moved(one, sheet)) for far, one in zip(found, near, strict=True)]

    def plain(sheet: Sheet) -> list[Term]:
        return [moved(term, sheet) for term in near]

    rest, whole = branch(any_lane(large), huge, plain)
    return rest, whole


def _reduced_near(x: Term, unit: Unit) -> tuple[Term, Term]:
    """By pieces of π; n is small enough for its multiples of all but the last to be exact."""
    layout = format_of(x)
    factor = unit.parts / pi
    if unit.shift:
        shifted = multiply_add(x, factor, -unit.shift) + layout.magic
        whole, bits = (shifted - layout.magic) + unit.shift, shifted.bits(layout.unsigned)
    else:
        whole, bits = nearest_whole(x, factor)
    for piece in pieces(HALF_TURN, WIDTHS[x.dtype.name, x.sheet.fused]):
        x = multiply_add(whole, -piece / unit.parts, x)
    return x, bits


def _reduced_huge(x: Term, unit: Unit) -> tuple[Term, Term]:
    """x / unit modulo 2, chunk by chunk of 1 / π: what of a product is a multiple of 2 is dropped,
    and what is left is kept within 1/2 of zero; what the sums lose is summed up beside it."""
    wide, chunks = _chunks(x, unit)
    halves = [wide]
    if x.dtype is f64:
        upper = (wide.bits(u64) & UPPER_HALF).bits(f64)
        halves = [upper, wide - upper]
    rest, whole, lost = wide.like(-unit.shift), wide.like(0.0), wide.like(0.0)
    for chunk in chunks:
        for half in halves:
            product = half * chunk
            total, error = exact_sum(rest, product - round_even(product * 0.5) * 2.0)
            turns = round_even(total)
            rest, whole, lost = total - turns, whole + turns, lost + error
    bits = (whole + DOUBLE.magic).bits(u64)
    return (rest + lost) * (pi / unit.parts), bits.cast(format_of(x).unsigned)


def _chunks(x: Term, unit: Unit) -> tuple[Term, list[Term]]:
    """An angle and the chunks of parts / π that it meets, both scaled by the same power of two."""
    name, wide = x.dtype.name, x.cast(f64)
    scaled = wide
    chunks = [wide.like(_chunk(name, 0, place) * unit.parts) for place in range(CHUNKS[name])]
    for group in range(1, GROUPS[name]):
        beyond = abs(wide) >= 2.0 ** (GROUP_BITS * group)
        scaled = select(beyond, wide * 2.0 ** (-GROUP_BITS * group), scaled)
        chunks = [
            select(beyond, _chunk(name, group, place) * unit.parts, chunk)
            for place, chunk in enumerate(chunks)
        ]
    return scaled, chunks


def _chunk(name: str, group: int, place: int) -> float:
    """Some bits of 1 / π, times 2^96 for each group."""
    width = CHUNK[name]
    index = place if GROUPS[name] == 1 else place + GROUP_BITS // width * group - 3
    if index < 0:
        return 0.0
    low = INVERSE_BITS - width * (index + 1)
    bits = INVERSE >> low if low >= 0 else INVERSE << -low
    return (bits & ((1 << width) - 1)) * 2.0 ** (GROUP_BITS * group - width * (index + 1))
