"""Whether the machine has time for us: figures from a loaded one mean nothing.

Comes in: nothing. Goes out: which part of a core's time a spinning process gets.
Never: a figure that is corrected for load; it is taken again, or not trusted.
"""

import time

SPIN_SECONDS = 0.02
ENOUGH = 0.97


def share() -> float:
    """The part of the time that this process ran while it wanted to run all the time."""
    wall, own = time.perf_counter(), time.thread_time()
    while time.perf_counter() - wall < SPIN_SECONDS:
        pass
    return (time.thread_time() - own) / (time.perf_counter() - wall)


def quiet(tries: int = 20) -> bool:
    """Whether the machine leaves us alone, or comes to within some tries."""
    for _ in range(tries):
        if share() >= ENOUGH:
            return True
        time.sleep(0.1)
    return False
