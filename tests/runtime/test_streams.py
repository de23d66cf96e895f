"""Calls that return before they are done: their order, values, threads, forks, and the end."""

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.force import buffer_of
from brimstone.runtime.arrays import Use, use

SIZE = 700
"""Of matrices whose product is too much for the caller to do by himself."""

START = """
import brimstone as bs, os, sys
cpu = bs.device("cpu")
cpu.__enter__()
@bs.jit
def longer(x):
    for _ in range(int(sys.argv[1])):
        x = x @ x / 1200
    return x
longer(bs.ones((400, 400))).sync()  # from now on its code is there for larger ones, too
x = bs.ones((1200, 1200)).sync()
"""
AT_THE_END = "y = longer(x)"
IN_A_THREAD = """
import threading
def forever():
    while True:
        bs.sync(longer(x))
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
y = longer(x)
"""
AFTER_ALL = """
import atexit
atexit.register(lambda: print(float(y[0, 0])))
y = longer(x)
"""
FORK = """
y = longer(x)
child = os.fork()
for _ in range(3):
    y = longer(y)
assert float(y[0, 0]) == 1
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
BEFORE_IMPORT = "import atexit; atexit.register(lambda: print(float(y[0, 0])))\n"
TOLD_BEFORE_IMPORT = """
import atexit
def tell():
    try:
        print(float(y[0, 0]))
    except RuntimeError as error:
        print(error)
atexit.register(tell)
"""
REPLACED = "y = bs.jit(longer.function, donate=0)(longer(x))"


@pytest.fixture(autouse=True)
def cpu() -> Any:
    with bs.device("cpu"):
        yield


@bs.jit
def product(x: Any, y: Any) -> Any:
    return x @ y / SIZE + 1


def matrix(seed: int) -> Any:
    return bs.asarray(np.random.default_rng(seed).random((SIZE, SIZE), np.float32)).sync()


def settled() -> Use:
    """The memory that is used when all is done; who has read a value may be a moment earlier."""
    bs.sync()
    gc.collect()
    return use()


def chain(length: int, seed: int) -> Any:
    """A product of many, which nobody waits for."""
    with bs.device("cpu"):
        made = first = matrix(seed)
        for _ in range(length):
            made = product(made, first)
        return made


def test_values_are_read_in_any_order() -> None:
    first = matrix(0)
    made = [first]
    for _ in range(6):
        made.append(product(made[-1], first))
    expected = first.numpy()
    for at in (3, 6, 1, 5, 2, 4):
        wanted = first.numpy()
        for _ in range(at):
            wanted = wanted @ expected / SIZE + 1
        np.testing.assert_allclose(made[at].numpy(), wanted, rtol=1e-4)


def test_little_and_much_keep_their_order() -> None:
    @bs.jit
    def count(state: Any) -> Any:
        return {name: value + 1 for name, value in state.items()}

    @bs.jit
    def grow(state: Any, x: Any) -> Any:
        zero = (x @ x).sum() * 0
        return {name: value * 2 + zero for name, value in state.items()}

    state: Any = {f"p{number}": bs.full((3,), float(number)) for number in range(5)}
    expected = np.arange(5.0)
    x = matrix(1)
    for _ in range(6):
        state = grow(count(state), x)
        expected = (expected + 1) * 2
    assert [float(value[0]) for value in state.values()] == expected.tolist()


def test_threads_give_the_same_bits() -> None:
    alone = [chain(5, seed).numpy() for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        together = [*threads.map(lambda seed: chain(5, seed).numpy(), range(4))]
    for mine, theirs in zip(alone, together, strict=True):
        assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("every", [1, 7, 200])
def test_threads_with_little_to_do_lose_nothing(every: int) -> None:
    """Each comes back to Python every few microseconds, or leaves what it asks for until it wants
    that: none of what they drop or make is lost."""
    step = bs.jit(lambda state, x: {name: each * 0.5 + x for name, each in state.items()}, donate=0)
    x = bs.ones((3,)).sync()

    def train(seed: int) -> list[Any]:
        state: Any = {f"p{number}": bs.full((3,), float(seed + number)) for number in range(5)}
        for count in range(200):
            state = step(state, x)
            if count % every == 0:
                bs.sync(state)
        return [each.tolist() for each in state.values()]

    alone = [train(seed) for seed in range(4)]
    before = settled().used
    for _ in range(10):
        with ThreadPoolExecutor(4) as threads:
            assert [*threads.map(train, range(4))] == alone
    for _ in range(100):  # a thread that has ended may have left its last call to somebody else
        if settled().used <= before:
            break
        sleep(0.01)
    assert settled().used <= before


def test_a_thread_that_stays_in_python_does_not_keep_others() -> None:
    """It has called, as others do, and does something else then, without Python's lock."""
    step = bs.jit(lambda x: x + 1)
    begun, done = Event(), Event()

    def stay() -> None:
        step(bs.ones((3,))).sync()
        begun.set()
        done.wait()

    with ThreadPoolExecutor(1) as threads:
        staying = threads.submit(stay)
        begun.wait()
        for value in range(1000):
            assert step(bs.full((3,), float(value)))[0].item() == value + 1
        done.set()
        staying.result()


