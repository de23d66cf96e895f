"""Donated arguments: results are made in their memory, unless somebody else may still read it."""

from collections.abc import Iterator
from contextlib import suppress
from threading import Thread
from time import sleep
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.bundle import donate
from brimstone.frontend.lazy import FILLING, bundle_of
from brimstone.ir.locations import UNKNOWN
from kit.failures import Failures

SHAPE = (300, 200)
BYTES = 4 * 300 * 200
Tree = dict[str, Any]


@pytest.fixture(autouse=True)
def on_the_processor() -> Iterator[None]:
    with bs.device("cpu"):
        yield


def numbers(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape or SHAPE).astype(np.float32)


def tree(count: int = 6) -> Tree:
    return {f"w{place}": bs.tensor(numbers(place)) for place in range(count)}


def less(parameters: Tree, gradients: Tree) -> Tree:
    return {name: parameters[name] - 0.5 * gradients[name] for name in parameters}


def far_less(parameters: Tree, gradients: Tree) -> Tree:
    return {name: parameters[name] - gradients[name] * gradients[name] for name in parameters}


@pytest.mark.parametrize("lazy", [False, True])
def test_steps_work_in_place(lazy: bool) -> None:
    step, gradients = bs.jit(less, donate=0), tree()
    parameters = step(tree(), gradients)
    used = []
    for _ in range(20):
        if not lazy:
            _ = parameters["w0"]
        parameters = step(parameters, gradients)
        used.append(bs.memory_use().used)
    assert max(used) - min(used) < BYTES / 2
    bs.sync()
    most = bs.memory_use().used
    parameters = step(parameters, gradients)
    assert bs.memory_use().used - most < BYTES / 2
    expected = [numbers(place) for place in range(6)]
    for _ in range(22):
        expected = [each - np.float32(0.5) * numbers(place) for place, each in enumerate(expected)]
    for place, each in enumerate(expected):
        np.testing.assert_array_equal(parameters[f"w{place}"].numpy(), each)


def test_a_new_size_takes_the_tree_over_at_once() -> None:
    """Also when the function sees arguments of that kind for the first time."""

    def moved(parameters: Tree, rows: Any) -> Tree:
        return {name: each + bs.sum(rows) for name, each in parameters.items()}

    def places(parameters: Tree) -> list[int]:
        bundle = bundle_of(parameters)
        assert bundle is not None
        return bs.device("cpu").target.memories(bundle.buffers)

    step = bs.jit(moved, donate=0)
    parameters = step(tree(), bs.ones(2))
    before = places(parameters)
    for rows in (3, 4, 7):
        parameters = step(parameters, bs.ones(rows))
        assert places(parameters) == before
    np.testing.assert_allclose(parameters["w5"].numpy(), numbers(5) + 16, rtol=1e-5)


def test_what_numpy_has_stays() -> None:
    step, gradients = bs.jit(less, donate=0), tree(1)
    parameters = step(tree(1), gradients)
    seen = parameters["w0"].numpy()
    before = seen.copy()
    parameters = step(parameters, gradients)
    parameters = step(parameters, gradients)
    np.testing.assert_array_equal(seen, before)
    np.testing.assert_array_equal(parameters["w0"].numpy(), before - numbers(0))


def test_what_is_given_twice_stays_until_it_is_read() -> None:
    swap = bs.jit(lambda a, b: (a + bs.flip(b, axis=0), b[0, 0]), donate=0)
    x = bs.jit(lambda x: x * 1)(bs.tensor(numbers(3)))
    y, corner = swap(x, x)
    np.testing.assert_array_equal(y.numpy(), numbers(3) + numbers(3)[::-1])
    assert float(corner) == numbers(3)[0, 0]
    with pytest.raises(bs.DeadTensorError, match="donated"):
        x.numpy()


def test_both_arguments_may_be_donated() -> None:
    step = bs.jit(lambda a, b: (a + b, a - b), donate=(0, 1))
    a, b = (bs.jit(lambda x: x * 1)(bs.tensor(numbers(seed))) for seed in (1, 2))
    for _ in range(3):
        a, b = step(a, b)
    one, other = numbers(1), numbers(2)
    for _ in range(3):
        one, other = one + other, one - other
    np.testing.assert_array_equal(a.numpy(), one)
    np.testing.assert_array_equal(b.numpy(), other)


def test_what_another_function_has_taken_stays() -> None:
    step = bs.jit(lambda x: x + 1, donate=0)
    x = bs.jit(lambda x: x * 1)(bs.tensor(numbers(3)))
    reads = bs.jit(lambda y: x * y)
    np.testing.assert_array_equal(reads(2.0).numpy(), 2 * numbers(3))
    y = step(step(x))
    np.testing.assert_array_equal(reads(2.0).numpy(), 2 * numbers(3))
    np.testing.assert_array_equal(y.numpy(), numbers(3) + 1 + 1)


