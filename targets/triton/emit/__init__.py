"""What each op of the tile floor is in Triton: one file a family.

Comes in: an op, and the writer of its kernel. Goes out: statements.
Never: a shape that is no power of two; `legalise` has seen to that.
"""

from ....ir import tile
from ..writer import Printers
from .control import write_assume, write_for, write_if
from .dot import DOTS
from .math import MATH
from .memory import MEMORY
from .reduce import REDUCTIONS
from .scattered import SCATTERED
from .shapes import SHAPES
from .sort import SORTS

TABLE: Printers = {
    **SHAPES, **MATH, **MEMORY, **SCATTERED, **REDUCTIONS, **DOTS, **SORTS,
    tile.Assume: write_assume,
}  # fmt: skip
REGIONS: Printers = {tile.For: write_for, tile.If: write_if}

__all__ = ["REGIONS", "TABLE"]
