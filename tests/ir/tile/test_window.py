"""Windows: which memory a view shows, and that nothing else is touched."""

from itertools import product

import ml_dtypes
import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.errors import Unmet
from brimstone.ir.tile.window import block_places

BASE = np.arange(60, dtype=np.float32).reshape(6, 10)


@pytest.mark.parametrize(
    "array",
    [
        BASE,
        BASE.T,
        BASE[::-1, 1:8:3],
        BASE[4::-2, ::-3],
        BASE[2],
        BASE[2, 3],
        np.broadcast_to(BASE[1], (4, 10)),
        BASE[:0],
        BASE[::-1, 1:8:3].astype(ml_dtypes.float8_e5m2).T,
    ],
)
def test_a_window_shows_the_array(array: np.ndarray) -> None:
    window = tile.view_of(np.asarray(array))
    assert window.sizes == array.shape
    np.testing.assert_array_equal(window.array(), array)


def test_a_window_shares_the_memory_and_no_more_of_it_than_the_array_spans() -> None:
    base = BASE.copy()
    window = tile.view_of(base[4:1:-2, ::3])
    assert window.strides == (-20, 3)
    assert window.memory.size == 30
    window.write(np.ix_([1], [2]), np.asarray([[7.0]], np.float32))
    assert base[2, 6] == 7.0
    number = np.zeros((), np.float32)
    tile.view_of(number).write([], np.asarray(3.0, np.float32))
    assert number == 3.0


def test_strides_are_whole_elements() -> None:
    records = np.zeros(4, [("small", np.int8), ("large", np.int32)])
    with pytest.raises(Unmet, match="no multiples of its element size"):
        tile.view_of(records["large"])


@pytest.mark.parametrize(
    ("offset", "sizes", "strides", "problem"),
    [
        (0, (4,), (3,), r"elements 0\.\.9 in a memory of 9"),
        (1, (2, 2), (2, -3), r"elements -2\.\.3 in a memory"),
        (0, (2,), (1, 1), "one stride an axis"),
        (0, (-1,), (1,), "a size is negative"),
    ],
)
def test_a_window_beyond_its_memory_is_refused(
    offset: int, sizes: tuple[int, ...], strides: tuple[int, ...], problem: str
) -> None:
    with pytest.raises(Unmet, match=problem):
        tile.Window(np.zeros(9), offset, sizes, strides)


@pytest.mark.parametrize("memory", [np.zeros(9)[::-1], np.zeros((3, 3))])
def test_memory_with_strides_of_its_own_is_refused(memory: np.ndarray) -> None:
    with pytest.raises(Unmet, match="flat and contiguous"):
        tile.Window(memory, 0, (4,), (2,))


def test_a_window_of_no_elements_may_lie_anywhere() -> None:
    window = tile.Window(np.zeros(0), 5, (3, 0), (7, 1))
    padding = np.asarray(4.0)
    assert window.read(np.ix_([0, 2], [0]), (2, 1), padding).tolist() == [[4.0], [4.0]]


BLOCKS = [
    (9, (4, 3), (-3, 1)),
    (0, (3, 4), (10, 2)),
    (0, (4, 3), (0, 5)),  # rows that are one
    (0, (3, 3), (2, 3)),  # two places have one address
    (5, (3, 0), (7, 1)),
    (2, (), ()),
]


@pytest.mark.parametrize(("offset", "sizes", "strides"), BLOCKS)
@pytest.mark.parametrize("shape", [(2, 2), (7, 1), (1, 9), (0, 3)])
def test_a_block_is_what_its_elements_are_one_by_one(
    offset: int, sizes: tuple[int, ...], strides: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    rank = len(sizes)
    shape = shape[:rank]
    values = np.arange(100, 100 + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    padding = np.asarray(-1, np.float32)
    begins = [-(2**63), -9, -2, -1, 0, 1, 2, 3, 4, 2**63 - 9]
    for begin in product(np.asarray(begins), repeat=rank):
        memory, blocks = BASE.copy().reshape(-1), BASE.copy().reshape(-1)
        one, other = [tile.Window(each, offset, sizes, strides) for each in (memory, blocks)]
        places = block_places(begin, shape)
        expected = one.read(places, shape, padding)
        np.testing.assert_array_equal(one.read_block(begin, shape, padding), expected)
        one.write(places, values)
        other.write_block(begin, values)
        np.testing.assert_array_equal(blocks, memory)


def test_poison_shows_what_was_overwritten() -> None:
    window = tile.poisoned(BASE, (-31, 3))
    assert np.isnan(window.memory).sum() == window.memory.size - BASE.size
    assert tile.is_intact(window)
    window.write(np.ix_([0, 5], [0, 9]), np.ones((2, 2), np.float32))
    assert tile.is_intact(window)
    window.memory[window.offset + 1] = 0.0
    assert not tile.is_intact(window)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64])
def test_poison_of_other_dtypes(dtype: type) -> None:
    window = tile.poisoned(np.zeros(3, dtype), (2,))
    assert window.memory[0] == np.asarray(-1).astype(dtype)
    assert tile.is_intact(window)
    window.memory[0] = 0
    assert not tile.is_intact(window)
