"""`grad`, `vjp`, `jvp`, `linearize`, `vmap`, `checkpoint`, `custom_vjp`, and their compositions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn

RNG = np.random.default_rng(3)


def array(*shape: int) -> bs.Tensor:
    return bs.asarray(RNG.uniform(0.3, 0.9, shape))


def numeric(f: Callable[[np.ndarray], float], x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of a function of an array."""
    slopes = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        slopes[place] = (f(up) - f(down)) / (2 * step)
    return slopes


def value(f: Callable[[bs.Tensor], bs.Tensor]) -> Callable[[np.ndarray], float]:
    return lambda x: float(f(bs.asarray(x)))


SCALARS: dict[str, Callable[[bs.Tensor], bs.Tensor]] = {
    "polynomial": lambda x: (x**3 - 2 * x).sum(),
    "softmax": lambda x: (bs.softmax(x, axis=-1) * x).sum(),
    "log_softmax": lambda x: (bs.log_softmax(x, axis=0) * x).sum(),
    "normalised": lambda x: (
        (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1)
    ).max(),
    "matmul": lambda x: bs.tanh(x @ x.mT).mean(),
    "logsumexp": lambda x: bs.logsumexp(x, axis=0).sum(),
    "indexing": lambda x: (x[[0, 0, 1]] * x[:, ::-1][1]).sum(),
    "updates": lambda x: (x.at[0].add(x[1]) ** 2).sum(),
    "where": lambda x: bs.where(x > 0.5, x * x, bs.sin(x)).sum(),
    "cumulative": lambda x: (bs.cumulative_sum(x, axis=1) * bs.cumulative_prod(x, axis=0)).sum(),
    "sort": lambda x: (bs.sort(x, axis=1) * bs.arange(4, dtype=bs.float64)).sum(),
    "concat": lambda x: (bs.concat([x, x * 2]) * bs.stack([x, x]).reshape(6, 4)).sum(),
    "scan": lambda x: bs.scan(lambda c, row: (bs.tanh(c * row), c), x[0], x)[1].sum(),
    "cond": lambda x: bs.cond(x.sum() > 0, lambda y: (y * y).sum(), lambda y: y.sum(), x),
    "while": lambda x: bs.while_loop(
        lambda c: c.sum() < 40.0, lambda c: c * 1.5, x, max_steps=12
    ).sum(),
    "checkpoint": lambda x: bs.checkpoint(lambda y: bs.sin(y) * y)(x).sum(),
}


@pytest.mark.parametrize("name", SCALARS)
def test_gradients_agree_with_finite_differences(name: str) -> None:
    f, x = SCALARS[name], array(3, 4)
    expected = numeric(value(f), x.numpy())
    np.testing.assert_allclose(bs.grad(f)(x).numpy(), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", SCALARS)
def test_every_way_gives_the_same_gradient(name: str) -> None:
    f, x = SCALARS[name], array(3, 4)
    expected = bs.grad(f)(x).numpy()
    parameter = bs.tensor(x, requires_grad=True)
    ways = {
        "jit of grad": bs.jit(bs.grad(f))(x),
        "grad of jit": bs.grad(bs.jit(f))(x),
        "backward": f(parameter).backward()[parameter],
        "vjp": bs.vjp(f, x)[1](bs.ones((), dtype=bs.float64))[0],
        "vmap": bs.vmap(bs.grad(f))(x[None])[0],
    }
    for way, found in ways.items():
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-12, err_msg=way)


@pytest.mark.parametrize("name", SCALARS)
def test_forward_and_reverse_agree(name: str) -> None:
    f, x, direction = SCALARS[name], array(3, 4), array(3, 4)
    result, slope = bs.jvp(f, (x,), (direction,))
    np.testing.assert_allclose(result.numpy(), f(x).numpy())
    expected = (bs.grad(f)(x) * direction).sum()
    np.testing.assert_allclose(slope.numpy(), expected.numpy(), rtol=1e-9)
    linear = bs.linearize(f, x)[1](direction)
    np.testing.assert_allclose(linear.numpy(), slope.numpy(), rtol=1e-9)


