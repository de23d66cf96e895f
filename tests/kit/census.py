"""How often each op, dtype, rank and kind of size and region occurs in random programs.

Comes in: programs. Goes out: counts, and a table of them.
`python -m kit.census 2000`, run in the folder of the tests, prints the table of that many programs.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from brimstone.ir.declare import Op
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import BY_NAME
from brimstone.ir.func import Module
from brimstone.ir.types import Tensor
from brimstone.ir.values import AnyValue
from kit.programs import random_programs
from kit.recipes import drawable

RANKS = range(9)
SIZES = ("size 0", "size 1", "size known", "size symbolic", "size computed")


def census(programs: Iterable[Module]) -> Counter[str]:
    """How often each op, dtype, rank, size and region occurs; 0 for those that do not."""
    counts = Counter(dict.fromkeys(_expected(), 0))
    for module in programs:
        for func in module:
            counts.update(part for value in func.arguments for part in _of_value(value))
            for op in func.walk():
                counts.update(_of_op(op))
    return counts


def table(counts: Counter[str], columns: int = 3) -> str:
    """The counts, the rarest first."""
    cells = [f"{count:7} {name:32}" for name, count in reversed(counts.most_common())]
    rows = -(-len(cells) // columns)
    return "\n".join("".join(cells[row::rows]).rstrip() for row in range(rows))


def _expected() -> Iterator[str]:
    for cls in drawable():
        yield cls.name
        yield from (f"{cls.name} {field.name}" for field in cls.region_fields)
    yield from BY_NAME
    yield from (f"rank {rank}" for rank in RANKS)
    yield from SIZES


def _of_op(op: object) -> Iterator[str]:
    if not isinstance(op, Op) or op.terminator:
        return
    yield op.name
    yield from (f"{op.name} {field.name}" for field in op.region_fields)
    for value in op.results:
        yield from _of_value(value)


def _of_value(value: AnyValue) -> Iterator[str]:
    assert isinstance(value.type, Tensor)
    yield value.dtype.name
    yield f"rank {len(value.shape)}"
    for size in value.shape:
        if isinstance(size, int):
            yield f"size {size}" if size < 2 else "size known"
        else:
            yield "size symbolic" if isinstance(size, Symbol) else "size computed"


if __name__ == "__main__":
    print(table(census(random_programs(int((*sys.argv, 2000)[1])))))
