"""When recorded work runs, what is compiled for it, and what is kept of it."""

import gc
import re
import sys
import tracemalloc
from collections.abc import Iterator
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.runtime.steps import STATISTICS


def body(x: bs.Tensor) -> bs.Tensor:
    """137 ops."""
    for _ in range(45):
        x = bs.tanh(x * 1.5 + 0.25)
    return x + x * 2


def compiled() -> int:
    return STATISTICS.compiled


def test_nothing_runs_until_a_value_is_needed() -> None:
    x = bs.asarray(np.ones(3, np.float32))
    y = x + 1
    assert y.pending
    assert y.numpy().tolist() == [2, 2, 2]
    assert not y.pending


def test_what_is_held_is_computed_along() -> None:
    x = bs.asarray(np.arange(3.0))
    shared = x * 3
    first, second = shared + 1, shared + 2
    first.sync()
    assert not second.pending
    assert not shared.pending


def test_what_nobody_holds_is_not_computed() -> None:
    x = bs.asarray(np.arange(3.0))
    held = x + 1
    x * 3
    held.sync()
    assert held.numpy().tolist() == [1, 2, 3]


def test_a_loop_body_compiles_at_most_two_steps() -> None:
    x = bs.asarray(np.linspace(-1, 1, 70, dtype=np.float32))
    before = compiled()
    for _ in range(1000 // 25):
        x = body(x)
        x.sync()
    assert compiled() - before <= 2


def test_a_loop_that_is_never_read_compiles_at_most_two_steps() -> None:
    x = bs.asarray(np.linspace(-1, 1, 70, dtype=np.float32))
    before = compiled()
    for _ in range(20):
        x = body(x)
    x.sync()
    assert compiled() - before <= 2


GENERAL = {
    "mean": lambda n: bs.mean(_line(n)),
    "mean of rows": lambda n: bs.mean(_line(6 * n).reshape(6, n), axis=1),
    "scaled scores": lambda n: bs.softmax(_line(n) * (n**-0.5)),
    "causal mask": lambda n: bs.where(
        bs.arange(n)[:, None] >= bs.arange(n)[None, :], _line(n)[None, :], -np.inf
    ),
    "slice": lambda n: _line(n)[3 : n - 4] * 2,
    "concat": lambda n: bs.concat([_line(n), _line(n + 3)]),
    "matmul": lambda n: _line(6 * n).reshape(6, n) @ _line(n),
}


def _line(n: int) -> bs.Tensor:
    return bs.asarray(np.linspace(0, 1, n, dtype=np.float32))


@pytest.mark.parametrize("name", GENERAL)
def test_fifty_sizes_compile_one_step(name: str) -> None:
    program = GENERAL[name]
    program(60).sync()
    before = compiled()
    for n in range(61, 110):
        program(n).sync()
    assert compiled() == before


def test_another_fact_compiles_another_step() -> None:
    GENERAL["mean of rows"](40).sync()
    before = compiled()
    bs.mean(_line(6).reshape(6, 1), axis=1).sync()
    assert compiled() - before <= 1


def test_an_error_names_the_line_that_recorded_it() -> None:
    x = bs.asarray(np.arange(3.0))
    places = bs.asarray(np.array([1, 7]))
    picked = x[places]  # here
    here = re.search(r"test_laziness.py:(\d+)", str(picked.node.location))
    with pytest.raises(IndexError, match="7") as caught:
        (picked + 1).numpy()
    assert here is not None
    assert f"test_laziness.py:{here[1]}" in str(caught.value)


def test_an_error_of_a_step_compiled_elsewhere_names_its_own_line() -> None:
    x = bs.asarray(np.arange(3.0))
    x[bs.asarray(np.array([1, 2]))].sync()  # compiles the step
    picked = x[bs.asarray(np.array([1, 9]))]
    line = str(picked.node.location)
    with pytest.raises(IndexError) as caught:
        picked.numpy()
    assert line in str(caught.value)


def test_what_fails_does_not_take_others_along() -> None:
    x = bs.asarray(np.arange(3.0))
    broken = x[bs.asarray(np.array([5]))]
    sound = x + 1
    assert sound.numpy().tolist() == [1, 2, 3]
    with pytest.raises(IndexError):
        broken.numpy()


def parameters() -> list[bs.Tensor]:
    rng = np.random.default_rng(0)
    shapes = (4, 8), (8, 1)
    return [bs.tensor(rng.normal(size=s) * 0.3, bs.float64, requires_grad=True) for s in shapes]


def loss_of(one: bs.Tensor, two: bs.Tensor) -> bs.Tensor:
    x = bs.asarray(np.linspace(-1, 1, 24).reshape(6, 4))
    return ((bs.tanh(x @ one) @ two - 1.0) ** 2).mean()


def test_backward_agrees_with_grad() -> None:
    one, two = parameters()
    gradients = loss_of(one, two).backward()
    expected = bs.grad(loss_of, argnums=(0, 1))(one, two)
    for parameter, gradient in zip((one, two), expected, strict=True):
        np.testing.assert_allclose(gradients[parameter].numpy(), gradient.numpy(), rtol=1e-12)


def test_printing_before_backward_changes_nothing_and_runs_nothing_twice() -> None:
    one, two = parameters()
    quiet = loss_of(one, two).backward()
    loss = loss_of(one, two)
    assert "requires_grad" in str(loss)
    segment, place = loss.node.history
    assert segment.residuals is not None  # what the backward needs is kept, and not computed again
    assert place == 0
    gradients = loss.backward()
    for parameter in (one, two):
        np.testing.assert_allclose(gradients[parameter].numpy(), quiet[parameter].numpy())


def test_backward_through_several_printed_pieces() -> None:
    one, two = parameters()
    hidden = bs.tanh(one)
    str(hidden)
    loss = (hidden @ two).sum() + hidden.sum()
    str(loss)
    expected = bs.grad(lambda a, b: (bs.tanh(a) @ b).sum() + bs.tanh(a).sum(), (0, 1))(one, two)
    gradients = loss.backward()
    np.testing.assert_allclose(gradients[one].numpy(), expected[0].numpy(), rtol=1e-12)
    np.testing.assert_allclose(gradients[two].numpy(), expected[1].numpy(), rtol=1e-12)


def test_backward_twice() -> None:
    one, two = parameters()
    loss = loss_of(one, two)
    first, second = loss.backward(), loss.backward()
    np.testing.assert_array_equal(first[one].numpy(), second[one].numpy())


def test_backward_with_a_gradient() -> None:
    one, _ = parameters()
    doubled = (one * 2).backward(bs.ones_like(one) * 3)
    assert (doubled[one].numpy() == 6).all()


def test_eager_training_holds_constant_memory() -> None:
    one, two = parameters()

    def steps(count: int) -> None:
        nonlocal one, two
        for _ in range(count):
            gradients = loss_of(one, two).backward()
            one = (one - 0.1 * gradients[one]).requires_grad_()
            two = (two - 0.1 * gradients[two]).requires_grad_()

    def growth() -> int:
        before, _ = tracemalloc.get_traced_memory()
        steps(60)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before

    steps(5)
    gc.collect()
    tracemalloc.start()
    try:
        steps(10)
        gc.collect()
        grown = [growth() for _ in range(3)]
    finally:
        tracemalloc.stop()
    # What is made beside the steps, for other sizes or of other tests, is made once.
    assert min(grown) < 50_000, grown


def test_no_history_without_a_parameter() -> None:
    x = bs.asarray(np.ones(3))
    with pytest.raises(bs.DifferentiationError, match="no history"):
        (x + 1).sum().backward()


def test_detached_values_have_no_gradient() -> None:
    one, _ = parameters()
    loss = (one * bs.stop_gradient(one)).sum()
    np.testing.assert_allclose(loss.backward()[one].numpy(), one.numpy())


def test_many_threads_record_and_differentiate_at_once() -> None:
    one, two = parameters()
    expected = loss_of(one, two).backward()[one].numpy()
    found: list[np.ndarray] = []
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for _ in range(5):
                shared = one * float(seed) / float(seed)
                gradients = loss_of(shared, two).backward()
                found.append(gradients[one].numpy())
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=work, args=(seed,)) for seed in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(found) == 40
    for each in found:
        np.testing.assert_allclose(each, expected, rtol=1e-9)


