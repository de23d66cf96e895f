"""A neighbour: another process that wants one of our cores all the time, but for rests.

Comes in: a core. Goes out: a process that spins on it for as long as a `with` block runs.
Never: a process that outlives the one that started it, however that one ends; or one that does not
do what it was asked.
"""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

STEPS = 100_000
"""How many empty loops there are, some milliseconds, between two looks at what it is asked."""
SPIN, REST = "spin\n", "rest\n"
"""What it is asked, and says when it does so."""


class Neighbour(NamedTuple):
    """Where it spins, the id of its process, and what asks it something and waits for it."""

    core: int
    process: int
    ask: Callable[[str], None]

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Have it leave its core to others meanwhile."""
        self.ask(REST)
        try:
            yield
        finally:
            self.ask(SPIN)


@contextmanager
def spinning_on(core: int | None) -> Iterator[Neighbour | None]:
    """Have a neighbour on a core meanwhile; None: have none."""
    if core is None:
        yield None
        return
    command = [sys.executable, "-I", __file__, str(core), str(os.getpid())]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        asked, said = process.stdin, process.stdout
        assert asked is not None and said is not None

        def ask(what: str) -> None:
            print(what, end="", file=asked, flush=True)
            if said.readline() != what:
                raise RuntimeError(f"the neighbour on core {core} is gone")

        try:
            if said.readline() != SPIN:
                raise RuntimeError(f"no neighbour started on core {core}")
            yield Neighbour(core, process.pid, ask)
        finally:
            process.kill()


def spin(core: int, parent: int) -> None:
    """Take all the time of a core that can be had, but for rests, until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches us, too: end without a word
    os.sched_setaffinity(0, {core})
    told = SPIN
    print(told, end="", flush=True)
    while os.getppid() == parent:
        if told == REST or select.select([sys.stdin], [], [], 0)[0]:
            told = sys.stdin.readline()
            if not told:
                return
            print(told, end="", flush=True)
        for _ in range(STEPS if told == SPIN else 0):
            pass


if __name__ == "__main__":
    spin(int(sys.argv[1]), int(sys.argv[2]))
