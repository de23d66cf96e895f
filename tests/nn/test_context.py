"""Training and inference are said around calls; updates come out of every transformation."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import brimstone as bs
from brimstone import nn


class Mean(nn.Module):
    def __init__(self) -> None:
        self.weight = bs.asarray(2.0)
        self.mean = nn.Buffer(bs.asarray(0.0))

    def forward(self, x: Any) -> Any:
        if nn.is_training():
            self.update(mean=self.mean + x.mean())
        return x * self.weight


class Noise(nn.Module):
    def forward(self, x: Any) -> Any:
        return x + bs.random.normal(nn.next_key(), x.shape) if nn.is_training() else x


X = bs.asarray([1.0, 3.0])


def loss(model: Any, x: Any) -> Any:
    return model(x).sum()


def test_models_infer_unless_somebody_says_that_they_train() -> None:
    assert not nn.is_training()
    with nn.training():
        assert nn.is_training()
        with nn.inference():
            assert not nn.is_training()
        assert nn.is_training()
    assert not nn.is_training()
    assert Noise()(X).tolist() == [1.0, 3.0]


def test_a_context_collects_updates() -> None:
    model = nn.Sequential(Mean(), Mean())
    with nn.training() as context:
        model(X)
        made = context.updated(model)
    assert [made[0].mean.item(), made[1].mean.item()] == [2.0, 4.0]
    assert model[0].mean.item() == 0.0
    with nn.inference() as context:
        model(X)
        assert context.updated(model) is model


def test_a_gradient_gives_the_updated_tree() -> None:
    with nn.training():
        (value, made), gradient = bs.value_and_grad(loss, updates=True)(Mean(), X)
        both = bs.value_and_grad(lambda m, x: (loss(m, x), x), has_aux=True, updates=True)
        ((again, aux), other), _ = both(made, X)
    assert (value.item(), again.item(), aux.tolist()) == (8.0, 8.0, [1.0, 3.0])
    assert (made.mean.item(), other.mean.item()) == (2.0, 4.0)
    assert gradient.mean is None
    assert gradient.weight.item() == 4.0


def test_a_gradient_that_does_not_want_updates_drops_them() -> None:
    model = Mean()
    with nn.training() as context:
        assert bs.grad(loss)(model, X).weight.item() == 4.0
        assert context.updated(model) is model


@pytest.mark.parametrize("by_argument", [False, True])
def test_a_checkpoint_hands_updates_on(by_argument: bool) -> None:
    def recomputed(model: Any, x: Any) -> Any:
        if by_argument:
            return bs.checkpoint(lambda layer, x: layer(x))(model[0], x).sum()
        return bs.checkpoint(model[0])(x).sum()

    with nn.training():
        both = bs.value_and_grad(recomputed, updates=True)
        (_, made), gradient = both(nn.Sequential(Mean()), X)
    assert made[0].mean.item() == 2.0
    assert gradient[0].weight.item() == 4.0


def test_a_compiled_step_returns_the_updated_tree() -> None:
    @bs.jit
    def step(model: Any, x: Any) -> Any:
        with nn.training():
            (value, made), gradient = bs.value_and_grad(loss, updates=True)(model, x)
        return value, made.replace(weight=made.weight - gradient.weight)

    model = Mean()
    for _ in range(3):
        _, model = step(model, X)
    assert (model.mean.item(), model.weight.item()) == (6.0, -10.0)
    assert len(step.plans) == 1


def test_a_compiled_call_is_surrounded_like_any_other() -> None:
    noisy = bs.jit(lambda model, x: model(x))
    model = Noise()
    with nn.training(7):
        first, second = noisy(model, X).tolist(), noisy(model, X).tolist()
    with nn.training(7):
        assert noisy(model, X).tolist() == first
    assert first != second
    assert noisy(model, X).tolist() == X.tolist()
    with nn.inference():
        assert noisy(model, X).tolist() == X.tolist()
    with nn.training():
        assert noisy(model, X).tolist() != noisy(model, X).tolist()
    assert len(noisy.plans) == 4  # with a key and without, of inference and of nothing said


def test_donated_and_static_arguments_are_so_in_surroundings_too() -> None:
    scale = bs.jit(lambda x, times: x * times, donate="x", static="times")
    with nn.training(1):
        assert scale(bs.ones(2), 3).tolist() == [3.0, 3.0]
        assert scale(bs.ones(2), times=4).tolist() == [4.0, 4.0]


def test_mistakes_with_updates_are_told() -> None:
    with pytest.raises(ValueError, match="a Mean has no sum; it has weight, mean"):
        Mean().update(sum=1)
    with pytest.raises(ValueError, match=r"update: mean is a tensor(?s:.*)asarray"):
        Mean().update(mean=1)


def test_randomness_is_a_function_of_key_place_and_count() -> None:
    model = nn.Sequential(Noise(), Noise())
    zeros = bs.zeros(4)
    with nn.training(3):
        one, two = model[0](zeros), model[0](zeros)
        both = model(zeros)
    with nn.training(bs.random.key(3)):
        assert model[0](zeros).tolist() == one.tolist()
        assert model[0](zeros).tolist() == two.tolist()
        assert model(zeros).tolist() == both.tolist()
    with nn.training(4):
        assert model[0](zeros).tolist() != one.tolist()
    assert len({str(each.tolist()) for each in (one, two, both)}) == 3


def test_randomness_is_the_same_compiled() -> None:
    model = nn.Sequential(Noise(), Noise())

    def run(model: Any, x: Any, key: Any) -> Any:
        with nn.training(key):
            return model(x)

    key = bs.random.key(5)
    assert bs.jit(run)(model, X, key).tolist() == pytest.approx(run(model, X, key).tolist())


def test_compiled_calls_draw_in_their_turn_what_plain_ones_draw() -> None:
    model, zeros = nn.Sequential(Noise(), Noise()), bs.zeros(2)

    def twice(model: Any, x: Any) -> Any:
        steps = bs.scan(lambda carry, _: (model(carry), None), x, length=2)[0]
        return model(model(x)) + steps

    compiled, part = bs.jit(twice), bs.jit(model[1])
    made: list[Any] = []
    for first, between, second in (
        (twice, model[1], twice),
        (compiled, model[1], twice),
        (twice, part, compiled),
        (compiled, part, compiled),
    ):
        with nn.training(7):
            calls = [first(model, zeros), between(zeros), second(model, zeros)]
            made.append([call.tolist() for call in calls])
    for each in made[1:]:
        for one, other in zip(made[0], each, strict=True):
            assert other == pytest.approx(one)
    assert len(compiled.plans) == 1
    assert len({str(each) for each in made[0]}) == 3


def test_a_compiled_call_with_a_history_draws_like_any_other() -> None:
    weight = bs.tensor([1.0, 2.0], requires_grad=True)

    def run(x: Any) -> Any:
        return (Noise()(bs.zeros(2)) * x).sum()

    slopes: list[Any] = []
    for call in (run, bs.jit(run)):
        with nn.training(7):
            slopes += [call(weight).backward()[weight].tolist() for _ in range(2)]
    assert slopes[0] != slopes[1]
    assert slopes[:2] == slopes[2:]


@pytest.mark.parametrize("key", [None, 3])
def test_noise_differs_from_step_to_step_and_from_element_to_element(key: Any) -> None:
    model, zeros = Noise(), bs.zeros((3, 2))
    with nn.training(key):
        steps = bs.scan(lambda carry, x: (carry, model(x)), bs.asarray(0.0), zeros)[1]
        elements = bs.vmap(bs.vmap(model))(bs.zeros((2, 2, 2))).reshape((4, 2))
    for rows in (steps, elements):
        assert len({tuple(row) for row in rows.tolist()}) == len(rows.tolist())


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("limit", [None, 4], ids=["endless", "bounded"])
@pytest.mark.parametrize("key", [None, 3])
def test_noise_differs_from_turn_to_turn_of_a_while_loop(
    key: Any, limit: int | None, compiled: bool
) -> None:
    model = Noise()

    def turn(carry: Any) -> Any:
        place, rows = carry
        noise = bs.cond(place < 9, model, bs.abs, bs.zeros(2))
        return place + 1, rows.at[place].set(noise)

    def run() -> Any:
        start = bs.asarray(0), bs.zeros((3, 2))
        return bs.while_loop(lambda carry: carry[0] < 3, turn, start, limit)[1]

    with nn.training(key):
        rows = (bs.jit(run) if compiled else run)().tolist()
    assert len({tuple(row) for row in rows}) == 3


def test_a_while_loop_draws_what_a_scan_draws() -> None:
    def turn(x: Any) -> Any:
        return x + Noise()(x)

    def while_below(carry: Any) -> Any:
        return carry[0] + 1, turn(carry[1])

    start = bs.asarray(0), bs.zeros(2)
    with nn.training(3):
        expected = bs.scan(lambda x, _: (turn(x), None), start[1], length=3)[0].tolist()
    for limit in (None, 5):
        with nn.training(3):
            made = bs.while_loop(lambda carry: carry[0] < 3, while_below, start, limit)[1]
        assert made.tolist() == expected


def test_the_condition_of_a_loop_draws_anew_at_each_turn() -> None:
    def run() -> Any:
        return bs.while_loop(lambda x: bs.randn() < 1, lambda x: x + 1, bs.asarray(0))

    bs.manual_seed(1)
    assert len({bs.jit(run)().item() for _ in range(8)}) > 2


def test_a_key_that_is_given_inside_a_loop_is_taken_as_it_is() -> None:
    def step(carry: Any, key: Any) -> Any:
        with nn.training(key):
            return carry, Noise()(bs.zeros(2))

    keys = bs.random.split(bs.random.key(0), 2)
    made = bs.scan(step, bs.asarray(0.0), keys)[1].tolist()
    for key, expected in zip(keys, made, strict=True):
        assert step(None, key)[1].tolist() == pytest.approx(expected)


def test_the_randomness_of_compiled_calls_does_not_depend_on_where_the_code_stands() -> None:
    made: list[Any] = []
    here: Any = lambda model, x: model(x)  # noqa: E731
    there: Any = lambda model, x: model(x)  # noqa: E731
    for function in (here, there):
        with nn.training(7):
            made.append(bs.jit(function)(Noise(), bs.zeros(2)).tolist())
            made.append(bs.jit(Noise())(bs.zeros(2)).tolist())
    assert made[:2] == made[2:]
    assert made[0] != made[1]


@dataclass
class Pair:
    """Two tensors in the place of one."""

    first: Any
    second: Any


def test_what_leaves_become_is_nobodys_counterpart() -> None:
    model = nn.Sequential(Mean(), Mean())
    with nn.training() as context:
        assert model.map(lambda leaf: Pair(leaf, leaf))[1].mean.second is model[1].mean
        assert model.map(lambda _: None)[1].mean is None
        model.map(lambda leaf: leaf + 1)(X)
        assert context.updated(model)[0].mean.item() == 3.0


def test_who_only_looks_at_a_model_takes_no_updates() -> None:
    model = nn.Sequential(Mean())
    with nn.training() as context:
        assert "0 " in str(model.summary(X))
        found = bs.nonfinite_origin(lambda model, x: bs.log(model(x) * 0).sum(), model, X)
        assert found is not None
        assert found.operation == "log"
        assert context.updated(model) is model


@pytest.mark.parametrize("wrong", [True, False, 1.5, "seed"], ids=repr)
def test_what_is_no_key_is_refused_where_it_is_given(wrong: Any) -> None:
    with pytest.raises(bs.BrimstoneError, match=r"at: .*test_context\.py"), nn.training(wrong):
        pass


def test_parts_of_a_dict_made_by_a_compiled_function_leave_updates() -> None:
    make = bs.jit(lambda leaves: {"layer": Mean(), "rest": leaves})
    parts = make([X, X, X])
    with nn.training() as context:
        parts["layer"](X)
        assert context.updated(parts)["layer"].mean.item() == 2.0


def test_a_generator_may_leave_a_context_late() -> None:
    def inferred() -> Iterator[bool]:
        with nn.inference():
            yield nn.is_training()

    made = inferred()
    with nn.training() as context:
        assert not next(made)
    assert list(made) == []
    assert not nn.is_training()
    model = Mean()
    model.update(mean=X)
    assert context.updated(model) is model
    with nn.training():
        assert nn.is_training()


@pytest.mark.parametrize("key", [None, 3])
def test_all_columns_of_a_jacobian_are_of_the_same_noise(key: Any) -> None:
    def scaled(x: Any) -> Any:
        return x.sum() * Noise()(bs.zeros(()))

    with nn.training(key):
        for jacobian in (bs.jacfwd, bs.jacrev):
            assert len(set(jacobian(scaled)(X).tolist())) == 1


def test_tasks_that_take_turns_have_contexts_of_their_own() -> None:
    async def asked(other: asyncio.Event, own: asyncio.Event) -> bool:
        own.set()
        await other.wait()
        return nn.is_training()

    async def trained(other: asyncio.Event, own: asyncio.Event) -> bool:
        with nn.training(0):
            return await asked(other, own)

    async def together() -> list[bool]:
        one, other = asyncio.Event(), asyncio.Event()
        with nn.training(1):
            inherited = asyncio.create_task(asked(one, other))
        return [*await asyncio.gather(trained(other, one), asked(one, other), inherited)]

    assert asyncio.run(together()) == [True, False, True]
