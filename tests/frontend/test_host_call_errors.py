"""What goes wrong in functions of numpy arrays: both lines are told, and nothing else breaks."""

import gc
import re
import weakref
from collections.abc import Callable
from inspect import currentframe
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from kit.both_devices import on_both_devices

device = on_both_devices()
Array = np.ndarray[Any, Any]


def doubled(x: Array) -> Array:
    return x * 2


def line() -> bs.Tensor:
    return bs.arange(5.0)


def line_number() -> int:
    frame = currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


RAISED: list[int] = []


def hasty(x: Array) -> Array:
    RAISED.append(line_number() + 1)
    raise KeyError("nothing here")


def failure_of(run: Callable[[], Any], *lines: int) -> bs.OperationFailed:
    """The error of a call; it names these lines."""
    with pytest.raises(bs.OperationFailed, match=r"^host_call: ") as caught:
        run()
    found = re.findall(r"test_host_call_errors\.py:(\d+)", str(caught.value))
    assert [int(each) for each in found] == [*lines]
    return caught.value


def test_an_exception_names_both_lines() -> None:
    x = line()
    recorded = line_number() + 1
    pending = bs.host_call(hasty, x, x)
    beside = x + 1
    raised = hasty.__code__.co_firstlineno + 2
    error = failure_of(pending.numpy, recorded, raised)
    assert isinstance(error.__cause__, KeyError)
    assert (error.operation, str(error.location)) == ("host_call", f"{__file__}:{recorded}")
    assert "hasty failed: KeyError: 'nothing here'" in str(error)
    assert RAISED.pop() == raised
    assert beside.numpy().tolist() == [1, 2, 3, 4, 5]


def test_an_exception_inside_jit() -> None:
    recorded = line_number() + 1
    function = bs.jit(lambda x: bs.host_call(hasty, x, x * 2) + 1)
    raised = hasty.__code__.co_firstlineno + 2
    for size in (3, 4):
        error = failure_of(lambda size=size: function(bs.ones(size)).numpy(), recorded, raised)
        assert isinstance(error.__cause__, KeyError)
    assert (bs.ones(3) + 1).numpy().tolist() == [2, 2, 2]


def test_a_call_of_a_compiled_function_returns(device: Any) -> None:
    """Who reads a result is told, each time, and so is he who reads what comes of it; but the
    interpreter runs the step within the call."""
    x = bs.ones(3).sync()
    recorded = line_number() + 1
    function = bs.jit(lambda x: (bs.host_call(hasty, x, x * 2) + 1, x + 1))
    raised = hasty.__code__.co_firstlineno + 2
    if device == "reference":
        failure_of(lambda: function(x), recorded, raised)
        return
    made, beside = function(x)
    for _ in range(2):
        failure_of(made.numpy, recorded, raised)
        failure_of(beside.tolist, recorded, raised)
        failure_of(lambda: bs.sync(made), recorded, raised)
    (again,) = bs.jit(lambda x: [x * 3])(made)
    error = failure_of(again.numpy, recorded, raised)
    assert isinstance(error.__cause__, KeyError)
    failure_of(function(made)[1].numpy, recorded, raised)


@pytest.mark.parametrize("sound_first", [False, True])
def test_what_has_failed_takes_nothing_with_it(sound_first: bool) -> None:
    with bs.device("cpu"):
        x = bs.ones(3).sync()
        function = bs.jit(lambda x: bs.host_call(hasty, x, x * 2) + 1)
        broken, sound = function(x) * 2, x + 41
        if not sound_first:
            with pytest.raises(bs.OperationFailed):
                bs.sync(broken, sound)
        assert sound.tolist() == [42, 42, 42]
        with pytest.raises(bs.OperationFailed):
            broken.numpy()


def test_old_errors_hold_no_memory() -> None:
    """They are kept for who reads a result of a step that failed, but not what was there."""

    class Held:
        pass

    held: list[weakref.ref[Held]] = []

    def raising(x: Array) -> Array:
        here = Held()
        held.append(weakref.ref(here))
        raise KeyError("nothing here")

    function = bs.jit(lambda x: bs.host_call(raising, x, x * 2))
    for _ in range(30):
        with pytest.raises(bs.OperationFailed, match="raising failed: KeyError"):
            function(bs.ones(3)).numpy()
    gc.collect()
    assert sum([each() is not None for each in held]) < 15