def test_what_is_recorded_already_stays() -> None:
    x = bs.jit(lambda x: x * 1)(bs.tensor(numbers(3)))
    y = x * 2  # computed when it is read, of the node that x was
    x.requires_grad_(False)
    z = bs.jit(lambda x: x + 1, donate=0)(x)
    np.testing.assert_array_equal(z.numpy(), numbers(3) + 1)
    np.testing.assert_array_equal(y.numpy(), numbers(3) * 2)


def test_who_waits_looks_at_nothing() -> None:
    step = bs.jit(lambda x: x + 1, donate=0)
    x = step(step(bs.tensor(numbers(3))))
    bs.sync(x)
    used = bs.memory_use().used
    for _ in range(3):
        x = step(x).sync()
        bs.sync({"x": x})
        assert bs.memory_use().used < used + BYTES / 2
    np.testing.assert_array_equal(x.numpy(), numbers(3) + 1 + 1 + 1 + 1 + 1)


def test_memory_that_another_array_has_is_not_read() -> None:
    """However one came to it, before it was donated."""
    step, twice = bs.jit(lambda x: x + 1, donate=0), bs.jit(lambda x: x * 2)
    x = step(step(bs.tensor(numbers(3))))
    twice(x)
    had = x.node.buffer
    step(x)
    assert had is not None
    with pytest.raises(RuntimeError, match="donated"):
        had.array()
    (entry,) = twice._entries.values()
    with pytest.raises(bs.DeadTensorError, match="donated"):
        entry.runner(None)([(had,)], bs.device("cpu"))


def test_an_interrupt_leaves_nothing_half_donated() -> None:
    """One that comes when the core has the memory, and Python not yet what is made of it."""
    step, gradients, failures = bs.jit(far_less, donate=0), tree(), Failures()
    with failures.watching():  # nobody else has compiled it
        parameters = step(step(tree(), gradients), gradients)
    failures.behind = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        step(parameters, gradients)
    for name in gradients:
        with pytest.raises(bs.DeadTensorError):
            parameters[name].numpy()


def test_a_thread_that_waits_for_a_value_has_it() -> None:
    step = bs.jit(lambda x: x + 100, donate=0)
    slow = bs.jit(lambda x: bs.fori_loop(0, 60, lambda _, x: bs.sin(x), x))
    zeros = bs.zeros((300_000,))
    step(step(slow(zeros)))
    for _ in range(5):
        x, found = slow(slow(zeros)), list[Any]()

        def read(x: Any = x, found: list[Any] = found) -> None:
            with suppress(bs.DeadTensorError):
                found.append(x.numpy())

        thread = Thread(target=read)
        thread.start()
        y = step(step(x))
        thread.join()
        assert y.numpy()[0] == 200
        assert not any(each.any() for each in found)


def test_an_argument_that_is_returned_stays() -> None:
    both = bs.jit(lambda x: (x, x + 1), donate=0)
    x = bs.jit(lambda x: x * 1)(bs.tensor(numbers(3)))
    same, more = both(x)
    np.testing.assert_array_equal(same.numpy(), numbers(3))
    np.testing.assert_array_equal(more.numpy(), numbers(3) + 1)