@pytest.mark.parametrize("name", SCALARS)
def test_second_derivatives_agree_with_differences_of_first_ones(name: str) -> None:
    f, x, direction = SCALARS[name], array(3, 4), array(3, 4)
    _, found = bs.jvp(bs.grad(f), (x,), (direction,))
    step = 1e-5
    ends = [bs.grad(f)(x + sign * step * direction).numpy() for sign in (1, -1)]
    expected = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-7)


def test_hessian_of_a_quadratic_form() -> None:
    matrix = array(3, 3)
    hessian = bs.hessian(lambda x: x @ matrix @ x)(array(3))
    expected = matrix.numpy() + matrix.numpy().T
    np.testing.assert_allclose(hessian.numpy(), expected, rtol=1e-12)


def test_jacobians_agree() -> None:
    def f(x: bs.Tensor) -> bs.Tensor:
        return bs.sin(x)[:, None] * x[None, :2]

    x = array(4)
    forward, reverse = bs.jacfwd(f)(x), bs.jacrev(f)(x)
    assert forward.shape == (4, 2, 4)
    np.testing.assert_allclose(forward.numpy(), reverse.numpy(), rtol=1e-12)


def test_gradients_of_trees_have_their_structure() -> None:
    parameters = {"w": array(2, 2), "steps": bs.asarray(3), "b": [array(2)]}

    def loss(p: dict[str, Any]) -> bs.Tensor:
        return (p["w"] @ p["b"][0]).sum() * p["steps"]

    found = bs.grad(loss)(parameters)
    assert found["steps"] is None
    expected = 3 * parameters["w"].numpy().sum(0)
    np.testing.assert_allclose(found["b"][0].numpy(), expected)


def test_auxiliary_results_are_handed_on() -> None:
    def f(x: bs.Tensor) -> tuple[bs.Tensor, dict[str, Any]]:
        return (x * x).sum(), {"twice": x * 2, "name": "aux"}

    (result, aux), gradient = bs.value_and_grad(f, has_aux=True)(array(3))
    assert aux["name"] == "aux"
    assert aux["twice"].shape == (3,)
    assert result.shape == ()
    found, again = bs.grad(f, has_aux=True)(array(3))
    assert again["name"] == "aux"
    assert found.shape == gradient.shape


def test_several_arguments() -> None:
    x, y = array(3), array(3)
    both = bs.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, y)
    np.testing.assert_array_equal(both[0].numpy(), y.numpy())
    np.testing.assert_array_equal(both[1].numpy(), x.numpy())


def test_per_example_gradients() -> None:
    weight, inputs = array(4), array(5, 4)

    def loss(w: bs.Tensor, x: bs.Tensor) -> bs.Tensor:
        return bs.tanh(w @ x) ** 2

    found = bs.vmap(bs.grad(loss), in_axes=(None, 0))(weight, inputs)
    expected = [bs.grad(loss)(weight, inputs[at]).numpy() for at in range(5)]
    np.testing.assert_allclose(found.numpy(), np.stack(expected), rtol=1e-12)


def test_a_jacobian_goes_forward_through_a_loop_of_unknown_length() -> None:
    def grown(x: Any) -> Any:
        return bs.while_loop(lambda carry: carry.sum() < 50, lambda carry: carry * x, x)

    found = bs.jacfwd(grown)(bs.asarray([2.0, 3.0]))
    assert found.tolist() == [[32.0, 0.0], [0.0, 108.0]]


