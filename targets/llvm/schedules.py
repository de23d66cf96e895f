"""How large the tiles of a kernel are on a CPU: a few vector registers each.

Comes in: what matters of a kernel, and the machine. Goes out: its schedule.
Never: a size of the program; tiles are chosen once for all sizes.
"""

from collections.abc import Callable

from ...passes.machine import Machine
from ...passes.tiling import KernelShape, Schedule

FEW = 6
"""Up to so many tiles at once, each may take four registers; else two. Functions such as exp are
long enough to keep the units busy with one or two, and their code is compiled as many times."""
ROWS = 4
"""So many rows are reduced at once where vectors run along another axis."""
FEW_LINES = 8
"""So many rows of a product or fewer pass by the other operand as it lies in memory."""
ALONE = 1 << 16
"""A product with so many elements or fewer is made by programs that pack for themselves."""
CHUNK = 256
"""How much of k such a program takes."""
BESIDE = 32
"""How many blocks of a product of few rows are made by one program, beside each other."""
CHUNK_OF_PANELS = 16
"""How much of k is a chunk of a panel: of f32, a line of the cache."""
TOGETHER = 8
"""How many rows of the other operand pass together: what lies in a cache at the same distance from
each other falls on few places of it."""
BLOCKS = {"avx512": (12, 2), "avx2": (6, 2), "neon": (8, 3), "sse42": (4, 2)}
"""The block of a product that is kept in registers: rows, and vectors beside each other."""


def chooser(machine: Machine) -> Callable[[KernelShape], Schedule]:
    """The schedules of a machine."""

    def choose(shape: KernelShape) -> Schedule:
        lanes = machine.lanes(shape.widest)
        if shape.kind == "contract":
            return _product(machine, lanes, shape.widest.itemsize)
        vectors = 4 if shape.live <= FEW else 2
        if shape.costly:
            vectors = 1 if shape.kind == "map" else 2
        if shape.transposed:
            return {"n": lanes, "m": lanes}
        if shape.kind == "rows" and not shape.vector_reduced:
            return {"n": lanes * vectors, "unroll": ROWS}
        return {"n": lanes * vectors}

    return choose


def _product(machine: Machine, lanes: int, itemsize: int) -> Schedule:
    """What is `kept` of the panels fills half of a level-2 cache."""
    rows, vectors = BLOCKS[machine.name]
    columns = lanes * vectors
    return {
        "m": rows,
        "n": columns,
        "k": CHUNK_OF_PANELS,
        "kept": machine.level2 // 2 // (columns * itemsize),
        "chunk": CHUNK,
        "alone": ALONE,
        "few": FEW_LINES,
        "beside": BESIDE,
        "together": TOGETHER,
    }