def test_weights_are_replaced_where_their_gradients_are_made() -> None:
    def loss(weights: Any, x: Any, y: Any) -> Any:
        return bs.mean((bs.tanh(x @ weights["a"]) @ weights["b"] - y) ** 2)

    def step(weights: Any, x: Any, y: Any) -> Any:
        value, slopes = bs.value_and_grad(loss)(weights, x, y)
        return value, bs.tree_map(lambda w, g: w - 0.1 * g, weights, slopes)

    def trained(function: Any) -> tuple[Any, Any]:
        weights = {"a": bs.tensor(numbers(1, 64, 100)), "b": bs.tensor(numbers(2, 100, 32))}
        x, y = bs.tensor(numbers(3, 200, 64)), bs.tensor(numbers(4, 200, 32))
        for _ in range(5):
            value, weights = function(weights, x, y)
        return float(value), [weights[name].numpy() for name in "ab"]

    plain, in_place = trained(bs.jit(step)), trained(bs.jit(step, donate="weights"))
    assert plain[0] == in_place[0]
    for one, other in zip(plain[1], in_place[1], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("count", [0, 1, 7])
def test_loops_and_branches(count: int) -> None:
    def step(x: Any, w: Any) -> Any:
        x = bs.fori_loop(0, count, lambda place, x: bs.sin(x) + w[place], x)
        last, rows = bs.scan(lambda carry, row: (carry + row, carry * row), x[0], x)
        y = bs.cond(last[0] > 0, lambda x, rows: x - rows, lambda x, rows: x + rows, x, rows)
        return bs.while_loop(lambda y: bs.max(y) > 1, lambda y: y * 0.5, y), last

    w = bs.tensor(numbers(1, 8, 200))
    plain, donating = bs.jit(step), bs.jit(step, donate=0)
    one, other = (bs.jit(lambda x: x * 1)(bs.tensor(numbers(3))) for _ in range(2))
    for _ in range(4):
        (one, last), (other, same) = plain(one, w), donating(other, w)
        assert last.numpy().tobytes() == same.numpy().tobytes()
    assert one.numpy().tobytes() == other.numpy().tobytes()


def shifted(x: Any) -> Any:
    """What numpy makes of an array."""
    return np.roll(x, 1, axis=0)


def test_steps_with_python_in_them() -> None:
    def step(x: Any) -> Any:
        return bs.host_call(shifted, bs.ShapeDtype(SHAPE, bs.float32), x) + x

    x = bs.jit(lambda x: x * 1)(bs.tensor(numbers(3)))
    seen, before = x, x.numpy().copy()
    y = bs.jit(step, donate=0)(x)
    np.testing.assert_array_equal(y.numpy(), np.roll(before, 1, axis=0) + before)
    assert seen is x


@pytest.mark.parametrize("dtype", ["complex64", "bfloat16", "int8", "bool"])
def test_dtypes(dtype: str) -> None:
    step = bs.jit(lambda x, y: bs.where(y > 0, x, bs.zeros_like(x)), donate=0)
    given = bs.jit(lambda x: x[:])(bs.tensor(10 * numbers(1)).astype(dtype))
    expected = np.where(numbers(2) > 0, given.numpy().copy(), np.zeros((), given.numpy().dtype))
    for _ in range(2):
        given = step(given, bs.tensor(numbers(2)))
    np.testing.assert_array_equal(given.numpy(), expected)


def test_other_threads_read_what_they_were_given() -> None:
    step, gradients = bs.jit(less, donate=0), tree(2)
    summed = bs.jit(lambda tree: sum(bs.sum(each) for each in tree.values()))

    def total(tree: Tree) -> float:
        with bs.device("cpu"):
            return float(summed(tree))

    parameters = step(tree(2), gradients)
    expected = [numbers(place) - np.float32(0.5) * numbers(place) for place in range(2)]
    found: list[float] = []
    wanted: list[float] = []
    for _ in range(30):
        given = {name: parameters[name] for name in parameters}
        thread = Thread(target=lambda given=given: found.append(total(given)))
        wanted.append(total({k: bs.tensor(e) for k, e in zip(given, expected, strict=True)}))
        thread.start()
        thread.join()
        parameters = step(given, gradients)
        expected = [e - np.float32(0.5) * numbers(place) for place, e in enumerate(expected)]
    assert found == wanted


def test_many_steps_under_way() -> None:
    """The memory of all is that of the first, however far this thread is ahead."""
    step = bs.jit(lambda x: bs.sin(x) + 1, donate=0)
    x = step(bs.zeros((1000, 1000)))
    bs.sync()
    used = bs.memory_use().used
    for _ in range(100):
        x = step(x)
        assert bs.memory_use().used < used + 1_000_000
    y = np.zeros((), np.float32)
    for _ in range(101):
        y = np.float32(bs.sin(bs.tensor(y)).numpy() + np.float32(1))
    assert (x.numpy() == y).all()


def test_explain_counts_donated_memory_once() -> None:
    given = (tree(), tree())
    assert "1.44 MB made" in str(bs.explain(less)(*given))
    assert "takes 2.88 MB: 2.88 MB given\n" in str(bs.jit(less, donate=0).explain(*given))


def test_what_is_given_away_while_another_thread_looks_into_it_is_dead() -> None:
    """Its leaves may have been made of what was there before; whoever reads one is told where."""
    parameters = bs.jit(lambda tree: {name: each + 1 for name, each in tree.items()})(tree())
    bundle, whole = bundle_of(parameters), list[bool]()
    assert bundle is not None
    with FILLING:
        children = bundle.children()  # as who looks into it does first
        thread = Thread(target=lambda: whole.append(donate(parameters, UNKNOWN)))
        thread.start()
        while bundle.buffers is not None:
            sleep(0.001)
        assert thread.is_alive()
        dict.update(parameters, zip(bundle.kind.structure.static, children, strict=True))
        parameters.bundle = None
    thread.join()
    assert whole == [False]  # so each leaf is given away on its own
