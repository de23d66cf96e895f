"""Functions of numpy arrays in the middle of what is computed, on both devices."""

import gc
import weakref
from threading import Thread
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import brimstone as bs
from brimstone.runtime.steps import STATISTICS
from kit.both_devices import on_both_devices

device = on_both_devices()
Array = np.ndarray[Any, Any]


def doubled(x: Array) -> Array:
    return x * 2


def parts(x: Array) -> tuple[Array, Any]:
    return x[::-1], x.sum(dtype=x.dtype)


def line() -> bs.Tensor:
    return bs.arange(5.0)


# What it computes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("around", [lambda f: f, bs.jit], ids=["recorded", "compiled"])
def test_a_call_among_others(around: Any) -> None:
    def function(x: bs.Tensor) -> Any:
        y = bs.host_call(doubled, x, x + 1)
        return bs.exp(-y), (y - x).sum()

    x = np.arange(5, dtype=np.float32)
    first, second = around(function)(bs.asarray(x))
    np.testing.assert_allclose(first.numpy(), np.exp(-(x + 1) * 2), rtol=1e-6)
    assert second.item() == ((x + 1) * 2 - x).sum()


@pytest.mark.parametrize("around", [lambda f: f, bs.jit], ids=["recorded", "compiled"])
def test_results_in_trees(around: Any) -> None:
    like = {"all": bs.ShapeDtype(5, "float32"), "more": [bs.ShapeDtype((), bs.int64)]}

    def counted(x: Array) -> Any:
        return {"all": x, "more": [np.int64(x.size)]}

    found = around(lambda x: bs.host_call(counted, like, x))(line())
    assert found["all"].numpy().tolist() == [0, 1, 2, 3, 4]
    assert (found["more"][0].item(), found["more"][0].dtype) == (5, bs.int64)
    reverse, total = bs.host_call(parts, (line(), np.zeros((), np.float32)), line())
    assert (reverse.numpy().tolist(), total.item()) == ([4, 3, 2, 1, 0], 10)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int64", "float16", "bfloat16", "float8_e4m3", "complex64"]
)
def test_dtypes(dtype: str) -> None:
    seen: list[np.dtype[Any]] = []

    def turned(x: Array) -> Array:
        seen.append(x.dtype)
        return x[::-1]

    x = bs.asarray([1, 0, 1, 1]).astype(dtype)
    found = bs.host_call(turned, x, x)
    assert found.dtype == dtype
    assert found.astype("complex64").numpy().tolist() == [1, 1, 0, 1]
    assert seen[0] == bs.asarray(0).astype(dtype).numpy().dtype
    if dtype == "bfloat16":
        assert seen[0] == np.dtype(ml_dtypes.bfloat16)


def test_complex_numbers_among_real_ones() -> None:
    def function(x: bs.Tensor) -> bs.Tensor:
        z = bs.host_call(lambda x: x + 1j, bs.ShapeDtype(x.shape, "complex64"), x * 2)
        return bs.abs(z * z)

    x = np.arange(5.0, dtype=np.float32)
    expected = np.abs((2 * x + 1j) ** 2)
    np.testing.assert_allclose(bs.jit(function)(bs.asarray(x)).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(0,), (3, 0), ()])
def test_empty_arrays_and_numbers(shape: tuple[int, ...]) -> None:
    x = bs.ones(shape)
    found = bs.jit(lambda x: bs.host_call(doubled, x, x) + 1)(x)
    assert found.shape == shape
    assert (found.numpy() == 3).all()


def test_no_tensors_and_python_numbers() -> None:
    made = bs.host_call(lambda: np.arange(3), bs.ShapeDtype((3,), "int64"))
    assert (made + 1).numpy().tolist() == [1, 2, 3]
    assert bs.host_call(lambda x: x + x, np.float32(0), 2.5).item() == 5


def test_one_tensor_twice_and_numbers_that_are_known() -> None:
    def function(x: bs.Tensor) -> bs.Tensor:
        return bs.host_call(lambda a, b, c: a - 2 * b + c, x, x, x, bs.ones(5)) * 2

    assert bs.jit(function)(line()).numpy().tolist() == [2, 0, -2, -4, -6]


def test_arrays_are_read_only_and_row_major() -> None:
    def looked_at(x: Array) -> Array:
        assert not x.flags.writeable
        assert x.flags.c_contiguous
        return x

    x = bs.asarray(np.arange(6.0).reshape(2, 3))
    found = bs.host_call(looked_at, bs.ShapeDtype((3, 2), "float64"), x.T)
    assert (found.numpy() == x.numpy().T).all()


