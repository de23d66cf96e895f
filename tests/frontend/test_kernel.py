"""`bs.kernel`: kernels written by hand, on the interpreter and as machine code."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import tiles
from brimstone.ir import parse, verify
from brimstone.runtime.steps import STATISTICS
from kit.both_devices import close, floats, on_both_devices

SIZES = (0, 1, 7, 16, 17, 40)
TILE = 16


RNG = np.random.default_rng(5)
device = on_both_devices()


@bs.kernel
def axpy(factor, x, y, *, tile=TILE):
    size = tiles.equal(x.shape[0], y.shape[0])
    out = tiles.result(x.shape, x.dtype)
    at = tiles.grid(tiles.ceil_div(size, tile)) * tile
    out.store(at, factor * x.load(at, tile) + y.load(at, tile))


@bs.kernel
def matmul(a, b, *, m=4, n=16, k=8):
    (count, inner), columns = a.shape, b.shape[1]
    tiles.equal(inner, b.shape[0])
    out = tiles.result((count, columns), a.dtype)
    i, j = tiles.grid(tiles.ceil_div(count, m), tiles.ceil_div(columns, n))

    def add(at, total):
        return tiles.dot(a.load((i * m, at), (m, k)), b.load((at, j * n), (k, n)), total)

    total = tiles.fori_loop(0, inner, add, tiles.zeros((m, n), "float32"), step=k, label="k")
    out.store((i * m, j * n), total.astype(a.dtype))


@bs.kernel
def histogram(x, *, bins):
    out = tiles.result(bins, "int32", fill=0)
    at = tiles.grid(tiles.ceil_div(x.shape[0], TILE)) * TILE
    out.scatter(x.load(at, TILE, padding=-1), 1, "add")


@bs.kernel
def extremes(x):
    """Two results of rank 0, by a loop that carries a dict."""
    size = x.shape[0]
    least, most = tiles.result((), x.dtype), tiles.result((), x.dtype)
    tiles.grid(1)

    def body(at, found):
        part = x.load(at, TILE)
        inside = at + tiles.arange(TILE) < size
        return {
            "least": tiles.minimum(found["least"], tiles.where(inside, part, np.inf)),
            "most": tiles.maximum(found["most"], tiles.where(inside, part, -np.inf)),
        }

    start = {
        "least": tiles.full(TILE, float("inf"), x.dtype),
        "most": tiles.full(TILE, float("-inf"), x.dtype),
    }
    found = tiles.fori_loop(0, size, body, start, step=TILE)
    least.store((), tiles.min(found["least"]))
    most.store((), tiles.max(found["most"]))


@bs.kernel
def softmax(x):
    """Three passes over a row, the second of which keeps what the third reads."""
    count, columns = x.shape
    out = tiles.result(x.shape, x.dtype)
    row = tiles.grid(count)
    kept = tiles.scratch(columns, x.dtype)

    def part(at):
        return x.load((row, at), (1, TILE), padding=float("-inf")).reshape(TILE)

    def add(at, total):
        exponentials = tiles.exp(part(at) - top)
        kept.store(at, exponentials)
        return total + exponentials

    def scale(at):
        out.store((row, at), (kept.load(at, TILE) / total)[None, :])

    start = tiles.full(TILE, float("-inf"), x.dtype)
    found = tiles.fori_loop(
        0, columns, lambda at, most: tiles.maximum(most, part(at)), start, step=TILE
    )
    top = tiles.max(found)
    zeros = tiles.zeros(TILE, x.dtype)
    total = tiles.sum(tiles.fori_loop(0, columns, add, zeros, step=TILE))
    tiles.fori_loop(0, columns, scale, step=TILE)


@pytest.mark.parametrize("size", SIZES)
def test_any_size(size: int) -> None:
    x, y = floats(size), floats(size)
    close(axpy(2.5, bs.asarray(x), bs.asarray(y)), np.float32(2.5) * x + y)


@pytest.mark.parametrize("tile", [1, 3, 64])
def test_settings_make_other_kernels(tile: int) -> None:
    x, y = floats(20), floats(20)
    close(axpy(-1.5, bs.asarray(x), bs.asarray(y), tile=tile), y - np.float32(1.5) * x)


def test_another_size_compiles_nothing() -> None:
    axpy(2.5, bs.asarray(floats(20)), bs.asarray(floats(20))).numpy()
    before = STATISTICS.compiled
    shorter = floats(13)
    close(axpy(3.5, bs.asarray(shorter), bs.asarray(shorter)), np.float32(4.5) * shorter)
    assert STATISTICS.compiled == before


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (3, 5, 7), (4, 8, 16), (9, 17, 33)])
def test_matmul(m: int, k: int, n: int) -> None:
    a, b = floats(m, k), floats(k, n)
    close(matmul(bs.asarray(a), bs.asarray(b)), a @ b, 1e-5)


@pytest.mark.parametrize("size", SIZES)
def test_results_begin_with_what_they_are_filled_with(size: int) -> None:
    x = RNG.integers(0, 5, size)
    np.testing.assert_array_equal(
        histogram(bs.asarray(x), bins=5).numpy(), np.bincount(x, minlength=5)
    )


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [("float32", float("-inf")), ("bfloat16", 1.5), ("uint8", 255), ("bool", True), ("int64", -3)],
)
def test_fills(dtype: str, fill: Any) -> None:
    @bs.kernel
    def filled(x):
        """The second result only begins."""
        first = tiles.result(2, x.dtype)
        tiles.result((x.shape[0], 3), dtype, fill=fill)
        first.store(tiles.grid(1), x.load(0, 2))

    for size in (0, 1, 30):
        first, second = filled(bs.ones(size + 2))
        assert first.numpy().tolist() == [1, 1]
        expected = bs.full((size + 2, 3), fill, dtype=dtype)
        assert second.dtype == dtype
        assert bool((second == expected).all())


@pytest.mark.parametrize("size", SIZES[1:])
def test_two_results_and_a_carry_that_is_a_dict(size: int) -> None:
    x = floats(size)
    least, most = extremes(bs.asarray(x))
    assert (least.item(), most.item()) == (x.min(), x.max())


@pytest.mark.parametrize("shape", [(1, 1), (3, 15), (2, 33), (0, 4)])
def test_scratch(shape: tuple[int, int]) -> None:
    x = floats(*shape)
    powers = np.exp(x)
    close(softmax(bs.asarray(x)), powers / powers.sum(1, keepdims=True))


@bs.kernel
def branching(x, *, bound):
    out = tiles.result(x.shape, x.dtype)
    at = tiles.grid(x.shape[0])
    number = tiles.sum(x.load(at, 1))
    chosen = tiles.cond(number > bound, lambda y: y * 2, lambda y: -y, number)
    out.store(at, chosen)


def test_branches_run_for_each_program() -> None:
    x = floats(9)
    close(branching(bs.asarray(x), bound=0.5), np.where(x > 0.5, 2 * x, -x))


@bs.kernel
def taken(x, places):
    out = tiles.result(places.shape, x.dtype)
    at = tiles.grid(tiles.ceil_div(places.shape[0], TILE)) * TILE
    out.store(at, x.gather(places.load(at, TILE), padding=-1))


def test_gather_pads_what_lies_outside() -> None:
    x, places = floats(6), np.array([5, 0, 6, -1, 2])
    found = taken(bs.asarray(x), bs.asarray(places))
    close(found, [x[5], x[0], -1, -1, x[2]])


@bs.kernel
def totals(x):
    out = tiles.result(4, x.dtype, fill=1)
    at = tiles.grid(tiles.ceil_div(x.shape[0], 4)) * 4
    out.combine(0, x.load(at, 4), "add")


def test_programs_take_turns() -> None:
    x = np.arange(10, dtype=np.float32)
    close(totals(bs.asarray(x)), [1 + 0 + 4 + 8, 1 + 1 + 5 + 9, 1 + 2 + 6, 1 + 3 + 7])


def axpy_gradient(inputs: Any, output: Any, cotangent: Any, tile: int) -> Any:
    factor, x, _ = inputs
    assert tile in (8, TILE)
    return (cotangent * x).sum(), axpy(factor, cotangent, bs.zeros_like(x)), cotangent


differentiable = bs.kernel(gradient=axpy_gradient)(axpy.function)


def test_gradients() -> None:
    x, y = bs.asarray(floats(9)), bs.asarray(floats(9))

    def loss(factor: Any, x: Any, y: Any) -> Any:
        return (differentiable(factor, x, y, tile=8) ** 2).sum()

    def plain(factor: Any, x: Any, y: Any) -> Any:
        return ((factor * x + y) ** 2).sum()

    given = (bs.asarray(1.5), x, y)
    for place in range(3):
        expected = bs.grad(plain, argnums=place)(*given)
        close(bs.grad(loss, argnums=place)(*given), expected.numpy(), 1e-5)
    close(bs.jit(bs.grad(loss, argnums=1))(*given), bs.grad(plain, argnums=1)(*given).numpy(), 1e-5)


def test_no_derivative_says_what_to_do() -> None:
    with pytest.raises(bs.DifferentiationError, match=r"bs.kernel\(gradient="):
        bs.grad(lambda x: axpy(1.0, x, x).sum())(bs.asarray(floats(3)))


def test_batches_and_traces() -> None:
    x, y = floats(3, 20), floats(20)
    batched = bs.vmap(lambda row: axpy(2.0, row, bs.asarray(y)))
    close(batched(bs.asarray(x)), 2 * x + y)
    inside = bs.jit(lambda x: axpy(2.0, x, bs.exp(x)) + 1)
    close(inside(bs.asarray(y)), 2 * y + np.exp(y) + 1)
    total, _ = bs.scan(lambda c, row: (axpy(1.0, row, c), None), bs.zeros(20), bs.asarray(x))
    close(total, x.sum(0))


def test_derivatives_of_batches() -> None:
    x = bs.asarray(floats(3, 9))
    slopes = bs.vmap(bs.grad(lambda row: differentiable(2.0, row, row, tile=8).sum()))(x)
    close(slopes, np.full((3, 9), 3, np.float32))
    whole = bs.grad(lambda x: bs.vmap(lambda row: differentiable(2.0, row, row))(x).sum())(x)
    close(whole, np.full((3, 9), 3, np.float32))


def test_open_sizes() -> None:
    function = bs.jit(lambda x: axpy(2.0, x, x).sum(), dynamic={"x": {0: "n"}})
    for size in (5, 33):
        x = floats(size)
        close(function(bs.asarray(x)), 3 * x.sum(), 1e-5)


def test_equal_arguments_may_be_one_tensor() -> None:
    x = bs.asarray(floats(5))
    close(axpy(x[0], x, x), x.numpy() * (x.numpy()[0] + 1))


def test_the_program_is_text() -> None:
    text = matmul.program(bs.ones((2, 3)), bs.ones((3, 4)))
    module = parse(text)
    verify(module)
    assert "grid: [ceildiv(a_0, 4), ceildiv(b_1, 16)]" in text
    assert 'label = "k"' in text


def test_errors_while_running_name_the_line_of_the_kernel() -> None:
    @bs.kernel
    def hasty(x):
        out = tiles.result(x.shape, x.dtype)
        at = tiles.grid(1)
        tiles.assume(tiles.sum(x.load(0, 1)) > 1)
        out.store(at, x.load(at, 1))

    ones = bs.ones(1, device="reference")  # machine code takes what is assumed for true
    with pytest.raises(bs.OperationFailed, match=r"test_kernel.py:\d+: .*assumed"):
        hasty(ones).numpy()
