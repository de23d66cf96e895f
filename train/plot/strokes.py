"""Letters made of lines, so that they are smooth at any size.

Comes in: a character. Goes out: the lines it is made of, and how far on the next one begins.
Never: a curve kept as one. A stroke in the table is a line through points, two digits each: how far
across, and how far up from two below the base line. After `~` its corners are rounded.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

CAPITAL = 7.0
"""From the base line to the top of a capital."""
BELOW = 2
BETWEEN = 1.8
"""From a character's right end to the next one's left end; a space is twice that."""
ROUNDINGS = 2

Point = tuple[float, float]

SIGNS = """
! 0905 0302 | " 0907 2927 | # 1218 3238 0444 0646 | $ ~4849090645420203 2921
% ~0709292707 ~3234545232 0259 | & ~52181939370402224456 | ' 0907 | ( ~29070321 | ) ~09272301
* 2428 0547 0745 | + 0545 2327 | , 1301 | - 0535 | . 0203 | / 0149 | : 0203 0607 | ; 1301 1617
< 470543 | = 0444 0646 | > 074503 | ? ~080949462624 2322 | @ ~2426464424 ~46446469090252
[ 29090121 | ] 09292101 | ^ 072947 | _ 0141 | ` 0918 | { ~39191605 ~05141131
} ~09292635 ~35242101 | ~ ~05173446 | \\ 0941
"""
DIGITS = """
0 ~0209494202 | 1 082922 0242 | 2 ~0709494602 0242 | 3 ~0809494616 ~1646420203 | 4 32390444
5 490906 ~0647420203 | 6 ~490904 ~0206464202 | 7 094912 | 8 ~0609494606 ~0206464202
9 ~0509494505 ~024247
"""
CAPITALS = """
A 022942 1535 | B 0209 ~09494606 ~06464202 | C ~484909024243 | D 0209 ~09494202
E 49090242 0636 | F 490902 0636 | G ~484909024245 4525 | H 0209 4249 0646 | I 0209
J ~39320204 | K 0209 4905 1642 | L 090242 | M 0209254942 | N 02094249 | O ~0209595202
P 0209 ~09494505 | Q ~0209595202 3451 | R 0209 ~09494505 2542 | S ~4849090645420203
T 0949 2922 | U ~09024249 | V 092249 | W 0922374269 | X 0942 0249 | Y 092549 2522 | Z 09490242
"""
SMALL = """
a ~0207474202 4742 | b 0902 ~0207474202 | c ~464707024243 | d 4942 ~0207474202
e 0545 ~454707024243 | f ~391912 0737 | g ~0207474202 ~47400001 | h 0902 ~05074742
i 0702 0909 | j ~272000 2929 | k 0902 3704 1532 | l 0902 | m 0702 ~05073732 ~35376762
n 0702 ~05074742 | o ~0207474202 | p 0700 ~0207474202 | q 4740 ~0207474202 | r 0702 ~050737
s ~3637070534320203 | t ~191232 0737 | u ~07024245 4742 | v 072247 | w 0722364267
x 0742 0247 | y 0722 4710 | z 07470242
"""
BOX = "0209494202"


@cache
def strokes_of(character: str) -> tuple[tuple[Point, ...], ...]:
    """The lines of a character, from its left end and the base line; of one that is not in the
    table, a box."""
    return tuple(map(_points, _table().get(character, BOX).split()))


@cache
def advance(character: str) -> float:
    """From where a character begins to where the next one does."""
    across = [x for stroke in strokes_of(character) for x, _ in stroke]
    return max(across, default=BETWEEN) + BETWEEN


@cache
def _table() -> dict[str, str]:
    lines = "\n".join([SIGNS, DIGITS, CAPITALS, SMALL]).replace(" | ", "\n").splitlines()
    return {" ": "", "|": "0901", **{line[0]: line[1:] for line in lines if line}}


def _points(stroke: str) -> tuple[Point, ...]:
    digits = stroke.removeprefix("~")
    points = [
        (float(across), float(up) - BELOW)
        for across, up in zip(digits[::2], digits[1::2], strict=True)
    ]
    for _ in range(ROUNDINGS if stroke != digits else 0):
        points = _rounded(points)
    return tuple(points)


def _rounded(points: list[Point]) -> list[Point]:
    """Every corner cut off, a quarter of the way to its neighbours; the ends of a line stay."""
    closed = points[0] == points[-1]
    cut = list[Point]()
    for (x, y), (next_x, next_y) in pairwise(points):
        cut.append((0.75 * x + 0.25 * next_x, 0.75 * y + 0.25 * next_y))
        cut.append((0.25 * x + 0.75 * next_x, 0.25 * y + 0.75 * next_y))
    return [*cut, cut[0]] if closed else [points[0], *cut[1:-1], points[-1]]