def test_vmap_axes() -> None:
    x, y = array(2, 3), array(4, 2)
    found = bs.vmap(lambda a, b: a.sum() + b, in_axes=(0, 1), out_axes=1)(x, y)
    assert found.shape == (4, 2)
    np.testing.assert_allclose(found.numpy(), x.numpy().sum(1) + y.numpy(), rtol=1e-12)
    tree = bs.vmap(lambda p: p["a"] * p["b"], in_axes=({"a": 0, "b": None},))
    assert tree({"a": x, "b": array(3)}).shape == (2, 3)


def test_vmap_finds_the_axes_of_a_dict_by_key() -> None:
    given = {"a": array(4, 3), "b": array(4, 2)}
    made = bs.vmap(lambda p: p["a"].sum() + p["b"].sum(), in_axes=({"b": None, "a": 0},))(given)
    expected = given["a"].numpy().sum(axis=1) + given["b"].numpy().sum()
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-6)


def test_vmap_takes_a_model_of_axes() -> None:
    model, point = nn.Linear(3, 2, key=bs.random.key(0)), array(3)
    many = model.replace(weight=bs.stack([model.weight, model.weight * 2]))
    axes = bs.tree_flatten(model)[1].build([0, None])
    made = bs.vmap(lambda model, x: model(x), in_axes=(axes, None))(many, point)
    expected = [(model.weight * factor @ point + model.bias).tolist() for factor in (1, 2)]
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-5)


def test_vmap_nests() -> None:
    x, y = array(3), array(4)
    table = bs.vmap(lambda a: bs.vmap(lambda b: bs.sin(a * b))(y))(x)
    np.testing.assert_allclose(table.numpy(), np.sin(np.outer(x.numpy(), y.numpy())), rtol=1e-12)


def test_collectives_over_the_mapped_axis() -> None:
    x = array(4, 3)
    centered = bs.vmap(lambda row: row - bs.all_reduce(row, "batch") / 4, axis_name="batch")(x)
    np.testing.assert_allclose(centered.numpy(), x.numpy() - x.numpy().mean(0), atol=1e-12)


def test_a_gradient_given_by_the_user_is_used() -> None:
    @bs.custom_vjp
    def clipped(x: bs.Tensor) -> bs.Tensor:
        return x * 2

    clipped.define(lambda x: (x * 2, x), lambda x, g: (bs.clip(g * 2, -1, 1) + 0 * x,))
    x = array(3)
    found = bs.grad(lambda x: (clipped(x) * 5).sum())(x)
    assert found.numpy().tolist() == [1, 1, 1]
    np.testing.assert_array_equal(clipped(x).numpy(), 2 * x.numpy())
    stacked = bs.vmap(bs.grad(lambda x: (clipped(x) * 5).sum()))(array(2, 3))
    assert stacked.numpy().tolist() == [[1, 1, 1]] * 2


def test_who_goes_forward_through_a_rule_for_gradients_is_told_who_does_not() -> None:
    @bs.custom_vjp
    def double(x: bs.Tensor) -> bs.Tensor:
        return x * 2

    double.define(lambda x: (x * 2, x), lambda x, g: (g * 2,))
    x = array(3)
    calls = {"jvp": lambda: bs.jvp(double, (x,), (x,)), "jacfwd": lambda: bs.jacfwd(double)(x)}
    for name, call in calls.items():
        words = rf"(?s)^{name}: custom_vjp has a rule for gradients alone.*use `bs\.grad`"
        with pytest.raises(bs.DifferentiationError, match=words):
            call()


def test_what_says_its_gradient_may_call_the_function_itself() -> None:
    @bs.custom_vjp
    def square(x: bs.Tensor) -> bs.Tensor:
        return x * x

    square.define(lambda x: (square(x), x), lambda x, g: (3 * x * g + 0 * square(x),))
    x = bs.asarray(3.0)
    assert square(x).item() == 9
    assert bs.jit(bs.grad(square))(x).item() == 9
    assert bs.grad(bs.grad(square))(x).item() == 3


