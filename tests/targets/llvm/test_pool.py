"""Memory for the arrays of steps: kept when given back, and never shared by two live arrays."""

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from brimstone.ir.dtypes import bf16, f32, i8
from brimstone.runtime.threads import shared_threads
from brimstone.targets.llvm.memory import ALIGNMENT, SMALL, Pool
from brimstone.targets.llvm.target import Cpu

LARGE = (SMALL,)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (7,), (1024, 3), (5, 1 << 16)], ids=str)
@pytest.mark.parametrize("dtype", [f32, bf16, i8], ids=repr)
def test_an_array_is_whole(shape: tuple[int, ...], dtype) -> None:
    array = Pool().empty(shape, dtype.storage)
    assert (array.shape, array.dtype) == (shape, dtype.storage)
    assert array.flags.c_contiguous
    assert array.flags.writeable
    array[...] = np.ones((), dtype.storage)
    assert (array == np.ones((), dtype.storage)).all()


def test_large_arrays_are_aligned() -> None:
    pool = Pool()
    arrays = [pool.empty((SMALL + extra,), i8.storage) for extra in range(5)]
    assert all(array.ctypes.data % ALIGNMENT == 0 for array in arrays)


def test_what_a_user_hands_over_is_copied_to_where_vectors_are_read_quickly() -> None:
    given = np.arange(SMALL + 1, dtype=np.int16)[1:]
    copied = Cpu(shared_threads()).copy(given, f32.storage)
    assert copied.ctypes.data % ALIGNMENT == 0
    given[:] = 0
    assert copied.tolist() == [*range(1, SMALL + 1)]
    assert not copied.flags.writeable


def test_a_dead_array_hands_its_memory_on() -> None:
    pool = Pool()
    array = pool.empty(LARGE, f32.storage)
    address = array.ctypes.data
    del array
    gc.collect()
    assert pool.kept > 0
    again = pool.empty(LARGE, f32.storage)
    assert again.ctypes.data == address
    assert pool.kept == 0


def test_a_view_keeps_its_array_alive() -> None:
    pool = Pool()
    view = pool.empty(LARGE, f32.storage).reshape(2, -1)[1]
    view[:] = 7
    gc.collect()
    other = pool.empty(LARGE, f32.storage)
    other[:] = 0
    assert (view == 7).all()


def test_a_pool_keeps_no_more_than_it_may() -> None:
    pool = Pool(keep_at_most=0)
    del_me = pool.empty(LARGE, f32.storage)
    del del_me
    gc.collect()
    assert pool.kept == 0


def test_threads_never_share_a_block() -> None:
    pool, wrong = Pool(), []

    def work(mark: int) -> None:
        for _ in range(200):
            array = pool.empty(LARGE, f32.storage)
            array[:] = mark
            if not (array == mark).all():
                wrong.append(mark)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert not wrong
