"""The works that are timed, a file a family; `shapes.json` says at which sizes.

Comes in: parts of names, and a device. Goes out: works.
"""

from collections.abc import Iterator, Sequence

from benchmarks.harness.work import Work
from benchmarks.works import (
    attentions,
    convolutions,
    elementwise,
    models,
    products,
    reductions,
    rows,
    sorting,
    training,
)

FAMILIES = (
    elementwise,
    rows,
    reductions,
    sorting,
    products,
    convolutions,
    attentions,
    training,
    models,
)


def all_works(names: Sequence[str], device: str) -> Iterator[Work]:
    """Those whose group or name has one of the names in it; all of them, if none is given."""
    for family in FAMILIES:
        for work in family.works(device):
            if not names or any(each in f"{work.group}: {work.name}" for each in names):
                yield work
