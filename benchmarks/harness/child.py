"""The process in which works run: on as many cores as there are to be threads.

    python -m benchmarks.harness.child '{"threads": 1, "names": [...], ...}'

Comes in: what to run, as JSON. Goes out: rows, one JSON text a line, on standard output.
Never: a library that was imported before the cores were chosen.
"""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
ONE_THREAD_OF_XLA = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def main(wanted: dict[str, Any]) -> None:
    """Run the wanted works and print their rows."""
    threads = wanted["threads"]
    # The last cores: the first one serves the machine's own interrupts.
    cores = sorted(os.sched_getaffinity(0))[-threads:]
    os.sched_setaffinity(0, cores)
    os.environ.update(dict.fromkeys(VARIABLES, str(threads)))
    if threads == 1:
        given = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{given} {ONE_THREAD_OF_XLA}".strip()
    from benchmarks.harness import results, rounds
    from benchmarks.works import all_works

    neighbour = cores[-1] if wanted["neighbour"] else None
    for work in all_works(wanted["names"], wanted["target"]):
        try:
            names = contestants(work.sides, [results.OURS, rounds.ROOF, *wanted["peers"]])
            runs = rounds.prepare(work, names)
            timings, trusted = rounds.timed(runs, neighbour, work.together)
            row = results.row(work, timings, trusted, threads) | {"neighbour": wanted["neighbour"]}
            print(json.dumps(row), flush=True)
        except Exception as problem:
            said = f"{type(problem).__name__}: {problem}"
            print(json.dumps({"failed": work.name, "problem": said}), flush=True)


def contestants(sides: Iterable[str], libraries: Sequence[str]) -> list[str]:
    """The sides of these libraries, in their order: `torch` has a side `torch compiled`, too."""
    return [side for each in libraries for side in sides if side.partition(" ")[0] == each]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