def test_one_thread_reads_what_another_asked_for() -> None:
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(chain, 4, 5).result()
        second = threads.submit(product, first, first).result()
        assert product(first, second).numpy().tobytes() == _again().tobytes()


def _again() -> np.ndarray:
    first = chain(4, 5)
    return product(first, product(first, first)).numpy()


def test_memory_does_not_grow() -> None:
    step = bs.jit(lambda tree: {name: value * 0.5 for name, value in tree.items()})
    tree: Any = {f"p{number}": bs.ones((1 + number,)) for number in range(40)}
    x = matrix(2)
    for _ in range(20):
        tree, x = step(tree), product(x, x)
    before = settled()
    for _ in range(2000):
        tree = step(tree)
    for _ in range(30):
        x = product(x, x)
    after = settled()
    assert after.used <= before.used  # what other tests have made may go meanwhile
    assert after.used + after.kept <= before.used + before.kept + (SIZE * SIZE * 4 << 6)


def test_the_call_after_one_that_was_read_finds_its_memory() -> None:
    @bs.jit(donate="state")
    def step(state: Any, x: Any) -> Any:
        y = x
        for _ in range(50):
            y = y @ x / SIZE
        last = y.sum()
        return {name: value + last for name, value in state.items()}, last

    state: Any = {f"p{number}": bs.ones((1 + number,)) for number in range(400)}
    x = matrix(2)[:256, :256].sync()
    for _ in range(2):
        state, last = step(state, x)
        float(last)
    asked = settled().asked
    for _ in range(100):
        state, last = step(state, x)
        float(last)
    assert settled().asked - asked < 8  # and not for each of what it is given and makes


@pytest.mark.parametrize("more", [(), ("argument",), ("view",), ("result",)], ids=str)
def test_what_is_read_at_once_each_time_is_there_when_the_call_returns(more: Any) -> None:
    """Whatever is returned along. A thread that has no core for a while reads late, now and then;
    if nobody noted what is read, there would never be two in turn."""

    @bs.jit
    def step(x: Any, y: Any) -> Any:
        along = {"argument": y, "view": bs.reshape(y, (-1,)), "result": x + y}
        return bs.sum(x @ y), [along[each] for each in more]

    first, in_turn = matrix(0), 0
    for _ in range(2000):
        found, _ = step(first, first)
        is_there = buffer_of(found.node).there() != 0
        in_turn = in_turn + 1 if is_there else 0
        found.item()
        if in_turn == 3:
            break
    assert in_turn == 3


def test_a_leaf_keeps_no_others() -> None:
    step = bs.jit(lambda x: {"large": x + 1, "small": x[:3, 0], "b": x * 2, "c": x * 3})
    x = matrix(3)
    step(x)
    before = settled().used
    kept = [step(x)["small"] for _ in range(10)]
    assert settled().used - before < SIZE * SIZE * 4
    assert all(each.tolist() == x[:3, 0].tolist() for each in kept)


