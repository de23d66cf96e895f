"""Loops that take long, or never end: interrupts, forks, and the ends of processes."""

import os
import signal
import subprocess
import sys
import time
from threading import Timer

import pytest

PATIENCE = 60
"""Seconds after which a test fails whose process does not end."""
START = """
import brimstone as bs, os, sys, threading, time
cpu = bs.device("cpu")
cpu.__enter__()
def more(state):
    return state[0] + 1, state[1] * 0.5
@bs.jit
def count(x, end):
    return bs.while_loop(lambda state: state[0] != end, more, (bs.asarray(0), x))
x = bs.ones((int(sys.argv[1]),)).sync()
never, soon, later = [bs.asarray(end).sync() for end in (-1, 10, 300_000)]
assert int(count(x, soon)[0]) == 10
"""
INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # else ignored in the background
try:
    print("begun", flush=True)
    print(count(x, never)[1].numpy())
except KeyboardInterrupt:
    print("interrupted", int(count(x, soon)[0]))
"""
AT_ANY_TIME = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
for wait in (0.005, 0.01, 0.03, 0.05):
    later = threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT))
    try:
        later.start()
        count(x, never)[1].numpy()
    except KeyboardInterrupt:
        assert int(count(x, soon)[0]) == 10
"""
HELD = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
# All is imported: modules `eval` text, and of an interrupt that goes through that Python says to
# whoever started it that it was not handled.
(bs.exp(count(x, soon)[1]) + 1).numpy()
held = bs.exp(count(x, never)[1]) + 1
later = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
try:
    later.start()
    held.numpy()
except KeyboardInterrupt:
    assert (bs.ones((2,)) + 2).tolist() == [3, 3]
    assert int(count(x, soon)[0]) == 10
"""
FORK = """
made = count(x, later)[0]
child = os.fork()
assert int(made) == 300_000
assert int(count(x, soon)[0]) == 10
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
AT_THE_END = "made = count(x, never)"
IN_THREADS = """
def forever():
    count(x, never)[0].numpy()
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.2)
"""
AFTER_ALL = """
import atexit
made = count(x, later)[0]
atexit.register(lambda: print(int(made)))
endless = count(x, never)
"""
NOT_WANTED_IN_TURN = """
twice = bs.jit(lambda x: x * 2)
def ask():
    made = count(x, never)[1]
    for _ in range(3):
        made = twice(made)
thread = threading.Thread(target=ask)
thread.start()
thread.join()
child = os.fork()
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
GATHERING = """
from brimstone.frontend.recording import gathering
begun = threading.Event()
def gather():
    with gathering():
        begun.set()
        time.sleep(0.3)
thread = threading.Thread(target=gather)
thread.start()
begun.wait()
child = os.fork()
assert int(count(x, soon)[0]) == 10
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
NOT_WANTED = """
def ask():
    count(x, never)
thread = threading.Thread(target=ask)
thread.start()
thread.join()
assert int(count(x, soon)[0]) == 10
bs.sync()
"""


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("size", ["3", "40000"])
def test_an_interrupt_ends_a_loop_that_never_ends(size: str, threads: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", START + INTERRUPTED, size],
        env={**os.environ, "BRIMSTONE_THREADS": threads},
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        late = Timer(PATIENCE, child.kill)
        late.daemon = True
        late.start()
        assert child.stdout.read() == "interrupted 10\n"
        late.cancel()
    assert child.returncode == 0


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("size", ["3", "4000000"])  # the call itself begins it, or who reads
@pytest.mark.parametrize("program", [AT_ANY_TIME, HELD], ids=["soon", "held"])
def test_an_interrupt_leaves_the_device_to_others(program: str, size: str, threads: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START + program, size],
        env={**os.environ, "BRIMSTONE_THREADS": threads},
        capture_output=True,
        timeout=PATIENCE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize(
    "program",
    [FORK, AT_THE_END, IN_THREADS, AFTER_ALL, NOT_WANTED, NOT_WANTED_IN_TURN, GATHERING],
    ids=["fork", "waiting", "threads", "handler", "not wanted", "nor in turn", "gathering"],
)
def test_a_process_goes_on_and_ends(program: str, threads: str) -> None:
    done = subprocess.run(
        # Python 3.12 and later warn of every fork, which is what one of these is about.
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", START + program, "3"],
        env={**os.environ, "BRIMSTONE_THREADS": threads},
        capture_output=True,
        timeout=60,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    if program is AFTER_ALL:
        assert done.stdout == "300000\n"
