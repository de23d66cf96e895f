"""Where the time of a training step goes, by kinds of kernels, as `bs.profile` records it.

    python -m benchmarks.profile_step [gpt cnn mlp] [--steps 20] [--small] [--json out.json]

Each launch belongs to one kind, by the ops of its kernel and the stage that it is. Rates are what
the model asks for over the time that the kind took: padding and packing are nobody's wish.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import brimstone as bs
from benchmarks.learning import CASES, cases
from benchmarks.learning.case import ATTENTION, CONVOLUTION, MATMUL, UPDATING, Case
from benchmarks.learning.trainers import learner

PACKING, ROWS, REDUCING = "packing", "norms, softmax", "reductions"
REDUCING_UPDATING, UPDATE = "reductions and update", "update"
COPIES, INDEXED, ELEMENTWISE = "copies", "gather, scatter", "elementwise"
CHECKS, OTHER, WAITING = "fills and checks", "other", "queue and Python"
TELLING = (
    (ATTENTION, {"attention", "attention_backward"}),
    (CONVOLUTION, {"convolve"}),
    (MATMUL, {"contract"}),
    (INDEXED, {"gather", "scatter"}),
)
"""Kinds that an op makes, the most telling first."""
NUMBER = 8
"""Bytes of one, at most: what comes of nothing else is no row."""
OF_UPDATES = "square_root"
"""AdamW divides by one; norms and softmax need none, or a reciprocal one."""


class Kind(NamedTuple):
    """What all launches of one kind took in a step: seconds, bytes moved, operations asked for."""

    name: str
    seconds: float
    launches: float
    bytes: float
    operations: float


def profiled(case: Case, steps: int, device: str = "cpu") -> tuple[Any, Mapping[str, str]]:
    """What so many steps took, and the kind of each launch."""
    with bs.device(device):
        makes = learner(case)
        step = bs.jit(makes.step, donate="state")
        state = makes.begin(case.ours().load_state_dict(case.weights))
        batch = tuple([bs.asarray(each).sync() for each in next(case.batches())])
        kinds = kinds_of(_called(bs.explain(step), state, batch))
        for _ in range(3):
            state, _ = _called(step, state, batch)
        bs.sync(state)
        with bs.profile() as profile:
            for _ in range(steps):
                state, report = _called(step, state, batch)
                report.loss.item()
    return profile, kinds


def _called(function: Callable[..., Any], *given: Any) -> Any:
    """Called from this line, which kernels have their names of: explained or run, the same."""
    return function(*given)


def kinds_of(explanation: Any) -> dict[str, str]:
    """The kind of each launch, by name."""
    found: dict[str, str] = {}
    for kernel in explanation.kernels:
        for stage in kernel.stages:
            name = kernel.name if stage.name == "main" else f"{kernel.name}_{stage.name}"
            found[name] = PACKING if stage.name.startswith("pack") else kind_of(kernel)
    return found


def kind_of(kernel: Any) -> str:
    """What a kernel does in the main. Of those that reduce, norms and softmax write whole rows."""
    ops, updates = {*kernel.ops}, OF_UPDATES in kernel.ops
    for kind, telling in TELLING:
        if telling & ops:
            return UPDATING if updates and kind == MATMUL else kind
    if any([op.startswith("reduce_") for op in ops]):
        reads, writes = (_most(each) for each in (kernel.reads, kernel.writes))
        if updates:
            return REDUCING_UPDATING
        return ROWS if writes >= reads > NUMBER else REDUCING
    return UPDATE if updates else COPIES if ops == {"copy"} else ELEMENTWISE


def _most(arrays: Sequence[Any]) -> int:
    """The bytes of the largest."""
    return max([each.bytes.number for each in arrays], default=0)


def table_of(profile: Any, kinds: Mapping[str, str], case: Case, steps: int) -> list[Kind]:
    """What each kind took in a step, first what took longest; at the end what no kernel did."""
    sums: dict[str, list[float]] = {}
    for row in profile.rows():
        if row.kind == "kernel":
            kind = kinds.get(
                row.name.split(" + ")[0], CHECKS if row.name.startswith("step.") else OTHER
            )
            total = sums.setdefault(kind, [0.0, 0.0, 0.0])
            for at, each in enumerate((row.seconds, row.count, row.bytes)):
                total[at] += each / steps
    operations = dict(case.operations)
    if UPDATING not in sums:  # then those products are kernels like the others
        operations[MATMUL] += operations.pop(UPDATING)
    found = [
        Kind(name, seconds, launches, moved, operations.get(name, 0))
        for name, (seconds, launches, moved) in sums.items()
    ]
    busy = sum([each.seconds for each in found])
    span = (profile.events[-1].end - profile.events[0].begin) / 1e9 / steps
    waiting = Kind(WAITING, max(span - busy, 0.0), 0, 0, 0)
    return [*sorted(found, key=lambda each: -each.seconds), waiting]


def heading(case: Case, kinds: Sequence[Kind]) -> str:
    """What a step is in all."""
    seconds, launches = (
        sum([each.seconds for each in kinds]),
        sum([each.launches for each in kinds]),
    )
    return f"{case.name}: {seconds * 1e3:.2f} ms and {launches:g} launches a step"


def shown(kinds: Sequence[Kind]) -> Table:
    """The table for people."""
    whole = sum([each.seconds for each in kinds])
    made = Table("kind", box=SIMPLE)
    for column in ("ms", "share", "launches", "GB/s", "GFLOP/s"):
        made.add_column(column, justify="right")
    for each in kinds:
        made.add_row(each.name, *_cells(each, whole))
    return made


def _cells(kind: Kind, whole: float) -> Iterator[str]:
    yield f"{kind.seconds * 1e3:.3f}"
    yield f"{kind.seconds / whole:.1%}"
    yield f"{kind.launches:g}" if kind.launches else ""
    for amount in (kind.bytes, kind.operations):
        yield f"{amount / kind.seconds / 1e9:.1f}" if amount and kind.seconds else ""


def main() -> int:
    """Read the command line, profile, print tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profile_step", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *CASES], default=[])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--small", action="store_true", help="models of a few weights, for trials")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    kept: dict[str, Any] = {}
    for name, case in cases(options.names, options.small).items():
        found = table_of(*profiled(case, options.steps), case, options.steps)
        Console(width=120).print(heading(case, found), shown(found), sep="\n")
        kept[name] = [each._asdict() for each in found]
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
