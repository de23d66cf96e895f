"""Processes that share one cache of machine code, and are killed while they write to it.

    PYTHONPATH=tests python -m kit.cache_stress FOLDER [TIMES]

Comes in: a folder, and how many processes are killed (200). Goes out: the exit status; every object
that is found afterwards is whole, and sixteen processes that work at once all find what they put.
Never: a compiler; what is killed is a process in the middle of a write.
"""

import os
import signal
import sys
import warnings
from pathlib import Path
from random import Random
from time import sleep

from brimstone.targets.llvm.cache import ASIDE, OBJECT, Cache
from kit.forked import child

KEYS = [f"{number:02x}{'0' * 62}" for number in range(40)]
BOUND = 1 << 18
TOGETHER = 16


def content(key: str) -> bytes:
    """What belongs under a key: long enough that a write takes its time."""
    return key.encode() * (200 + 10 * int(key[:2], 16))


def work(folder: Path, random: Random, rounds: int | None) -> None:
    """Put and get, for so many rounds or for ever."""
    cache = Cache(folder, BOUND)
    while rounds is None or rounds:
        key = random.choice(KEYS)
        cache.put(key, content(key))
        assert cache.get(random.choice(KEYS)) in {None, *map(content, KEYS)}
        rounds = rounds - 1 if rounds else rounds


def kill_some(folder: Path, times: int) -> None:
    """Processes die at random moments; what is there is whole."""
    random = Random(times)
    for number in range(times):
        process = child(lambda seed=number: work(folder, Random(seed), None))
        sleep(random.random() * 0.01)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        check(folder)
    left = [path for path in folder.rglob("*") if path.suffix == ASIDE]
    print(f"{times} processes were killed, {len(left)} of them while they wrote")


def check(folder: Path) -> None:
    """Every object is what belongs under its key."""
    cache = Cache(folder, BOUND)
    for key in KEYS:
        assert cache.get(key) in (None, content(key)), key


def share(folder: Path) -> None:
    """Processes work at once, with a bound so low that they also remove each other's objects."""
    running = [child(lambda seed=n: work(folder, Random(seed), 200)) for n in range(TOGETHER)]
    assert all(os.waitpid(process, 0)[1] == 0 for process in running)
    check(folder)
    size = sum(path.stat().st_size for path in folder.rglob(f"*{OBJECT}"))
    print(f"{TOGETHER} processes shared {size} bytes")


if __name__ == "__main__":
    warnings.simplefilter("error")
    where = Path(sys.argv[1])
    kill_some(where, int(sys.argv[2]) if len(sys.argv) > 2 else 200)
    share(where)
