"""Arrays in memory of the native core: whole, aligned, handed on when they die, never shared."""

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import ref

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.dtypes import DType, bf16, f32, i8
from brimstone.runtime import arrays
from brimstone.runtime.arrays import borrowed, empty, joined, use
from brimstone.runtime.host import shared_host
from brimstone.runtime.native import core
from brimstone.targets.llvm.target import Cpu
from brimstone.targets.script import ALIGNMENT

SIZE = 100_000


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (7,), (1024, 3), (5, 1 << 16)], ids=str)
@pytest.mark.parametrize("dtype", [f32, bf16, i8], ids=repr)
def test_an_array_is_whole(shape: tuple[int, ...], dtype: DType) -> None:
    array = empty(shape, dtype.storage)
    assert (array.shape, array.dtype) == (shape, dtype.storage)
    assert array.flags.c_contiguous
    assert array.flags.writeable
    array[...] = np.ones((), dtype.storage)
    assert (array == np.ones((), dtype.storage)).all()


def test_arrays_are_aligned() -> None:
    arrays = [empty((1 + extra,), i8.storage) for extra in range(5)]
    assert all(array.ctypes.data % ALIGNMENT == 0 for array in arrays)


def test_what_a_user_hands_over_is_copied_to_where_vectors_are_read_quickly() -> None:
    given = np.arange(SIZE + 1, dtype=np.int32)[1:]
    copied = Cpu(shared_host()).copy(given, f32.storage).array()
    assert copied.ctypes.data % ALIGNMENT == 0
    given[:] = 0
    assert copied.tolist() == [*range(1, SIZE + 1)]
    assert not copied.flags.writeable


def test_what_is_computed_is_read_without_letting_others_have_the_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with bs.device("cpu"):
        computed = (bs.ones((3,)) + 1).sync()

        def nobody() -> Any:
            raise AssertionError("cffi would let go of the lock")

        with monkeypatch.context() as patch:
            patch.setattr(arrays, "core", nobody)
            values = computed.numpy()
        assert values.tolist() == [2, 2, 2]


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (2, 8), (17,), (1 << 16,)], ids=str)
@pytest.mark.parametrize("dtype", [f32, bf16, i8], ids=repr)
def test_nobody_can_change_what_is_read(shape: tuple[int, ...], dtype: DType) -> None:
    """Not by what he reads, nor by giving the array away."""
    one = np.ones((), dtype.storage)
    with bs.device("cpu"):
        less = bs.jit(lambda x: x - x, donate=0)
        held = bs.jit(lambda x: x * x)(np.full(shape, one))
        read = held.numpy()
        assert (read.shape, read.dtype) == (shape, dtype.storage)
        assert not read.flags.writeable
        assert read.flags.aligned
        less(held).sync()
    assert (read == one).all()


def test_arrays_are_held_together() -> None:
    arrays.take_back()
    cpu, memory = Cpu(shared_host()), use().used
    parts = [cpu.upload(np.full((size,), size, np.float32)) for size in (3, 0, 5)]
    together = cpu.together([parts[0], cpu.together(parts[1:])])
    assert len(together) == 3
    assert together.addresses() == [each.addresses()[0] for each in parts]
    del parts
    gc.collect()
    assert [each.array().tolist() for each in together] == [[3] * 3, [], [5] * 5]
    del together
    drop_all()
    arrays.take_back()
    assert use().used == memory


PLACES: list[slice] = [
    slice(1, 4), slice(5, 2), slice(-2, None), slice(None, None, -1), slice(None, None, 2),
    slice(4, 0, -3), slice(3, 3, -1), slice(9, 20),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=repr)
def test_parts_are_those_of_any_sequence(place: slice) -> None:
    whole = joined([borrowed(np.asarray(number)) for number in range(6)])
    assert [each.number() for each in whole[place]] == [*range(6)][place]


def test_a_dead_array_hands_its_memory_on() -> None:
    array = empty((SIZE,), f32.storage)
    address, used = array.ctypes.data, use().used
    del array
    gc.collect()
    assert use().used < used
    assert empty((SIZE,), f32.storage).ctypes.data == address


def used_now() -> int:
    """What arrays use, those included that only wait to be dropped."""
    found: Any = core().brimstone_memory()
    return found.used


def test_large_arrays_are_dropped_at_once() -> None:
    array = empty((1 << 20,), f32.storage)
    used = used_now()
    del array
    assert used_now() <= used - (4 << 20)


def test_small_arrays_are_dropped_by_the_next_call() -> None:
    with bs.device("cpu"):
        double = bs.jit(lambda x: x + x)
        given = bs.asarray(np.ones(SIZE, np.float32))
        double(given).sync()
        drop_all()
        result = double(given).sync()
        used = used_now()
        del result
        assert used_now() == used
        _again = double(given).sync()
    assert used_now() == used


