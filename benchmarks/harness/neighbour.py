"""A neighbour: another process that wants one of our cores all the time.

Comes in: a core. Goes out: a process that spins on it for as long as a `with` block runs.
Never: a process that outlives the one that started it, however that one ends.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

STEPS = 100_000
"""How many empty loops there are, some milliseconds, between two looks at the parent."""
READY = "spinning\n"


class Neighbour(NamedTuple):
    """Where it spins, and the id of its process."""

    core: int
    process: int


@contextmanager
def spinning_on(core: int | None) -> Iterator[Neighbour | None]:
    """Have a neighbour on a core meanwhile; None: have none."""
    if core is None:
        yield None
        return
    command = [sys.executable, "-I", __file__, str(core), str(os.getpid())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            if process.stdout.readline() != READY:
                raise RuntimeError(f"no neighbour started on core {core}")
            yield Neighbour(core, process.pid)
        finally:
            process.kill()


def spin(core: int, parent: int) -> None:
    """Take all the time of a core that can be had, until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches us, too: end without a word
    os.sched_setaffinity(0, {core})
    print(READY, end="", flush=True)
    while os.getppid() == parent:
        for _ in range(STEPS):
            pass


if __name__ == "__main__":
    spin(int(sys.argv[1]), int(sys.argv[2]))