def test_results_that_are_arguments() -> None:
    x = matrix(4)
    same, part, product_ = bs.jit(lambda x: (x, x[1:3, 2:], x @ x))(x)
    assert same.tolist() == x.tolist()
    assert part.tolist() == x[1:3, 2:].tolist()
    assert product_.shape == x.shape


@bs.jit(donate="state")
def stepped(state: Any, x: Any) -> Any:
    return state * 2 + ((x @ x.T) @ x).sum()


def test_a_call_for_which_there_is_no_memory_takes_nothing() -> None:
    """What lies between its kernels would be 256 GiB."""
    with bs.device("cpu"):
        small, large = bs.ones((8, 8)).sync(), bs.ones((1 << 18, 8)).sync()
        state = stepped(stepped(bs.ones((1 << 16,)), small), small)
        with pytest.raises(bs.OutOfMemory):
            stepped(state, large)
        np.testing.assert_array_equal(state.numpy(), 4 + 3 * 8**4)
        np.testing.assert_array_equal(stepped(state, small).numpy(), 8 + 7 * 8**4)


def test_who_asks_for_less_then_copies_nothing() -> None:
    """There is no memory for a state twice where there was none for its step."""
    with bs.device("cpu"):
        small, large = bs.ones((8, 8)).sync(), bs.ones((1 << 18, 8)).sync()
        state = stepped(bs.ones((1 << 16,)), small)
        place = buffer_of(state.node).addresses()
        with pytest.raises(bs.OutOfMemory):
            stepped(state, large)
        state = stepped(state, small)
        assert buffer_of(state.node).addresses() == place


WAITING = """
import brimstone as bs
from brimstone.runtime.arrays import use
with bs.device("cpu"):
    @bs.jit(donate="state")
    def step(state, x):
        for _ in range(4):
            x = x @ x / 900
        return state + x.sum()
    x = bs.ones((900, 900)).sync()
    state = step(bs.zeros((4 << 20,)), x).sync()
    for _ in range(35):
        state = step(state, x)
    state.sync()
    print(use().most_used >> 20)
"""


def test_who_waits_for_room_copies_nothing() -> None:
    """A state of 16 MiB, given away in each of more steps than a stream takes at once, and of which
    each takes longer than the core waits before Python looks at signals."""
    ran = subprocess.run(
        [sys.executable, "-c", WAITING], env={**os.environ, "BRIMSTONE_THREADS": "1"},
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert int(ran.stdout) < 48


def test_donated_arguments_are_read_by_what_waits() -> None:
    step = bs.jit(lambda x, y: x @ y / SIZE, donate=0)
    y = matrix(6)
    x = made = matrix(7)
    kept = x.numpy().copy()
    for _ in range(4):
        made = step(made, y)
    expected = kept
    for _ in range(4):
        expected = expected @ y.numpy() / SIZE
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-4)
    with pytest.raises(bs.DeadTensorError):
        x.numpy()


@pytest.mark.parametrize("threads", ["1", "2", "5"])
@pytest.mark.parametrize(
    "program",
    [
        START + AT_THE_END,
        START + IN_A_THREAD,
        START + AFTER_ALL,
        START + FORK,
        BEFORE_IMPORT + START + AT_THE_END,
        TOLD_BEFORE_IMPORT + START + REPLACED,
    ],
    ids=["waiting", "threads", "handler", "fork", "earlier", "replaced"],
)
def test_a_process_ends_with_work_under_way(program: str, threads: str) -> None:
    length = "1" if "fork" in program else "6" if "print" in program else "12"
    done = subprocess.run(
        # Python 3.12 and later warn of every fork, which is what one of these is about.
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program, length],
        env={**os.environ, "BRIMSTONE_THREADS": threads},
        capture_output=True,
        timeout=60,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
