"""A neighbour: another process that wants one of our cores all the time, but for rests.

Comes in: a core. Goes out: a process that spins on it for as long as a `with` block runs.
Never: a process that outlives the one that started it, however that one ends.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

STEPS = 100_000
"""How many empty loops there are, some milliseconds, between two looks at the parent."""
READY = "spinning\n"
REST, GO_ON = signal.SIGUSR1, signal.SIGUSR2
NAP = 0.001
"""Seconds after which it looks whether its rest is over."""
HEARD = 0.01
"""After so many seconds it has heard what it was told."""


class Neighbour(NamedTuple):
    """Where it spins, and the id of its process."""

    core: int
    process: int

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Have it leave its core to others meanwhile."""
        os.kill(self.process, REST)
        time.sleep(HEARD)
        try:
            yield
        finally:
            os.kill(self.process, GO_ON)
            time.sleep(HEARD)


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
    rests = False

    def hear(told: int, _: object) -> None:
        nonlocal rests
        rests = told == REST

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches us, too: end without a word
    signal.signal(REST, hear)
    signal.signal(GO_ON, hear)
    os.sched_setaffinity(0, {core})
    print(READY, end="", flush=True)
    while os.getppid() == parent:
        if rests:
            time.sleep(NAP)
        for _ in range(0 if rests else STEPS):
            pass


if __name__ == "__main__":
    spin(int(sys.argv[1]), int(sys.argv[2]))
