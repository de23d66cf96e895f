"""What the IR costs, in µs per op on one core: create, verify, print, parse, walk, rewrite.

    python -m benchmarks.ir_costs [--json] [--ops 20000] [--processes 5]

A chain of ops cycles through eight kinds, with a location for each op, value numbering and folding
on. Each figure is the median over fresh processes with Python's default garbage collection; a fixed
loop of plain Python is timed beside it, so that figures of different machines can be compared. If
xDSL is installed, the same rows are printed for it.
"""

import argparse
import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

BUDGETS = {
    "create": 5.0,
    "verify": 2.0,
    "print": 2.5,
    "parse": 10.0,
    "no-match walk": 1.5,
    "matching rewrite": 3.0,
}


def measure_brimstone(ops: int) -> dict[str, float]:
    """µs per op of each row, in this process."""
    from benchmarks.ir_chain import chain, never, unwrap
    from brimstone.ir import Journal, apply, parse, print_module, verify

    chain(ops // 10)  # writes the functions of the eight classes
    took: dict[str, float] = {}
    module, took["create"] = chain(ops)
    took["verify"], _ = timed(verify, module)
    took["print"], text = timed(print_module, module)
    del module
    took["parse"], read = timed(parse, text)
    if print_module(read) != text:
        raise AssertionError("the text does not survive parsing and printing")
    took["no-match walk"], _ = timed(apply, never(), read.main, Journal())
    journal = Journal()
    took["matching rewrite"], _ = timed(apply, unwrap(), read.main, journal)
    if len(journal.entries) != ops:
        raise AssertionError(f"{len(journal.entries)} ops were rewritten, not {ops}")
    return per_op(took, ops)


def measure_xdsl(ops: int) -> dict[str, float]:
    """The same rows for xDSL."""
    from benchmarks import ir_chain_xdsl as other

    other.chain(ops // 10)
    took: dict[str, float] = {}
    module, took["create"] = other.chain(ops)
    took["verify"], _ = timed(module.verify)
    took["print"], text = timed(str, module)
    took["parse"], _ = timed(other.parse, text)
    took["no-match walk"], _ = timed(other.walk, module)
    took["matching rewrite"], _ = timed(other.unwrap, module)
    return per_op(took, ops)


def calibrate() -> dict[str, float]:
    """ns per step of a loop of plain Python."""
    total = 0
    start = time.perf_counter()
    for number in range(2_000_000):
        total += number
    return {"loop": (time.perf_counter() - start) / 2_000_000 * 1e9}


MEASURES: dict[str, Callable[[int], dict[str, float]]] = {
    "brimstone": measure_brimstone,
    "xdsl": measure_xdsl,
    "calibration": lambda _: calibrate(),
}


def timed(work: Callable[..., T], *arguments: Any) -> tuple[float, T]:
    """The seconds that a call takes, and what it returns; it does not pay for earlier garbage."""
    gc.collect()
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def per_op(took: dict[str, float], ops: int) -> dict[str, float]:
    """Seconds for a chain, as µs per op."""
    return {row: seconds / ops * 1e6 for row, seconds in took.items()}


def medians(what: str, ops: int, processes: int) -> dict[str, float]:
    """The median of each row over fresh processes."""
    command = [sys.executable, "-m", "benchmarks.ir_costs", "--measure", what, "--ops", str(ops)]
    runs: list[dict[str, float]] = []
    for _ in range(processes):
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        runs.append(json.loads(done.stdout))
    return {row: statistics.median(run[row] for run in runs) for row in runs[0]}


def has_xdsl() -> bool:
    """Whether the peer is installed (the extra `peers`)."""
    from importlib.util import find_spec

    return find_spec("xdsl") is not None


def report(found: dict[str, dict[str, float]]) -> None:
    """A table for people."""
    print(f"plain Python loop: {found['calibration']['loop']:.1f} ns a step\n")
    peer = found.get("xdsl")
    print(f"{'µs per op':18}{'budget':>8}{'brimstone':>11}" + (f"{'xdsl':>9}" if peer else ""))
    for row, budget in BUDGETS.items():
        line = f"{row:18}{budget:8.1f}{found['brimstone'][row]:11.2f}"
        print(line + (f"{peer[row]:9.2f}" if peer else ""))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--ops", type=int, default=20_000, help="length of the chain")
    parser.add_argument("--processes", type=int, default=5, help="fresh processes a figure")
    parser.add_argument("--measure", choices=MEASURES, help="measure in this process only")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(MEASURES[options.measure](options.ops)))
        return
    names = [name for name in MEASURES if name != "xdsl" or has_xdsl()]
    found = {name: medians(name, options.ops, options.processes) for name in names}
    if options.json:
        peers = {name: rows for name, rows in found.items() if name == "xdsl"}
        shown = {
            "schema": 1,
            "us_per_op": found["brimstone"],
            "peers": peers,
            "calibration_ns": found["calibration"]["loop"],
            "python": sys.version.split()[0],
        }
        print(json.dumps(shown, indent=2))
    else:
        report(found)


if __name__ == "__main__":
    main()