def test_a_checkpoint_keeps_only_its_arguments() -> None:
    def f(x: bs.Tensor) -> bs.Tensor:
        for _ in range(5):
            x = bs.sin(x)
        return x

    plain = bs.tensor(array(7), requires_grad=True)
    kept = {}
    for name, function in (("plain", f), ("checkpoint", bs.checkpoint(f))):
        loss = function(plain).sum()
        str(loss)
        kept[name] = len(loss.node.history[0].residuals)
    assert kept["checkpoint"] < kept["plain"]


def test_complex_gradients_descend() -> None:
    z = bs.asarray(np.array([1 + 2j, -0.5 + 1j]))
    gradient = bs.grad(lambda z: (bs.abs(z) ** 2).sum())(z)
    np.testing.assert_allclose(gradient.numpy(), 2 * z.numpy(), rtol=1e-9)


def twice(x: bs.Tensor) -> bs.Tensor:
    return bs.while_loop(lambda c: c < 5, lambda c: c * 2, x)


def same(x: bs.Tensor) -> bs.Tensor:
    return x


MISTAKES: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "not one": (ValueError, "expected one float", lambda: bs.grad(lambda x: x * 2)(array(3))),
    "no tensor": (ValueError, "returns no tensor", lambda: bs.grad(lambda x: 3.0)(array(3))),
    "two": (ValueError, "returns a tuple of 2", lambda: bs.grad(lambda x: (x[0], x))(array(3))),
    "a set": (ValueError, "returns a set", lambda: bs.jit(lambda x: {x + 1})(array(3))),
    "turns": (ValueError, "a generator", lambda: bs.jit(lambda x: (y for y in x))(array(3))),
    "integers": (TypeError, "tensor of floats", lambda: bs.grad(same)(bs.arange(3))),
    "no such": (ValueError, "argument 2", lambda: bs.grad(same, argnums=2)(array(3))),
    "tangent": (ValueError, "tangent", lambda: bs.jvp(same, (array(3),), (array(4),))),
    "sizes": (ValueError, "3 and 4", lambda: bs.vmap(lambda a, b: a + b)(array(3), array(4))),
    "keys": (ValueError, "do not fit", lambda: bs.vmap(same, in_axes=({"b": 0},))({"a": array(3)})),
    "nothing": (ValueError, "no argument", lambda: bs.vmap(same, in_axes=None)(array(3))),
    "rank 0": (IndexError, "rank 0", lambda: bs.vmap(same)(bs.asarray(1.0))),
    "axis": (ValueError, "no axis around", lambda: bs.all_reduce(array(3), "batch")),
    "branches": (
        ValueError,
        "on_false",
        lambda: bs.cond(bs.asarray(True), same, lambda x: x[0], array(3)),
    ),
    "predicate": (TypeError, "one boolean", lambda: bs.cond(array(3), same, same, array(3))),
    "one of two": (
        ValueError,
        r"carry b comes in as int64\[\] and goes out as float64\[\]",
        lambda: bs.scan(lambda c, x: ({"a": c["a"], "b": x}, x), {"a": 1.0, "b": 1}, array(2)),
    ),
    "carry": (ValueError, "carry", lambda: bs.scan(lambda c, x: (c.sum(), x), array(3), array(2))),
    "loop": (
        bs.ArgumentError,
        "at an integer, not at float",
        lambda: bs.fori_loop(0, 2.5, lambda at, c: c, array(3)),
    ),
    "while": (TypeError, "max_steps", lambda: bs.grad(twice)(bs.asarray(1.0))),
    "an argument twice": (
        ValueError,
        "an argument is named twice by",
        lambda: bs.grad(lambda x, y: x * y, argnums=(1, -1))(2.0, 3.0),
    ),
    "two arguments": (
        ValueError,
        "the number of one argument, not",
        lambda: bs.jacfwd(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0),  # pyright: ignore[reportArgumentType]
    ),
}