def test_what_a_function_returns_stays_its_own() -> None:
    own = np.zeros(3, np.float32)

    def counted() -> Array:
        own[...] += 1
        return own

    first = bs.host_call(counted, own).sync()
    second = bs.host_call(counted, own).sync()
    assert (first.numpy().tolist(), second.numpy().tolist()) == ([1, 1, 1], [2, 2, 2])
    assert own.flags.writeable


def test_what_nobody_reads_is_not_called() -> None:
    calls: list[int] = []

    def noted(x: Array) -> Array:
        calls.append(1)
        return x

    def function(x: bs.Tensor) -> bs.Tensor:
        bs.host_call(noted, x, x)
        return x + 1

    bs.jit(function)(line()).sync()
    assert calls == []


def test_equal_calls_are_two() -> None:
    calls = iter(range(9))

    def counted(x: Array) -> Array:
        return x + np.float32(next(calls))

    x = line()
    found = bs.jit(lambda x: bs.host_call(counted, x, x) + bs.host_call(counted, x, x))(x)
    assert found.numpy().tolist() == [1, 3, 5, 7, 9]


# Around it ----------------------------------------------------------------------------------------


def test_loops_and_branches() -> None:
    def body(carry: bs.Tensor, row: bs.Tensor) -> Any:
        carry = bs.host_call(np.add, carry, carry, row)
        return carry, bs.host_call(doubled, row, carry)

    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    last, all_ = bs.jit(lambda rows: bs.scan(body, bs.zeros(2), rows))(bs.asarray(rows))
    assert last.numpy().tolist() == rows.sum(0).tolist()
    assert (all_.numpy() == rows.cumsum(0) * 2).all()

    calls: list[int] = []

    def noted(x: Array) -> Array:
        calls.append(1)
        return x + 1

    @bs.jit
    def chosen(wanted: bs.Tensor, x: bs.Tensor) -> bs.Tensor:
        return bs.cond(wanted, lambda x: bs.host_call(noted, x, x), lambda x: x, x)

    assert chosen(bs.asarray(False), line()).sum().item() == 10
    assert calls == []
    assert chosen(bs.asarray(True), line()).sum().item() == 15
    assert calls == [1]

    def grow(x: bs.Tensor) -> bs.Tensor:
        return bs.host_call(doubled, x, x)

    grown = bs.while_loop(lambda x: x.sum() < 100, grow, bs.ones(3))
    assert grown.numpy().tolist() == [64, 64, 64]


def test_a_new_size_compiles_nothing() -> None:
    @bs.jit
    def function(x: bs.Tensor) -> Any:
        reverse, total = bs.host_call(parts, (x, bs.ShapeDtype((), x.dtype)), x * 2)
        return (reverse + x) * total

    function(bs.ones(5)).sync()
    before = STATISTICS.compiled
    for size in (6, 17, 300):
        assert function(bs.ones(size)).sum().item() == 6 * size * size
        (bs.host_call(doubled, bs.ones(size), bs.ones(size)) + 1).sync()
    assert STATISTICS.compiled <= before + 2  # the sum, and what is recorded


def test_open_sizes() -> None:
    @bs.jit(dynamic={"x": {0: "n"}})
    def function(x: bs.Tensor) -> bs.Tensor:
        return bs.host_call(doubled, bs.ShapeDtype(x.shape, x.dtype), x) + 1

    for size in (2, 7):
        assert function(bs.ones(size)).numpy().tolist() == [3] * size


def test_lambdas_of_one_line_are_one_function() -> None:
    def step(x: bs.Tensor) -> bs.Tensor:
        return bs.host_call(lambda a: a * 3, x, x)

    step(line()).sync()
    before = STATISTICS.compiled
    for _ in range(3):
        assert step(line()).sum().item() == 30
    assert STATISTICS.compiled <= before + 1


def test_closures_see_their_own_variables() -> None:
    def scaled(by: int) -> bs.Tensor:
        return bs.host_call(lambda a: a * np.float32(by), line(), line())

    assert [scaled(by).sum().item() for by in (1, 2, 3)] == [10, 20, 30]


def test_a_function_lives_as_long_as_what_calls_it() -> None:
    class Data:
        """What a function holds."""

        def own(self, x: Array) -> Array:
            return x + 1

    data = Data()
    alive = weakref.ref(data)
    pending = bs.host_call(data.own, line(), line())
    del data
    gc.collect()
    assert pending.numpy().tolist() == [1, 2, 3, 4, 5]
    unread = Data()
    dead = weakref.ref(unread)
    pending = bs.host_call(unread.own, line(), line())
    del unread, pending
    gc.collect()
    assert alive() is None  # though there is a compiled step
    assert dead() is None


