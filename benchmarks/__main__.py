"""Times Brimstone beside its peers.

    python -m benchmarks run [names] --targets cpu --peers numpy,torch,jax --threads 1,2 \\
        --json out.json [--neighbour]
    python -m benchmarks compare before.json after.json
    python -m benchmarks list

A name is a part of a group's or a work's name. Peers that are not installed take no part. Rows are
marked `loaded`, and the command fails, when the machine had other work to do all the time. With
`--neighbour` another process spins on one of the cores while figures are taken, and rests for one
turn of each contestant in each round: a table says how many times slower each was beside it.
"""

import argparse
import importlib.util
import json
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.harness import results, slowdown


def run(options: argparse.Namespace) -> int:
    """Run works, print tables, keep the figures."""
    # Being told to end is an exit like any other: processes that were started end, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    peers = [each for each in _listed(options.peers) if importlib.util.find_spec(each)]
    rows: list[results.Row] = []
    failures: list[results.Row] = []
    for row in _rows(options, peers):
        (failures if "failed" in row else rows).append(row)
        print("." if "name" in row else "F", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    results.show(rows)
    if options.neighbour:
        slowdown.show(rows)
    for row in failures:
        print(f"{row['failed']}: {row['problem']}", file=sys.stderr)
    if options.json:
        about = {"machine": platform.processor() or platform.machine(), "peers": peers}
        about["neighbour"] = options.neighbour
        results.save(rows, options.json, about)
    return int(bool(failures) or not all(row["trusted"] for row in rows))


def _rows(options: argparse.Namespace, peers: list[str]) -> Iterator[Any]:
    """The rows of all processes: one for each target and number of threads."""
    for target, threads in product(_listed(options.targets), _listed(options.threads)):
        wanted = {
            "threads": int(threads), "names": options.names, "target": target, "peers": peers,
            "neighbour": options.neighbour,
        }  # fmt: skip
        for row in _rows_of(wanted):
            yield {**row, "target": target}


def _rows_of(wanted: dict[str, Any]) -> Iterator[Any]:
    command = [sys.executable, "-m", "benchmarks.harness.child", json.dumps(wanted)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            for line in child.stdout:
                yield json.loads(line)
        except BaseException:
            child.terminate()  # and its neighbour with it
            raise
    if child.returncode:
        yield {"failed": "the process", "problem": f"ended with {child.returncode}"}


def _listed(text: str) -> list[str]:
    return [each for each in text.split(",") if each]


def compare(options: argparse.Namespace) -> int:
    """Show how ratios have changed between two runs, if both were beside a neighbour, or none."""
    before, after = results.load(options.before), results.load(options.after)
    beside = [any(map(results.beside_neighbour, rows)) for rows in (before, after)]
    if beside[0] != beside[1]:
        print("one run was beside a neighbour: it said itself what that cost", file=sys.stderr)
        return 2
    results.compare(before, after)
    return 0


def list_works(options: argparse.Namespace) -> int:
    """Name all works."""
    from benchmarks.works import all_works

    for work in all_works([], "reference"):
        print(f"{work.group}: {work.name}")
    return 0


def main() -> int:
    """Read the command line, and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="time works")
    running.add_argument("names", nargs="*")
    running.add_argument("--targets", default="cpu")
    running.add_argument("--peers", default="numpy,torch,jax")
    running.add_argument("--threads", default="1")
    running.add_argument("--json", type=Path)
    running.add_argument(
        "--neighbour", action="store_true", help="let another process spin on one of the cores"
    )
    running.set_defaults(act=run)
    comparing = commands.add_parser("compare", help="compare two runs")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.set_defaults(act=compare)
    commands.add_parser("list", help="name all works").set_defaults(act=list_works)
    options = parser.parse_args()
    return options.act(options)


if __name__ == "__main__":
    sys.exit(main())
