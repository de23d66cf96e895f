"""How long Ctrl-C takes while a process waits for long work, and whether it can go on.

    python -m benchmarks.interrupts [names] [--rounds 20]

Each work runs in a process of its own, which is sent SIGINT at some moment, says when it has caught
`KeyboardInterrupt`, and then computes something else, which has to be right. Printed are the median
and the most of the rounds. Exits with 1 beyond a fifth of a second.
"""

import argparse
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import brimstone as bs

AT_MOST = 0.2
DELAYS = 0.0, 0.5
"""Seconds after the work has begun between which SIGINT comes."""
SMALL, LARGE, ROWS, MANY = 3, 4 << 20, 2048, 30
SOON, NEVER = 10, -1

Work = Callable[[], Any]


def loop_of_small() -> Work:
    """A loop that never ends, of kernels that take less than a microsecond."""
    return _endless(lambda x: x * 0.5, (SMALL,))


def loop_of_large() -> Work:
    """One of kernels that all threads share."""
    return _endless(lambda x: x * 0.5, (LARGE,))


def loop_of_products() -> Work:
    """One of large products."""
    return _endless(lambda x: (x @ x) * (1 / ROWS), (ROWS, ROWS))


def a_product() -> Work:
    """One kernel that takes seconds."""
    x = bs.ones((4 * ROWS, 4 * ROWS)).sync()
    product = bs.jit(lambda x: x @ x)
    return lambda: product(x).numpy()


def queue() -> Work:
    """Many calls, none of them long."""
    x = bs.ones((ROWS, ROWS)).sync()
    product = bs.jit(lambda x: (x @ x) * (1 / ROWS))
    product(x).sync()

    def work() -> None:
        made = x
        for _ in range(MANY):
            made = product(made)
        made.numpy()

    return work


def decompositions() -> Work:
    """A loop that calls LAPACK."""
    return _endless(lambda x: bs.linalg.qr(x)[0], (ROWS // 4, ROWS // 4))


def a_decomposition() -> Work:
    """One call of LAPACK that takes seconds."""
    x = bs.random.normal(bs.random.key(0), (ROWS, ROWS)).sync()
    values = bs.jit(lambda x: bs.linalg.svd(x)[1])
    values(x[:SMALL]).sync()  # all is imported; an interrupt of that tells Python to end like one
    return lambda: values(x).numpy()


WORKS: Mapping[str, Callable[[], Work]] = {
    each.__name__: each
    for each in (
        loop_of_small, loop_of_large, loop_of_products, a_product, queue, decompositions,
        a_decomposition,
    )
}  # fmt: skip


def _endless(change: Callable[[Any], Any], shape: tuple[int, ...]) -> Work:
    @bs.jit
    def count(x: Any, end: Any) -> Any:
        return bs.while_loop(
            lambda state: state[0] != end,
            lambda state: (state[0] + 1, change(state[1])),
            (bs.asarray(0), x),
        )

    x = bs.ones(shape).sync()
    soon, never = bs.asarray(SOON).sync(), bs.asarray(NEVER).sync()
    assert int(count(x, soon)[0]) == SOON  # it is compiled

    def work() -> None:
        count(x, never)[1].numpy()

    return work


def interrupted(name: str) -> None:
    """In a process of its own: work, until the parent has had enough of it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with bs.device("cpu"):
        work = WORKS[name]()
        try:
            print("begun", flush=True)
            work()
        except KeyboardInterrupt:
            print(time.monotonic(), flush=True)
        assert float(bs.sum(bs.arange(SOON))) == sum(range(SOON))
    print("usable", flush=True)


def seconds(name: str, delay: float) -> float:
    """How long one interrupt takes."""
    command = [sys.executable, "-m", "benchmarks.interrupts", "--part", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "begun\n"
        time.sleep(delay)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        caught, usable = child.stdout.readline(), child.stdout.readline()
    if child.returncode or usable != "usable\n":
        raise SystemExit(f"{name}: the process cannot go on")
    return float(caught) - sent


def main() -> None:
    """Measure all works, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="names", help=", ".join(WORKS))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--part", choices=WORKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        return interrupted(options.part)
    draws, most = random.Random(0), 0.0
    for name in options.names or WORKS:
        found = [seconds(name, draws.uniform(*DELAYS)) for _ in range(options.rounds)]
        print(f"{name:18} median {median(found):6.3f} s, most {max(found):6.3f} s")
        most = max(most, *found)
    if most > AT_MOST:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