def test_vmap_calls_once_for_each_row() -> None:
    shapes: list[tuple[int, ...]] = []

    def noted(x: Array, y: Array) -> Array:
        shapes.append(x.shape)
        return x + y

    rows, one = bs.asarray(np.arange(6.0).reshape(3, 2)), bs.ones(2, dtype="float64")
    found = bs.vmap(lambda row: bs.host_call(noted, row, row, one))(rows)
    assert (found.numpy() == rows.numpy() + 1).all()
    assert shapes == [(2,)] * 3


def test_vmap_calls_for_no_row_that_takes_another_branch() -> None:
    def positive(x: Array) -> Array:
        assert x > 0
        return x * 2

    def chosen(x: bs.Tensor) -> bs.Tensor:
        return bs.cond(x > 0, lambda x: bs.host_call(positive, x, x), lambda x: x, x)

    assert bs.vmap(chosen)(bs.arange(-2.0, 3.0)).numpy().tolist() == [-2, -1, 0, 2, 4]


# Derivatives --------------------------------------------------------------------------------------


def test_a_gradient_is_refused_with_advice() -> None:
    with pytest.raises(bs.DifferentiationError, match=r"(?s)host_call.*bs\.custom_vjp") as caught:
        bs.grad(lambda x: bs.host_call(doubled, x, x).sum())(line())
    assert "test_host_call.py" in str(caught.value)
    x = bs.tensor([1.0, 2.0], requires_grad=True)
    pending = bs.host_call(doubled, x, x)
    beside = x + 1
    assert beside.numpy().tolist() == [2, 3]
    with pytest.raises(bs.DifferentiationError, match=r"bs\.custom_vjp"):
        pending.numpy()
    whole = bs.host_call(lambda x: x.astype(np.int64), bs.ShapeDtype(2, "int64"), x)
    assert whole.numpy().tolist() == [1, 2]


@bs.custom_vjp
def sine(x: bs.Tensor) -> bs.Tensor:
    return bs.host_call(np.sin, x, x)


sine.define(
    lambda x: (bs.host_call(np.sin, x, x), x),
    lambda x, cotangent: (bs.host_call(np.cos, x, x) * cotangent,),
)


def test_what_is_run_again_is_called_again() -> None:
    function = bs.checkpoint(lambda x: bs.exp(sine(x)).sum())
    x = np.linspace(0, 1, 5)
    found = bs.grad(function)(bs.asarray(x))
    np.testing.assert_allclose(found.numpy(), np.cos(x) * np.exp(np.sin(x)))


@pytest.mark.parametrize("around", [lambda f: f, bs.jit], ids=["recorded", "compiled"])
def test_a_gradient_of_its_own(around: Any) -> None:
    x = np.linspace(0, 1, 5)
    found = around(bs.grad(lambda x: (sine(x) * 2).sum()))(bs.asarray(x))
    np.testing.assert_allclose(found.numpy(), 2 * np.cos(x))
    weight = bs.tensor(x, requires_grad=True)
    gradients = sine(weight).sum().backward()
    np.testing.assert_allclose(gradients[weight].numpy(), np.cos(x))


# Brimstone inside ---------------------------------------------------------------------------------


def nested(x: Array) -> Array:
    tensor = bs.asarray(x)
    inner = bs.jit(lambda x: bs.host_call(doubled, x, x) + bs.rand(5) * 0)
    return (inner(tensor) + tensor).numpy()


def test_a_function_may_compute_with_tensors() -> None:
    x = line()
    assert bs.host_call(nested, x, x + 1).sum().item() == 45
    assert bs.jit(lambda x: bs.host_call(nested, x, x) * 2)(x).sum().item() == 60


def test_a_function_that_is_called_while_another_one_is_traced() -> None:
    pending = bs.host_call(nested, line(), line())

    @bs.jit
    def function(x: bs.Tensor) -> bs.Tensor:
        return x + float(pending.sum().item())

    assert function(bs.zeros(1)).item() == 30


def test_threads() -> None:
    x = line()
    function = bs.jit(lambda x: bs.host_call(nested, x, x) * 2)
    found: dict[int, float] = {}

    def work(number: int) -> None:
        for _ in range(5):
            found[number] = function(x + number).sum().item()

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: 60 + 30 * number for number in range(4)}


def test_explain_says_who_does_it(device: str) -> None:
    said = str(bs.explain(lambda x: bs.host_call(doubled, x, x) + 1)(line()))
    assert "host_call" in said
    assert ("done by the host" in said) == (device == "cpu")
    assert ("the host calls a function of Python" in said) == (device == "cpu")
