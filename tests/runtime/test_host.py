"""The threads of the native core: how many, and what becomes of them in odd moments."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from brimstone.ir.payloads import Array
from brimstone.runtime.host import MOST, VARIABLE, Host, threads_wanted
from brimstone.targets.cores import usable_cores
from brimstone.targets.script import Act, Kind, Launch, Script

WORK = """
import brimstone as bs, numpy as np
def work(x):
    return float(bs.sum(bs.softmax(bs.tensor(x), -1) * 2))
x = np.ones((2000, 500), np.float32)
with bs.device("cpu"):
    assert abs(work(x) - 4000) < 1
"""
FORK = """
    import os
    child = os.fork()
    if child == 0:
        os._exit(0 if abs(work(x) - 4000) < 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert abs(work(x) - 4000) < 1
"""
DAEMON = """
    import threading, time
    def forever():
        while True:
            work(x)
    for _ in range(3):
        threading.Thread(target=forever, daemon=True).start()
    time.sleep(0.3)
"""

LONG = """
import signal
from time import perf_counter
import brimstone as bs
signal.signal(signal.SIGINT, signal.default_int_handler)  # else ignored in the background
@bs.jit
def long(x):
    for _ in range(1000):
        x = x @ x / 1024
    return x
with bs.device("cpu"):
    x = bs.ones((1024, 1024))
    print(float((x @ x / 1024)[0, 0]))
    start = perf_counter()
    for _ in range(10):
        (x @ x / 1024).sync()
    print((perf_counter() - start) / 10, flush=True)
    try:
        print(float(long(x)[0, 0]))
    except KeyboardInterrupt:
        print("interrupted", float((x @ x / 1024)[0, 0]))
"""


def run(script: str, threads: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, which may take a minute; newer Pythons warn of forks amid threads."""
    variables = {**os.environ, VARIABLE: threads}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    return subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(("said", "count"), [("", usable_cores()), ("1", 1), ("3", 3)])
def test_there_are_as_many_as_one_says(
    said: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, said)
    assert threads_wanted() == count


@pytest.mark.parametrize("said", ["0", "-1", "two", "1.5", str(MOST + 1)])
def test_a_number_that_is_none_is_refused(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, said)
    with pytest.raises(ValueError, match=f"{VARIABLE} is '{said}', no number from 1 to {MOST}"):
        threads_wanted()


def done(script: Script, addresses: list[int], slots: Array) -> int:
    """What doing a script comes to."""
    return Host(2).prepared(script)(np.array(addresses, np.uint64), slots)(0)


def test_a_kernel_that_needs_more_memory_than_there_is() -> None:
    """It does not run, nor does what comes after it."""
    launch = Launch(0, 0, 0, (1, 1, 1), scratch=(0,), room=1 << 60)
    for kind in (Kind.SHARE, Kind.ALONE):
        script = Script([], [launch], [Act(Kind.COPY, 0, 0), *[Act(kind, 0, 1)] * 2])
        with pytest.raises(MemoryError):
            done(script, [], np.zeros(2, np.uint64))


def test_an_empty_script_is_soon_done() -> None:
    assert done(Script([], [], []), [], np.zeros(0, np.uint64)) == 0


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 100, 1001])
def test_elements_are_repeated(dtype: type, count: int) -> None:
    array, element = np.zeros(count + 2, dtype), np.array(3, dtype)
    slots = np.zeros(3, np.uint64)
    slots[1:].view(np.uint8)[: element.itemsize] = np.frombuffer(element.tobytes(), np.uint8)
    fill = Act(Kind.FILL, 0, count, element.itemsize)
    script = Script([(0, 0, element.itemsize)], [], [fill])
    assert done(script, [array.ctypes.data], slots) == 1
    assert array.tolist() == [0, *[element] * count, 0]


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_bytes_are_copied(count: int) -> None:
    source, target = np.arange(count, dtype=np.uint8), np.zeros(count, np.uint8)
    script = Script([(0, 1, 0), (1, 0, 0)], [], [Act(Kind.COPY, 0, count)])
    assert done(script, [source.ctypes.data, target.ctypes.data], np.zeros(2, np.uint64)) == 1
    assert (source == target).all()


@pytest.mark.parametrize("seed", range(20))
def test_arrays_that_are_alive_at_once_share_no_byte(seed: int) -> None:
    draws = np.random.default_rng(seed)
    begins = draws.integers(0, 50, 60)
    ends = begins + draws.integers(0, 20, 60)
    alive = [
        *zip(begins.tolist(), ends.tolist(), draws.integers(0, 1000, 60).tolist(), strict=True)
    ]
    offsets, total = Host(1).pack(alive)
    used = np.zeros((71, total), np.int64)
    for (begin, end, size), offset in zip(alive, offsets, strict=True):
        assert offset % 64 == 0
        used[begin : end + 1, offset : offset + size] += 1
    assert used.max(initial=0) <= 1
    assert used[:, -64:].any()


def test_more_bytes_than_can_be_counted() -> None:
    with pytest.raises(MemoryError, match=f"no memory for 2 arrays of {2**63 + 63} bytes"):
        Host(1).pack([(0, 5, 2**63 - 1), (1, 6, 64)])


@pytest.mark.parametrize("more", [FORK, DAEMON], ids=["a fork", "an end amid work"])
def test_threads_do_not_mind(more: str) -> None:
    made = run(WORK + more, "3")
    assert (made.returncode, made.stderr) == (0, "")


def test_an_interrupt_ends_a_long_step() -> None:
    """It ends before half of it can have run, and the device can be used afterwards."""
    with subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "1.0\n"
        half = 500 * float(child.stdout.readline())
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        start = time.perf_counter()
        assert child.stdout.read() == "interrupted 1.0\n"
        assert time.perf_counter() - start < half
    assert child.returncode == 0