@pytest.mark.parametrize(
    "transform",
    [
        bs.grad, bs.value_and_grad, bs.vmap, bs.checkpoint, bs.custom_vjp, bs.jacrev, bs.jacfwd,
        bs.hessian, bs.vjp, bs.linearize,
    ],
)  # fmt: skip
def test_what_is_no_function_is_refused(transform: Any) -> None:
    with pytest.raises(bs.ArgumentError, match=f"{transform.__name__}: expected a function, got i"):
        transform(5)


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_explained(name: str) -> None:
    kind, message, mistake = MISTAKES[name]
    with pytest.raises(kind, match=message) as caught:
        mistake()
    assert isinstance(caught.value, bs.BrimstoneError)
    assert "test_transforms.py" in str(caught.value)


def test_scan_runs_both_ways() -> None:
    x = bs.arange(5.0)
    last, sums = bs.scan(lambda c, v: (c + v, c), 0.0, x)
    assert float(last) == 10
    assert sums.numpy().tolist() == [0, 0, 1, 3, 6]
    last, sums = bs.scan(lambda c, v: (c + v, c), 0.0, x, reverse=True)
    assert sums.numpy().tolist() == [10, 9, 7, 4, 0]


def test_loops_read_outer_tensors() -> None:
    outer = bs.ones(3) * 2
    found = bs.fori_loop(0, 4, lambda at, c: c * outer + at, bs.ones(3))
    expected = np.ones(3)
    for at in range(4):
        expected = expected * 2 + at
    assert found.numpy().tolist() == expected.tolist()
    assert (
        bs.while_loop(lambda c: (c < outer * 9).all(), lambda c: c * outer, bs.ones(3)).numpy()[0]
        == 32
    )


def test_numbers_that_a_region_returns_are_computed() -> None:
    for holds, expected in ((True, 1.0), (False, 2.0)):
        assert bs.cond(bs.asarray(holds), lambda: 1.0, lambda: 2.0).item() == expected
    last, outputs = bs.scan(lambda _, x: (1.0, (x, 3)), bs.asarray(0.0), bs.ones(2))
    assert (last.item(), outputs[1].tolist()) == (1.0, [3, 3])
    assert bs.while_loop(lambda x: x < 1, lambda _: 2.0, bs.asarray(0.0)).item() == 2.0
    with pytest.raises(ValueError, match="on_true returns 'a' where on_false returns 'b'"):
        bs.cond(bs.asarray(True), lambda: "a", lambda: "b")


LOOPED: dict[str, Callable[[Any], Any]] = {
    "tanh": bs.tanh, "root": lambda x: bs.sqrt(x * x + 1), "square": lambda x: x * x * 2 + 0.1,
}  # fmt: skip


@pytest.mark.parametrize("inner", LOOPED)
@pytest.mark.parametrize("outer", LOOPED)
def test_loops_in_loops_that_share_what_their_derivatives_read(outer: str, inner: str) -> None:
    def within(c: Any, x: Any) -> Any:
        return bs.scan(lambda d, u: (LOOPED[inner](d) * 0.5, u), x, x)[1].sum() + (c * 0).sum()

    def function(x: Any) -> Any:
        return bs.scan(lambda c, t: (LOOPED[outer](c), within(c, x)), x, x)[1].sum()

    def moving(x: Any) -> Any:
        def step(c: Any, t: Any) -> Any:
            inside = bs.scan(lambda d, u: (LOOPED[inner](d) * 0.5 + u * t, d * u), x, x)[1]
            return LOOPED[outer](c) * 0.5, inside.sum()

        return bs.scan(step, x, x)[1].sum()

    x = bs.asarray([0.1, 0.2, 0.3], dtype=bs.float64)
    for each in (function, moving):
        found = bs.grad(each)(x)
        rows = [(each(x + step) - each(x - step)).item() / 2e-6 for step in bs.eye(3) * 1e-6]
        np.testing.assert_allclose(found.numpy(), rows, rtol=1e-6)