def test_an_exception_inside_a_loop() -> None:
    def body(carry: bs.Tensor, _: Any) -> Any:
        return bs.host_call(hasty, carry, carry), None

    with pytest.raises(bs.OperationFailed) as caught:
        bs.scan(body, bs.ones(2), bs.ones(3))[0].numpy()
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_step_compiled_before_names_the_line_of_now() -> None:
    def choosy(x: Array) -> Array:
        if x[0] == 3:
            raise ValueError("three")
        return x

    bs.host_call(choosy, line(), line()).sync()
    x = bs.full(5, 3.0)
    recorded = line_number() + 1
    pending = bs.host_call(choosy, x, x)
    raised = choosy.__code__.co_firstlineno + 2
    failure_of(pending.numpy, recorded, raised)
    recorded = line_number() + 1
    pending = bs.host_call(choosy, x, x - 1)
    pending = bs.host_call(choosy, x, pending + 1)
    failure_of(pending.numpy, recorded + 1, raised)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda x: x.astype(np.float64), "returned float64[5], expected float32[5]"),
        (lambda x: x[:2], "returned float32[2], expected float32[5]"),
        (lambda x: [1.0], "returned [1.0], no numpy array, expected float32[5]"),
        (lambda x: (x, x), "returned 2 arrays, expected 1"),
    ],
    ids=["dtype", "shape", "list", "too many"],
)
def test_a_result_that_was_not_promised(function: Any, told: str) -> None:
    x = line()
    recorded = line_number() + 1
    pending = bs.host_call(function, x, x)
    error = failure_of(pending.numpy, recorded, function.__code__.co_firstlineno)
    assert told in str(error)
    assert error.__cause__ is None


def test_a_tree_that_was_not_promised() -> None:
    pending = bs.host_call(lambda x: {"b": x}, {"a": line()}, line())["a"]
    with pytest.raises(bs.OperationFailed, match=r"like \{'a': \*\}, and not \{'b': \*\}"):
        pending.numpy()


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupts_and_exits_pass(kind: type[BaseException]) -> None:
    def leaves(x: Array) -> Array:
        raise kind

    x = line()
    beside = x * 3
    pending = bs.host_call(leaves, x, x)
    with pytest.raises(kind):
        pending.numpy()
    with pytest.raises(kind):
        bs.jit(lambda x: bs.host_call(leaves, x, x))(x).numpy()
    assert beside.sum().item() == 30


@pytest.mark.parametrize(
    "like", [(), 5, "float32", ((3,), "float32")], ids=["nothing", "number", "word", "pair"]
)
def test_what_describes_no_result(like: Any) -> None:
    with pytest.raises(bs.ArgumentError, match=r"^host_call: .*\n.*given"):
        bs.host_call(doubled, like, line())


def test_what_is_no_function() -> None:
    with pytest.raises(bs.ArgumentError, match="expected a function"):
        bs.host_call(3, line(), line())  # pyright: ignore[reportArgumentType]


def test_an_exception_in_a_function_that_computes_with_tensors() -> None:
    x = line()

    def fails(x: Array) -> Array:
        return bs.host_call(hasty, x, x).numpy()

    with pytest.raises(bs.OperationFailed) as caught:
        bs.host_call(fails, x, x).numpy()
    assert isinstance(caught.value.__cause__, bs.OperationFailed)
    assert isinstance(caught.value.__cause__.__cause__, KeyError)


def test_what_is_raised_need_not_say_anything() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise RuntimeError("nor this")

    def silent(x: Array) -> Array:
        raise Silent

    x = line()
    with pytest.raises(bs.OperationFailed, match=r"silent failed: Silent\n") as caught:
        bs.host_call(silent, x, x).numpy()
    assert isinstance(caught.value.__cause__, Silent)


def test_what_is_returned_is_a_numpy_array() -> None:
    x = line()
    with pytest.raises(bs.OperationFailed, match="no numpy array, expected float32"):
        bs.host_call(bs.asarray, x, x).numpy()