def test_a_tensor_recorded_by_one_thread_is_read_by_another() -> None:
    x = bs.asarray(np.arange(4.0))
    pending = x * 2 + 1
    read: list[list[float]] = []
    thread = Thread(target=lambda: read.append(pending.numpy().tolist()))
    thread.start()
    thread.join()
    assert read == [[1, 3, 5, 7]]


def test_sync_computes_what_it_is_given() -> None:
    x = bs.asarray(np.ones(3))
    one, tree = x + 1, {"two": [x + 2], "label": "three"}
    bs.sync(one, tree)
    assert not one.pending
    assert not tree["two"][0].pending
    pending = x + 4
    bs.sync("nothing", 5)
    assert pending.pending
    bs.sync()
    assert not pending.pending


@pytest.mark.parametrize(
    "run",
    [
        lambda x: bs.broadcast_to(x, (1 << 45,)).numpy(),
        bs.jit(lambda x: bs.broadcast_to(x, (1 << 45,)) + 1),
    ],
    ids=["recorded", "compiled"],
)
def test_too_little_memory_is_reported(run: Any) -> None:
    x = bs.ones(())
    held = x + 1
    with pytest.raises(bs.OutOfMemory, match=r"(?s)not enough memory.*test_laziness\.py") as caught:
        run(x)
    assert isinstance(caught.value, MemoryError)
    assert (held.item(), (x * 3).item()) == (2, 3)


