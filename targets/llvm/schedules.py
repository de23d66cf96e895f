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
ROWS = 8
"""So many rows are summed at once where vectors run along another axis and the rows pass only once;
else they pass one after the other, since several at once come out of a cache half as fast."""
WORD = 4
"""Where elements are read one by one there are as many in a tile as a register has of so many
bytes: more are long code, and in rows of a few columns most of it is for what is not there."""
PLAIN = 2
"""How many tiles at once a plain sum needs."""
ABREAST = 2
"""So many rows, or halves of a chunk, pass at once where one array is read and summed: memory gives
up to a third more to two runs of it than to one, and less to four."""
RUN = 128
"""And so many bytes of each, in turn, in two vectors: with 256 it gives less than to one, with four
shorter vectors too."""
WIDE = 8192
"""So many bytes of a row stream past a program at once: long runs of memory, while a few sums of
each column stay in the level-1 cache, and what comes of few rows in the level-2 cache. With 16384
sums of 256x4096 are one program: two Intel cores take 0.15 ms instead of 0.06. One core takes a
fortieth less then for 1024x4096, and up to a twelfth more for few rows."""
AGAIN = 4096
"""The same where rows pass again and no places are searched for: then a nearer cache has them. Two
Intel cores take layer norm down 16x131072 in a tenth less time than with 8192, most others as
long."""
ACROSS = 256
"""So many rows are summed across by one program."""
COLUMNS = 8192
"""Rows with more elements are not summed across while they pass: the sums would not stay near."""
DEALT = 4
"""At most so many elements a register are put together from several tensors in turn: on the way,
each may be a part of a tile."""
FEW_TURNED, MUCH_TURNED = 16, 128
"""A tile that is turned has so few rows at least, and more if what is done with all of them is not
so much: 64 rows of bytes that are divided took 9 s to compile."""
FUNCTIONS_TURNED = 16
"""The rows of a tile that is turned times the functions of each are at most so many, unless it has
two: all are written out, and three cosines of eight rows of f64 took 7 s to compile."""
FEW_LINES = 8
"""So many rows of a product or fewer pass by the other operand as it lies in memory."""
ALONE = 1 << 16
"""A product with so many elements or fewer is made by programs that pack for themselves."""
MUCH = 1 << 23
"""So much is multiplied by one of these, and the columns of more are shared by several: 128x512 by
512x256 takes two threads 0.13 ms instead of 0.18, and one 3 % more. With 1 << 21 a training step of
128-256-256-10, batch 32, takes two threads 0.34 ms, and 0.26 alone."""
APART = 128
"""So many columns, or more, has each: all of them pack all rows."""
CHUNK = 512
"""How much of k such a program takes, at most. One of several that share k takes what fills half of
the level-2 cache: of 64x768 elements and a long k on an Intel core, 512 took 2.28 ms, 256 2.03."""
SOME, MANY, DEEP, PART = 128, 512, 256, 8
"""Of so many rows or fewer, and at least so many columns, where k is longer than that, programs
pack their columns themselves, so many chunks of a panel at a time: those, and a panel of rows, lie
in the level-1 cache. 64x768 by 768x3072 takes two Intel cores 1.2 ms instead of 1.6, and 128x512 by
512x784 0.45 instead of 0.6; of 256 rows one core takes as long as without."""
PASSING = 4096
"""So many bytes of each row of the other operand pass by few rows in one program: 2048, with AVX2
on Zen 3, take a tenth to a quarter longer, and 8192 as long or a twentieth less."""
CHUNK_OF_PANELS = 16
"""How much of k is a chunk of a panel: of f32, a line of the cache."""
TOGETHER = 8
"""How many rows of the other operand pass together: what lies in a cache at the same distance from
each other falls on few places of it."""
LINES = 4
"""So many of few rows are multiplied with rows of the other operand, where both lie along k."""
DOTS = {"avx512": 4, "avx2": 2, "neon": 4, "sse42": 2}
"""And with so many of those at once: a vector of sums for each pair stays in registers."""
ENDING_ROWS = 1
"""How many rows of a block of a product are finished at once: all of them would be much code, and
what they read besides would not fit into registers."""
STRIP = 8
"""For so many blocks beside each other sums wait until their rows are finished, in some tens of KiB
of the nearest caches."""
BLOCKS = {"avx512": (12, 2), "avx2": (6, 2), "neon": (8, 3), "sse42": (4, 2)}
"""The block of a product that is kept in registers: rows, and vectors beside each other."""
LOW_BLOCKS = {"avx512": (6, 4)}
"""The same for products whose k programs share, if another one: 64 rows fill 11 such blocks, where
of 6 blocks of 12 rows an eighth would be empty."""
NEAR = 512 << 10
"""Panels fill half of a level-2 cache, but not more than this: with 1 MiB, half of that of an Intel
core, convolutions of 28x28 pixels took a tenth longer, and 2048^3 numbers 3 %."""
NEAR_KEYS = 512
"""So many keys and values are seen by all queries of a program before the next ones are."""
ROW_BLOCKS = 8
"""How many blocks of queries a program has."""
WINDOWS = {"avx512": (8, 3)}
"""The same for convolutions, if another one: their rows are channels, mostly a multiple of 8."""
PIXELS = 8
"""At most so many blocks of pixels are made by one program of a convolution."""
SORT = {"digit": 8, "long_digit": 11, "chunk": 1 << 18, "room": 512, "share": 8, "short": 64}
"""A pass of a sort writes at as many places as a digit has values: there is a line in the level-1
cache for each, and for long lines, which take memory's time anyway, in the level-2 cache."""
NEXT = 32
"""What stands so many bytes behind the place of a sorted element is asked for; with 16 a sort is as
quick, with 64 it takes a tenth longer."""


