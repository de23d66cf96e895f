"""Compiled functions: kinds of arguments, trees, donation, open sizes, errors."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend import entry


def line(n: int = 4) -> bs.Tensor:
    return bs.asarray(np.arange(n, dtype=np.float32))


def test_a_compiled_function_gives_the_same() -> None:
    def f(x: bs.Tensor) -> bs.Tensor:
        return bs.sin(x) * 2 + x

    np.testing.assert_array_equal(bs.jit(f)(line()).numpy(), f(line()).numpy())


def test_it_is_traced_once_for_each_kind() -> None:
    traced: list[Any] = []

    @bs.jit
    def f(x: bs.Tensor) -> bs.Tensor:
        traced.append(x.shape)
        return x + 1

    for n in (3, 3, 4, 3, 4):
        f(line(n))
    f(line(3).astype(bs.float64))
    assert traced == [(3,), (4,), (3,)]


def test_static_arguments_are_read_by_python() -> None:
    @bs.jit(static=("power",))
    def f(x: bs.Tensor, power: int) -> bs.Tensor:
        result = x
        for _ in range(power):
            result = result * x
        return result

    assert f(line(), 2).numpy().tolist() == [0, 1, 8, 27]
    assert f(line(), power=1).numpy().tolist() == [0, 1, 4, 9]


def test_other_objects_are_part_of_the_kind() -> None:
    @bs.jit
    def f(x: bs.Tensor, name: str) -> bs.Tensor:
        return x if name == "same" else -x

    assert f(line(2), "same").numpy().tolist() == [0, 1]
    assert f(line(2), "other").numpy().tolist() == [0, -1]


def test_numbers_are_arguments_and_promote_like_numbers() -> None:
    traced: list[int] = []

    @bs.jit
    def f(x: bs.Tensor, rate: float) -> bs.Tensor:
        traced.append(1)
        return x * rate

    half = line().astype(bs.float16)
    assert f(half, 0.5).dtype == bs.float16
    assert f(half, 0.25).numpy().tolist() == [0, 0.25, 0.5, 0.75]
    assert len(traced) == 1


@dataclass(frozen=True)
class Layer:
    weight: bs.Tensor
    bias: bs.Tensor
    name: str = field(default="layer", metadata={"static": True})


@dataclass(frozen=True)
class Model:
    first: Layer
    second: Layer
    steps: bs.Tensor


def layer(n: int) -> Layer:
    return Layer(bs.ones((n, n)), bs.zeros(n), f"of {n}")


def test_trees_go_in_and_out() -> None:
    @bs.jit
    def f(model: Model, extra: dict[str, Any]) -> dict[str, Any]:
        grown = Model(
            Layer(model.first.weight + 1, model.first.bias, model.first.name),
            model.second,
            model.steps + 1,
        )
        return {"model": grown, "sum": extra["values"][0] + extra["values"][1], "none": None}

    model = Model(layer(2), layer(3), bs.asarray(0))
    for step in range(1, 4):
        made = f(model, {"values": [line(2), line(2)]})
        model = made["model"]
        assert type(model) is Model
        assert model.first.name == "of 2"
        assert int(model.steps) == step
        assert model.first.weight.numpy()[0, 0] == 1 + step
    assert made["sum"].numpy().tolist() == [0, 2]
    assert made["none"] is None


def parameters(count: int = 20) -> dict[str, bs.Tensor]:
    return {f"p{at}": bs.ones(2) * at for at in range(count)}


def test_a_returned_dict_is_a_dict() -> None:
    step = bs.jit(lambda p: {name: value + 1 for name, value in p.items()})
    made = step(step(parameters()))
    assert len(made) == 20
    assert list(made) == list(parameters())
    assert "p3" in made
    assert made["p3"].numpy().tolist() == [5, 5]
    again = step(made)
    assert {**again}.keys() == made.keys()
    assert dict(again)["p0"].numpy()[0] == 3
    assert (again | {"more": 1})["more"] == 1
    assert again == again.copy()
    import pickle

    assert type(pickle.loads(pickle.dumps(step(made)))) is dict


def test_a_changed_dict_is_seen() -> None:
    step = bs.jit(lambda p: {name: value + 1 for name, value in p.items()})
    made = step(step(parameters()))
    made["p1"] = bs.zeros(2)
    assert step(made)["p1"].numpy().tolist() == [1, 1]
    made.pop("p2")
    assert "p2" not in step(made)


def test_nested_dicts_are_seen_when_they_change() -> None:
    step = bs.jit(lambda p: bs.tree_map(lambda leaf: leaf + 1, p))
    made = step(step({"a": parameters(4), "b": parameters(4)}))
    made["a"]["p0"] = bs.zeros(2) - 1
    assert step(made)["a"]["p0"].numpy().tolist() == [0, 0]


def test_a_donated_tensor_cannot_be_read() -> None:
    update = bs.jit(lambda p, g: p - g, donate=0)
    p = line().sync()
    view = p.numpy()
    made = update(p, bs.ones(4))
    assert made.numpy().tolist() == [-1, 0, 1, 2]
    assert view.tolist() == [0, 1, 2, 3]
    with pytest.raises(bs.DeadTensorError, match=r"donated at .*test_jit.py"):
        p.numpy()
    with pytest.raises(RuntimeError, match="donated"):
        (p + 1).numpy()


def test_a_donated_tree_cannot_be_read() -> None:
    step = bs.jit(lambda p: {name: value + 1 for name, value in p.items()}, donate=0)
    first = step(parameters())
    leaf = first["p1"]
    second = step(first)
    third = step(second)
    for dead in (leaf, first["p0"], second["p0"]):
        with pytest.raises(bs.DeadTensorError):
            dead.numpy()
    assert third["p1"].numpy().tolist() == [4, 4]


def test_open_sizes_are_compiled_once() -> None:
    shapes: list[Any] = []

    @bs.jit(dynamic={"x": {0: "n"}})
    def f(x: bs.Tensor) -> bs.Tensor:
        shapes.append(x.shape)
        return bs.softmax(x @ bs.ones((3, 3)), axis=0).mean() + x[1:].sum()

    for n in (2, 5, 17):
        x = bs.asarray(np.linspace(0, 1, 3 * n, dtype=np.float32).reshape(n, 3))
        expected = bs.softmax(x @ bs.ones((3, 3)), axis=0).mean() + x[1:].sum()
        np.testing.assert_allclose(f(x).numpy(), expected.numpy(), rtol=1e-6)
    assert len(shapes) == 1
    assert str(shapes[0][0]) == "n"


def test_open_sizes_of_arrays_and_of_one_tensor_twice() -> None:
    f = bs.jit(lambda x, y: x + y, dynamic={"x": {0: "n"}, "y": {0: "n"}})
    one = line(3)
    assert f(one, one).numpy().tolist() == [0, 2, 4]
    assert f(np.ones(4, np.float32), y=np.ones(4, np.float32)).numpy().tolist() == [2] * 4
    assert len(f.plans) == 2  # with and without a keyword
    assert f(line(5), line(5)).shape == (5,)
    assert len(f.plans) == 2


def test_open_sizes_have_bounds_and_agree() -> None:
    n = bs.dim("n", 2, 8, 2)
    f = bs.jit(lambda x, y: x + y, dynamic={"x": {0: n}, "y": {0: n}})
    assert f(line(4), line(4)).shape == (4,)
    with pytest.raises(bs.ShapeError, match=r"2\.\.8"):
        f(line(3), line(3))
    with pytest.raises(bs.ShapeError, match="elsewhere"):
        f(line(4), line(6))


def test_control_flow_on_a_value_says_what_to_do() -> None:
    def f(x: bs.Tensor) -> bs.Tensor:
        return x if x.sum() > 0 else -x

    with pytest.raises(TypeError) as caught:
        bs.jit(f)(line())
    message = str(caught.value)
    for wanted in ("bs.cond", "bs.scan", "bs.while_loop", "bs.where", "test_jit.py"):
        assert wanted in message


@pytest.mark.parametrize("read", [float, int, np.asarray, lambda x: x.item(), lambda x: x.tolist()])
def test_reading_a_stand_in_is_refused(read: Any) -> None:
    with pytest.raises(bs.TracedValueError, match="jit"):
        bs.jit(lambda x: read(x.sum()))(line())


def test_a_tensor_kept_from_a_trace_is_refused() -> None:
    kept: list[bs.Tensor] = []

    @bs.jit
    def f(x: bs.Tensor) -> bs.Tensor:
        kept.append(x + 1)
        return x

    f(line())
    for use in (lambda x: x.numpy(), lambda x: x + 1, lambda x: bs.jit(lambda y: y + x)(line())):
        with pytest.raises(bs.DeadTensorError, match="has ended"):
            use(kept[0])
    assert "inside jit" in repr(kept[0])


def test_outer_tensors_are_read_when_tracing() -> None:
    outer = bs.ones(4) * 3
    f = bs.jit(lambda x: x * outer)
    assert f(line()).numpy().tolist() == [0, 3, 6, 9]


def test_methods_can_be_compiled() -> None:
    class Scale:
        factor = 3.0

        @bs.jit(static=(0,))
        def __call__(self, x: bs.Tensor) -> bs.Tensor:
            return x * self.factor

    assert Scale()(line()).numpy().tolist() == [0, 3, 6, 9]


def test_lower_and_explain_tell_what_is_done() -> None:
    f = bs.jit(lambda x: bs.exp(x) + x)
    text = str(f.lower(line()))
    assert "tensor.exp" in text
    assert "test_jit.py" in text
    explained = str(f.explain(line()))
    assert "1 exp" in explained
    assert "takes x f32[4]; returns f32[4]" in explained


def test_random_numbers_are_not_baked_in() -> None:
    f = bs.jit(lambda x: x + bs.random.uniform(shape=(4,)))
    one, two = f(line()).numpy(), f(line()).numpy()
    assert not np.array_equal(one, two)


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(bs.ArgumentError, match="no parameter 'y'"):
        bs.jit(lambda x: x, static="y")
    with pytest.raises(bs.ArgumentError, match="expected a function"):
        bs.jit(3)
    with pytest.raises(bs.ArgumentError, match="no parameter 5; it has x"):
        bs.jit(lambda x: x, donate=5)
    with pytest.raises(bs.ArgumentError, match="no parameter 'y'; it has x"):
        bs.jit(lambda x: x, donate="y")


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_integers_that_are_too_large_to_be_handed_over(number: int) -> None:
    with pytest.raises(bs.ArgumentError, match=f"{number} is no int64"):
        bs.jit(lambda x, by: x + by)(bs.ones(1), number)
    fixed = bs.jit(lambda x, by: x + by, static="by")
    assert fixed(bs.ones(1), number).item() == float(np.float32(number))


def test_static_arguments_that_only_seem_equal_are_told_apart() -> None:
    over = bs.jit(lambda x, by: x / by, static="by")
    assert [over(bs.ones(1), by).item() for by in (0.0, -0.0)] == [np.inf, -np.inf]
    times = bs.jit(lambda x, by: x * by[0], static="by")
    assert [times(bs.asarray([2]), (by,)).dtype for by in (1, 1.0)] == [bs.int64, bs.float32]
    for _ in range(2):
        times(bs.asarray([2]), (float("nan"),))
    assert len(times.plans) == 3


@pytest.mark.parametrize("role", ["static", "donate"])
@pytest.mark.parametrize("place", [-1, 1.5, (0, -1), None, [None]], ids=repr)
def test_parameters_are_named_or_counted(role: str, place: Any) -> None:
    with pytest.raises(bs.ArgumentError, match=f"{role} takes names of parameters, or places"):
        bs.jit(lambda x: x, **{role: place})


@pytest.mark.parametrize("donate", [0, "p", ("p",), {0, 2}, ["q", 0]], ids=repr)
def test_parameters_are_donated_by_place_and_name(donate: Any) -> None:
    update = bs.jit(lambda p, g, q=None: p - g, donate=donate)
    for _ in range(3):  # traced, then the quick way
        p, g = line().sync(), line().sync()
        assert update(p, g).tolist() == [0, 0, 0, 0]
        with pytest.raises(bs.DeadTensorError):
            p.numpy()
        assert g.tolist() == [0, 1, 2, 3]


def test_named_parameters_are_donated_by_keyword() -> None:
    update = bs.jit(lambda *, p: p + 1, donate="p")
    p = line().sync()
    assert update(p=p).tolist() == [1, 2, 3, 4]
    with pytest.raises(bs.DeadTensorError):
        p.numpy()
    assert bs.jit(lambda *each: each[0] + 1, donate=3)(line()).tolist() == [1, 2, 3, 4]


def test_results_are_dealt_by_the_step_that_makes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it draws random numbers, or reads a tensor from outside: a part of an array takes
    a call of its own."""
    outside = bs.ones((2,)).sync()

    def noisy(tree: dict[str, Any]) -> Any:
        made = {name: each + bs.random.normal(shape=(2,)) * outside for name, each in tree.items()}
        return made, made["w0"].sum()

    monkeypatch.setattr(entry, "dealt", lambda *_: pytest.fail("dealt once more"))
    made, total = bs.jit(noisy)({f"w{number}": bs.ones((2,)) for number in range(6)})
    assert np.isclose(total.item(), made["w0"].numpy().sum())


def test_what_the_function_raises_is_raised_at_once() -> None:
    """It runs once, however its sizes are traced, until the library itself refuses something."""
    queue = ["bad", "good"]

    @bs.jit
    def step(x: bs.Tensor) -> bs.Tensor:
        if queue.pop(0) == "bad":
            raise KeyError("bad configuration")
        return x * 2

    with pytest.raises(KeyError, match="bad configuration"):
        step(bs.ones(3))
    assert step(bs.ones(3)).tolist() == [2.0, 2.0, 2.0]