def test_ops_go_by_the_names_that_users_know() -> None:
    with pytest.raises(bs.OperationFailed, match=r"^cholesky: ") as caught:
        bs.linalg.cholesky(-bs.eye(2)).sync()
    assert caught.value.operation == "cholesky"


@pytest.fixture
def quick_turns() -> Iterator[None]:
    """Threads take turns a thousand times as often as they do."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(before / 1000)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("quick_turns")
def test_threads_force_one_recording_at_once() -> None:
    x = bs.asarray(np.linspace(0, 1, 64))
    errors: list[BaseException] = []
    for attempt in range(8):
        shared = x
        for step in range(100):
            shared = bs.sin(shared * 1.01) + (attempt + step)
        barrier, found = Barrier(4), list[np.ndarray]()

        def read(
            tensor: bs.Tensor = shared, barrier: Barrier = barrier, found: list[np.ndarray] = found
        ) -> None:
            try:
                barrier.wait()
                found.append(tensor.numpy())
            except BaseException as error:
                errors.append(error)

        threads = [Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for each in found:
            np.testing.assert_array_equal(each, shared.numpy())
    assert not errors


def test_what_has_no_derivative_is_not_tracked_once_it_is_computed() -> None:
    x = bs.tensor([1.0, -2.0, 3.0], requires_grad=True)
    mask = x > 0
    assert mask.tolist() == [True, False, True]
    loss = bs.where(mask, x * x, 0.0).sum()
    assert loss.backward()[x].tolist() == [2, 0, 6]


@pytest.mark.parametrize("run", [lambda: bs.ones((3,)).sum().item(), bs.sync])
def test_what_is_pending_moves_to_no_device_that_a_block_names(run: Any) -> None:
    """Made where no device is named, it may go wherever it is read: but not because a block had
    something to compute."""
    before = bs.ones((2,)) * 3
    other = next(name for name in ("cpu", "reference") if name != str(before.device))
    with bs.device(other):
        inside = bs.ones((2,)) * 5
        run()
        assert str(inside.sync().device) == other
    assert before.pending
    assert str(before.sync().device) != other
    np.testing.assert_array_equal(np.asarray(before), [3, 3])


def test_numbers_go_where_tensors_are() -> None:
    step = bs.jit(lambda x, scale: x * scale["a"])
    for place in ("cpu", "reference"):
        x = bs.ones((2,), device=place)
        for around in ("cpu", "reference"):
            with bs.device(around):
                made = step(x, {"a": 0.5}).sync()
            assert str(made.device) == place
            np.testing.assert_array_equal(np.asarray(made), [0.5, 0.5])


def test_what_is_read_in_a_block_lives_there() -> None:
    before = bs.ones((2,)) * 7
    other = next(name for name in ("cpu", "reference") if name != str(before.device))
    with bs.device(other):
        assert before.sum().item() == 14
        assert str(before.sync().device) == other


def test_what_is_traced_is_left_alone_by_sync() -> None:
    def step(x: bs.Tensor) -> bs.Tensor:
        bs.sync(x * 2, {"tree": x, "other": [x + 1]})
        bs.sync()
        return (x * 3).sum()

    x = bs.ones(2)
    assert bs.jit(step)(x).item() == 6.0
    assert bs.grad(step)(x).tolist() == [3.0, 3.0]
    assert bs.vmap(step)(bs.ones((2, 2))).tolist() == [6.0, 6.0]