def chooser(machine: Machine) -> Callable[[KernelShape], Schedule]:
    """The schedules of a machine."""

    def choose(shape: KernelShape) -> Schedule:
        lanes = machine.lanes(shape.widest)
        if shape.kind == "attention":
            return _attention(machine, lanes)
        if shape.kind == "contract":
            return _product(machine, lanes, shape.widest.itemsize)
        if shape.kind == "convolve":
            return _convolution(machine, lanes, shape.widest.itemsize)
        if shape.kind == "sort":
            return {"n": 4 * lanes, **SORT, "next": NEXT}
        if shape.kind == "concat":
            return {"n": 4 * lanes, "dealt": min(4 * lanes, DEALT * machine.registers)}
        if shape.transposed:
            parts = DEALT * machine.registers
            exact = {"exact_n": parts} if machine.masked else {"exact_n": parts, "exact_m": parts}
            return {"n": lanes, "m": _rows_turned(shape, lanes), **exact}
        n = machine.vector_bytes // WORD if shape.single else lanes * _vectors(shape)
        if shape.kind == "rows":
            return {"n": n, **_rows(machine, shape)}
        return {"n": n}

    return choose


def _rows_turned(shape: KernelShape, lanes: int) -> int:
    """How many rows are turned at once: as many as their vectors have lanes, so that all vectors
    are whole; but of bytes and words fewer, if much is done with each."""
    rows = lanes
    while rows > FEW_TURNED and rows * shape.work > MUCH_TURNED:
        rows //= 2
    while rows > 2 and rows * shape.functions > FUNCTIONS_TURNED:
        rows //= 2
    return rows


def _vectors(shape: KernelShape) -> int:
    """How many registers a tile fills. Of maps with rows it is one: long rows are as quick, and
    short ones are mostly what is not there: 300,000 of three bytes took 2.4 ms, and take 0.65."""
    if shape.kind == "map" and (shape.costly or shape.rank > 1):
        return 1
    return 4 if shape.live <= FEW and not shape.costly else 2


def _rows(machine: Machine, shape: KernelShape) -> Schedule:
    """How rows pass where vectors run along them, and where they run across."""
    if not shape.vector_reduced:
        rows = ROWS if shape.once and shape.live <= PLAIN else 1
        wide = WIDE if shape.once or shape.search else AGAIN
        return {"unroll": rows, "wide": wide // shape.widest.itemsize}
    schedule = {"across": ACROSS, "columns": COLUMNS}
    summed = shape.once and shape.live <= PLAIN and not (shape.costly or shape.search)
    if summed and 2 * machine.vector_bytes >= RUN:
        return {**schedule, "n": RUN // shape.widest.itemsize, "abreast": ABREAST}
    return schedule


def _near(machine: Machine) -> int:
    """How many bytes of panels stay near."""
    return min(machine.level2 // 2, NEAR)


def _product(machine: Machine, lanes: int, itemsize: int) -> Schedule:
    """What is `kept` of the panels is near, or more where a farther cache is as fast."""
    rows, vectors = BLOCKS[machine.name]
    low, broad = LOW_BLOCKS.get(machine.name, (rows, vectors))
    columns = lanes * vectors
    near = max(_near(machine), machine.shared)
    return {
        "m": rows,
        "n": columns,
        "k": CHUNK_OF_PANELS,
        "kept": near // (columns * itemsize),
        "chunk": CHUNK,
        "low": low,
        "broad": lanes * broad,
        "near": _near(machine) // itemsize,
        "alone": ALONE,
        "much": MUCH // (rows * columns * CHUNK_OF_PANELS),
        "apart": APART // columns,
        "some": SOME,
        "many": MANY,
        "deep": DEEP,
        "part": PART,
        "few": FEW_LINES,
        "beside": PASSING // (columns * itemsize),
        "together": TOGETHER,
        "lines": LINES,
        "dots": DOTS[machine.name],
        "along": lanes,
        "rows": ENDING_ROWS,
        "strip": STRIP,
    }


def _attention(machine: Machine, lanes: int) -> Schedule:
    """What the scores of a block take lies in the level-1 cache, keys and values in the second."""
    rows, vectors = BLOCKS[machine.name]
    columns = lanes * vectors
    return {
        "m": rows,
        "n": columns,
        "k": min(CHUNK_OF_PANELS, columns),
        "keys": NEAR_KEYS,
        "queries": rows * ROW_BLOCKS,
        "rows": max(few for few in (4, 3, 2, 1) if rows % few == 0),
    }


def _convolution(machine: Machine, lanes: int, itemsize: int) -> Schedule:
    """A product, of which each program packs the windows of some blocks of pixels for itself."""
    rows, vectors = WINDOWS.get(machine.name, BLOCKS[machine.name])
    columns = lanes * vectors
    return {
        "m": rows,
        "n": columns,
        "k": CHUNK_OF_PANELS,
        "kept": _near(machine) // (columns * itemsize),
        "beside": PIXELS,
        "vector": lanes,
    }