def test_not_much_is_left_to_the_next_call() -> None:
    """Who asks for nothing more would keep it for ever."""
    drop_all()
    used = used_now()
    many = [empty((SIZE,), i8.storage) for _ in range(100)]
    assert used_now() >= used + 100 * SIZE
    del many
    assert used_now() <= used + (1 << 20)


def test_what_was_given_away_is_left_and_the_last_one_is_dropped_at_once() -> None:
    """Nothing is to be had back from what others lie in the place of, as the states of a
    training do; the last one of these has its memory."""
    with bs.device("cpu"):
        more = bs.jit(lambda x: x + 1, donate=0)
        state = more(bs.asarray(np.ones(1 << 20, np.float32))).sync()
        drop_all()
        used = used_now()
        for _ in range(10):
            state = more(state).sync()
    assert used_now() <= used + 4096
    del state
    assert used_now() <= used - (4 << 20)


KEPT: dict[str, Any] = {
    "leaf": lambda made: made["a"],
    "array": lambda made: made["a"].numpy(),
    "protocol": lambda made: np.from_dlpack(made["a"]),
    "view": lambda made: made["a"].numpy()[1:],
    "step": lambda made: made["a"] * 1,
}


@pytest.mark.parametrize("what", KEPT)
def test_what_is_kept_of_results_that_are_gone_stays(what: str) -> None:
    """Those of which nothing is kept are made again where they were."""
    with bs.device("cpu"):
        step = bs.jit(lambda x: {"a": x + 1, "b": x * 2})
        kept = [KEPT[what](step(bs.full((40,), float(number)))) for number in range(6)]
    for number, each in enumerate(kept):
        assert set(np.asarray(each).tolist()) == {number + 1}


@pytest.mark.parametrize("donate", [(), "tree"], ids=repr)
def test_results_are_read_before_others_are_made_in_their_place(donate: Any) -> None:
    with bs.device("cpu"):
        step = bs.jit(lambda x: {"a": x + 1, "b": x * 2})
        take = bs.jit(lambda tree: tree["b"] + 1, donate=donate)
        for number in range(6):
            made = take(step(bs.full((40,), float(number))))
            assert made.tolist() == [number * 2 + 1] * 40


EVALUATED = """
import brimstone as bs
from threading import Thread
bs.device("cpu").__enter__()
step = bs.jit(lambda state, x: state + x[0, 0], donate=0)
@bs.jit
def evaluate(state, x):
    for _ in range(8):
        x = x @ x / 700
    return (state * x[0, 0]).sum()
x, zeros = bs.ones((700, 700)).sync(), bs.zeros((1000,)).sync()
kept = []
def train():
    state = bs.zeros_like(zeros).sync()
    for _ in range(3):
        state = step(state, x)
    kept.append((evaluate(state, x), [evaluate(state, x) for _ in range(2)]))
    step(state, x)
for _ in range(20):
    thread = Thread(target=train)
    thread.start()
    thread.join()
    others = [bs.full((1000,), -1.0).sync() for _ in range(8)]
    assert [float(each) for each in (kept[-1][0], *kept.pop()[1])] == [3000] * 3
"""


def test_what_a_thread_evaluates_is_of_what_it_had() -> None:
    """It trains once more, for nobody, and ends: what it replaces is still to be evaluated."""
    command = [sys.executable, "-c", EVALUATED]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def drop_all() -> None:
    """Drop what nobody has any more; a look at the use does."""
    gc.collect()
    use()


def test_threads_drop_what_others_leave() -> None:
    """Each array is dropped once, whoever comes first."""
    drop_all()
    before = use().used

    def leave(count: int) -> None:
        for size in range(count):
            empty((size % 7,), i8.storage)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(leave, [500] * 4))
    drop_all()
    assert use().used == before


def test_a_view_keeps_its_array_alive() -> None:
    view = empty((SIZE,), f32.storage).reshape(2, -1)[1]
    view[:] = 7
    gc.collect()
    other = empty((SIZE,), f32.storage)
    other[:] = 0
    assert (view == 7).all()


def test_what_is_lent_is_had_back_at_once() -> None:
    array = np.ones(SIZE, np.float32)
    still = ref(array)
    arrays = borrowed(array)
    del array
    shown = arrays.array()
    assert shown.tolist() == [1] * SIZE
    del arrays
    assert still() is not None
    del shown
    gc.collect()
    borrowed(np.ones(1))
    assert still() is None


def test_no_memory() -> None:
    with pytest.raises(MemoryError):
        empty((1 << 55,), i8.storage)


def test_threads_never_share_memory() -> None:
    wrong: list[int] = []

    def work(mark: int) -> None:
        for _ in range(200):
            array = empty((SIZE,), f32.storage)
            array[:] = mark
            if not (array == mark).all():
                wrong.append(mark)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert not wrong
