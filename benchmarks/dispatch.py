"""What the frontend costs, in µs: recording an op, finding a seen step again, calling `jit`.

    python -m benchmarks.dispatch [--json] [--rounds 7]

Rounds of all rows and of the peers that are installed (JAX, PyTorch) are interleaved, and the best
of each is printed, beside a fixed loop of plain Python, so that figures of different machines can
be compared. The work of a step itself is timed on its own and taken off the call.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import brimstone as bs
from brimstone.frontend.recording import gather

Row = tuple[Callable[[], float], float | None]
LEAVES = 150
BUDGETS = {
    "record one op": 6.0,
    "hash and look up 1,000 ops": 4000.0,
    "jit call, 1 argument": 5.0,
    "jit call, tree of 150": 12.0,
}


def once(work: Callable[[], Any], times: int) -> float:
    """µs per call of `work`."""
    start = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - start) / times * 1e6


def loop() -> float:
    """ns per step of a loop of plain Python."""
    total = 0
    start = time.perf_counter()
    for number in range(200_000):
        total += number
    return (time.perf_counter() - start) / 200_000 * 1e9


def recorded(length: int) -> Any:
    """A tensor that waits for a chain of `length` ops on one array."""
    x = bs.ones((16, 16)).sync()
    y = x
    for _ in range(length // 4):
        y = bs.tanh((y + x) * x) - x
    return y


def ours() -> dict[str, Callable[[], float]]:
    """Each row as a function that measures it once."""
    seen = {gather([recorded(1000).node]).key: None}
    one = bs.jit(lambda x: x + x)
    x = bs.ones((4, 4)).sync()
    tree = bs.jit(lambda parameters: parameters)
    parameters = {f"weight {at}": bs.ones((2, 2)).sync() for at in range(LEAVES)}
    one(x)
    returned = tree(tree(parameters))
    tree(returned)

    def record() -> float:
        return once(lambda: recorded(1000), 1) / 1000

    def look_up() -> float:
        pending = recorded(1000)  # anew: another row may have had it computed
        return once(lambda: seen[gather([pending.node]).key], 1)

    return {
        "record one op": record,
        "hash and look up 1,000 ops": look_up,
        "jit call, 1 argument": lambda: once(lambda: one(x), 1000) - work_of(one, 1, 1000),
        "jit call, tree of 150": (
            lambda: once(lambda: tree(returned), 50) - work_of(tree, LEAVES, 50)
        ),
    }


def work_of(compiled: Any, arguments: int, times: int) -> float:
    """µs that the compiled step of a function takes when nothing is asked of Python around it."""
    (plan,) = compiled.plans
    buffers = [bs.ones((4, 4) if arguments == 1 else (2, 2)).numpy()] * arguments
    return once(lambda: plan.run(buffers), times)


def jax_rows() -> dict[str, Callable[[], float]]:
    """JAX's own eager dispatch and jit calls."""
    import jax  # pyright: ignore[reportMissingImports]
    import jax.numpy as jnp  # pyright: ignore[reportMissingImports]

    x = jnp.ones((4, 4))
    one = jax.jit(lambda x: x + x)
    tree = jax.jit(lambda parameters: parameters)
    parameters = {f"weight {at}": jnp.ones((2, 2)) for at in range(LEAVES)}
    one(x), tree(parameters)
    return {
        "record one op": lambda: once(lambda: x + x, 200),
        "jit call, 1 argument": lambda: once(lambda: one(x), 200),
        "jit call, tree of 150": lambda: once(lambda: tree(parameters), 20),
    }


def torch_rows() -> dict[str, Callable[[], float]]:
    """PyTorch's eager dispatch."""
    import torch  # pyright: ignore[reportMissingImports]

    x = torch.ones((4, 4))
    return {"record one op": lambda: once(lambda: x + x, 1000)}


def numpy_rows() -> dict[str, Callable[[], float]]:
    """numpy's own calls."""
    x = np.ones((4, 4), np.float32)
    return {"record one op": lambda: once(lambda: x + 1, 1000)}


PEERS = {"numpy": numpy_rows, "jax": jax_rows, "torch": torch_rows}


def installed() -> dict[str, dict[str, Callable[[], float]]]:
    """The rows of every library that is there, ours first."""
    from importlib.util import find_spec

    rows = {"brimstone": ours()}
    return rows | {name: made() for name, made in PEERS.items() if find_spec(name) is not None}


def measure(rounds: int) -> dict[str, Any]:
    """The best of each row over interleaved rounds."""
    libraries = installed()
    best: dict[str, dict[str, float]] = {name: {} for name in libraries}
    calibration = loop()
    for _ in range(rounds):
        calibration = min(calibration, loop())
        for name, rows in libraries.items():
            for row, run in rows.items():
                best[name][row] = min(run(), best[name].get(row, float("inf")))
    return {"calibration_ns": calibration, "us": best}


def report(found: dict[str, Any]) -> None:
    """A table for people."""
    best = found["us"]
    print(f"plain Python loop: {found['calibration_ns']:.1f} ns a step\n")
    print(f"{'µs':28}{'budget':>8}" + "".join(f"{name:>11}" for name in best))
    for row, budget in BUDGETS.items():
        cells = [f"{rows[row]:11.2f}" if row in rows else f"{'':11}" for rows in best.values()]
        print(f"{row:28}{budget:8.0f}" + "".join(cells))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds")
    options = parser.parse_args()
    found = measure(options.rounds)
    if options.json:
        print(json.dumps({"schema": 1, **found}, indent=2))
    else:
        report(found)


if __name__ == "__main__":
    main()
