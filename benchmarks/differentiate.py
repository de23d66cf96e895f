"""What derivatives cost to make, in µs of processor time per op of the func.

    python -m benchmarks.differentiate [--layers 450] [--runs 5]

The func is a perceptron with norms, of about 22 ops a layer, differentiated by all its arguments.
Each run is a process of its own, with Python's garbage collection as it is by default; the figure
is the median. Beside it stand how many ops the result has for each op of the func.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from benchmarks.generalise import recorded
from brimstone.ir import Func
from brimstone.passes.copying import copy_func
from brimstone.passes.differentiate import jvp, linearise, transpose, vjp

Results = dict[str, tuple[float, float]]


def measured(layers: int) -> Results:
    """µs per op, and ops per op, of each pass, in this process."""
    warm = recorded(1, 64, 64)
    vjp(warm, [True] * len(warm.arguments), [0])
    func = recorded(layers, 64, 64)
    wrt, count = [True] * len(func.arguments), len(list(func.body))
    results: Results = {}

    def timed(name: str, make: Callable[[], Func]) -> Func:
        start = time.process_time()
        made = make()
        spent = time.process_time() - start
        results[name] = (1e6 * spent / count, len(list(made.body)) / count)
        return made

    timed("vjp", lambda: vjp(func, wrt, [0]))
    timed("jvp", lambda: jvp(func, wrt))
    start = time.process_time()
    parts = linearise(func, wrt)
    spent = time.process_time() - start
    both = len(list(parts.forward.body)) + len(list(parts.linear.body))
    results["linearise"] = (1e6 * spent / count, both / count)
    timed("transpose", lambda: transpose(parts.linear, len(parts.residual_sources)))
    timed("copy", lambda: copy_func(func))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=450)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--once", action="store_true", help="measure in this process")
    chosen = parser.parse_args()
    if chosen.once:
        print(json.dumps(measured(chosen.layers)))
        return
    command = [sys.executable, "-m", "benchmarks.differentiate", "--once"]
    command += ["--layers", str(chosen.layers)]
    runs: list[Results] = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(chosen.runs)
    ]
    print(f"{'pass':10} {'µs per op':>10} {'ops per op':>11}")
    for name in runs[0]:
        spent = statistics.median(run[name][0] for run in runs)
        print(f"{name:10} {spent:10.1f} {runs[0][name][1]:11.2f}")


if __name__ == "__main__":
    main()
