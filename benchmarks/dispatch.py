"""What the frontend costs, in µs: recording an op, finding a seen step again, calling `jit`; and
what is between a call and many small kernels.

    python -m benchmarks.dispatch [--json] [--rounds 7]

Rounds of all rows and of the peers that are installed (JAX, PyTorch) are interleaved, and the best
of each is printed, beside a fixed loop of plain Python, so that figures of different machines can
be compared. The steps that our calls run are replaced by one that does nothing, but for the rows
of the device `cpu`, which really run: there the least work is done by as many kernels as may be.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from statistics import median
from typing import Any

import numpy as np

import brimstone as bs
from brimstone.frontend.recording import gather
from brimstone.targets import dealt

Pairs = list[tuple[Any, Any]]
Row = tuple[Callable[[], float], float | None]
LEAVES = 150
KERNELS = 1000
CALLS = 10_000
"""Of which the median is taken, as a call may only enqueue the work, and some have to wait."""
RATE = 0.125
"""A power of two: every step of descent is exact."""
BUDGETS = {
    "record one op": 6.0,
    "hash and look up 1,000 ops": 4000.0,
    "jit call, 1 argument": 5.0,
    "jit call, tree of 150": 12.0,
    "the same, made by hand": 12.0,
    "the same, 75 dicts of 2": 20.0,
    "the same, a new dict each call": 15.0,
    "the same, new tensors each call": 60.0,
    "step of a small kernel, read": 5.0,
    "step of 1,000 small kernels": 150.0,
    "step of 150 parameters, enqueued": 12.0,
    "the same, a list": 12.0,
    "the same, a number by name": 15.0,
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
    one(x)
    idle(one)

    def record() -> float:
        return once(lambda: recorded(1000), 1) / 1000

    def look_up() -> float:
        pending = recorded(1000)  # anew: another row may have had it computed
        return once(lambda: seen[gather([pending.node]).key], 1)

    return {
        "record one op": record,
        "hash and look up 1,000 ops": look_up,
        "jit call, 1 argument": lambda: once(lambda: one(x), 1000),
        **tree_rows(bs.jit(lambda parameters: parameters), lambda: bs.ones((2, 2)).sync(), idle),
        "step of a small kernel, read": number_read(bs.jit(doubled), on_the_cpu),
        "step of 1,000 small kernels": small_kernels(),
        **descents(bs.jit, on_the_cpu, CALLS),
    }


def on_the_cpu(array: np.ndarray) -> Any:
    """Ours, computed, on the device `cpu`, whatever the default is."""
    return bs.asarray(array, device="cpu").sync()


def doubled(x: Any) -> Any:
    """The least there is to compute."""
    return x + x


def number_read(
    step: Callable[[Any], Any], put: Callable[[np.ndarray], Any]
) -> Callable[[], float]:
    """µs per step of one number, which is read."""
    x = put(np.ones((), np.float32))
    assert step(x).item() == 2
    return lambda: once(lambda: step(x).item(), 1000)


def small_kernels() -> Callable[[], float]:
    """µs per step of so many kernels, each of one chunk, which wait for each other."""
    step = bs.jit(chain)
    x = on_the_cpu(np.zeros(8, np.float32))
    step(x)
    return lambda: once(lambda: step(x).sync(), 20)


def chain(x: Any) -> Any:
    """Cumulative sums of cumulative sums: none is fused with the next one."""
    for _ in range(KERNELS):
        x = bs.cumulative_sum(x, axis=0)
    return x


def descent(
    jit: Callable[..., Any],
    put: Callable[[np.ndarray], Any],
    calls: int,
    make: Callable[[Pairs], Any] = dict,
    **named: float,
) -> Callable[[], float]:
    """µs per call of a step of gradient descent that carries many small parameters on; at the end
    all of them are read, and must be right."""
    keys = [f"weight {at:03}" for at in range(LEAVES)] if make is dict else range(LEAVES)
    slopes = [np.full(16, at % 8, np.float32) for at in range(LEAVES)]
    start = make([(key, put(np.arange(16, dtype=np.float32))) for key in keys])
    gradients = make([(key, put(slope)) for key, slope in zip(keys, slopes, strict=True)])
    gradients = jit(lambda tree: tree)(gradients)

    @jit
    def step(weights: Any, gradients: Any, rate: Any = RATE) -> Any:
        return make([(key, weights[key] - rate * gradients[key]) for key in keys])

    def run() -> float:
        weights, seconds = start, list[float]()
        for _ in range(calls):
            since = time.perf_counter()
            weights = step(weights, gradients, **named)
            seconds.append(time.perf_counter() - since)
        for key, slope in zip(keys, slopes, strict=True):
            expected = np.arange(16) - calls * RATE * slope
            np.testing.assert_array_equal(np.asarray(weights[key]), expected)
        return median(seconds) * 1e6

    return run


def listed(pairs: Pairs) -> list[Any]:
    """The values of pairs, whose keys are places."""
    return [value for _, value in pairs]


def descents(
    jit: Callable[..., Any], put: Callable[[np.ndarray], Any], calls: int
) -> dict[str, Callable[[], float]]:
    """The rows of a step of many parameters, kept and given in several ways."""
    return {
        "step of 150 parameters, enqueued": descent(jit, put, calls),
        "the same, a list": descent(jit, put, calls, listed),
        "the same, a number by name": descent(jit, put, calls, rate=RATE),
    }


def tree_rows(
    compiled: Any, leaf: Callable[[], Any], prepare: Callable[[Any], None]
) -> dict[str, Callable[[], float]]:
    """The rows of a compiled function that returns the tree it is given."""

    def parameters() -> dict[str, Any]:
        return {f"weight {at}": leaf() for at in range(LEAVES)}

    by_hand, nested = parameters(), {f"layer {at}": {} for at in range(LEAVES // 2)}
    for layer in nested.values():
        layer |= {"weight": leaf(), "bias": leaf()}
    returned = compiled(by_hand)
    compiled(nested)
    prepare(compiled)
    in_turn = cycle([parameters(), parameters()])
    return {
        "jit call, tree of 150": lambda: once(lambda: compiled(returned), 200),
        "the same, made by hand": lambda: once(lambda: compiled(by_hand), 200),
        "the same, 75 dicts of 2": lambda: once(lambda: compiled(nested), 200),
        "the same, a new dict each call": lambda: once(lambda: compiled(dict(by_hand)), 200),
        "the same, new tensors each call": lambda: once(lambda: compiled(next(in_turn)), 200),
    }


def idle(compiled: Any) -> None:
    """Let a compiled function return what it is given, and nothing be computed."""
    for plan in compiled.plans:
        plan.executable = _Idle()


class _Idle:
    """What gives back its first piece."""

    def __call__(self, pieces: Sequence[Any], sizes: Any, counts: tuple[int, ...]) -> list[Any]:
        return dealt(pieces[0], counts) if isinstance(pieces[0], list) else [pieces[0]]

    def dealer(self, sizes: Any, counts: tuple[int, ...]) -> Any:
        """The same for one who calls often."""
        return lambda *pieces: self(pieces, sizes, counts)


def jax_rows() -> dict[str, Callable[[], float]]:
    """JAX's own eager dispatch and jit calls."""
    import jax  # pyright: ignore[reportMissingImports]
    import jax.numpy as jnp  # pyright: ignore[reportMissingImports]

    x = jnp.ones((4, 4))
    one = jax.jit(lambda x: x + x)
    one(x)
    return {
        "record one op": lambda: once(lambda: x + x, 200),
        "jit call, 1 argument": lambda: once(lambda: one(x), 200),
        **tree_rows(jax.jit(lambda tree: tree), lambda: jnp.ones((2, 2)), lambda _: None),
        "step of a small kernel, read": number_read(jax.jit(doubled), jnp.asarray),
        **descents(jax.jit, jnp.asarray, CALLS // 10),
    }


def torch_rows() -> dict[str, Callable[[], float]]:
    """PyTorch's eager dispatch."""
    import torch  # pyright: ignore[reportMissingImports]

    x = torch.ones((4, 4))
    return {
        "record one op": lambda: once(lambda: x + x, 1000),
        "step of a small kernel, read": number_read(doubled, torch.asarray),
    }


def numpy_rows() -> dict[str, Callable[[], float]]:
    """numpy's own calls."""
    x = np.ones((4, 4), np.float32)
    return {
        "record one op": lambda: once(lambda: x + 1, 1000),
        "step of a small kernel, read": number_read(doubled, np.asarray),
    }


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
    print(f"{'µs':34}{'budget':>8}" + "".join(f"{name:>11}" for name in best))
    for row, budget in BUDGETS.items():
        cells = [f"{rows[row]:11.2f}" if row in rows else f"{'':11}" for rows in best.values()]
        print(f"{row:34}{budget:8.0f}" + "".join(cells))


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
