"""What modules leave inside loops, choices, lanes and compiled functions comes out of them, as it
comes out of the same program without them."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.draw_regions import Mean, collected

ROWS = bs.asarray([[1.0, 3.0], [2.0, 6.0], [0.0, 5.0]])
YES, NO = bs.asarray(True), bs.asarray(False)


class Latest(nn.Module):
    """Leaves what it is called with, whatever that is."""

    def __init__(self) -> None:
        self.kept = nn.Buffer(bs.asarray(0.0))

    def forward(self, x: Any) -> Any:
        self.update(kept=x)
        return x


def by_python(body: Any, carry: Any, rows: Any, reverse: bool = False) -> Any:
    """A scan as Python says it."""
    outputs: list[Any] = []
    for row in [*rows][:: -1 if reverse else 1]:
        carry, output = body(carry, row)
        outputs.append(output)
    return carry, bs.stack(outputs[:: -1 if reverse else 1])


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
def test_a_scan_hands_on_what_its_last_turn_leaves(reverse: bool) -> None:
    model, other = nn.Sequential(Mean(1.0)), Mean()

    def body(carry: Any, row: Any) -> Any:
        return carry + other(model(row)), row.sum()

    def run(loop: Any) -> Any:
        return collected(lambda: loop(body, bs.zeros(2), ROWS, reverse=reverse), model, other)

    assert run(bs.scan) == run(by_python)


@pytest.mark.parametrize("length", [0, 2])
def test_a_scan_without_turns_leaves_what_was_left_before(length: int) -> None:
    model, x = Mean(3.0), bs.ones(2)

    def turn(carry: Any, _: Any) -> Any:
        return model(carry), None

    def run(loop: Any) -> Any:
        return collected(lambda: (model(7 * x), loop())[1], model)

    def by_hand() -> Any:
        carry = x
        for _ in range(length):
            carry, _ = turn(carry, None)
        return carry

    assert run(lambda: bs.scan(turn, x, length=length)[0]) == run(by_hand)


def test_layers_that_a_scan_steps_through_are_updated_each() -> None:
    layers = [Mean(1.0), Mean(2.0), Mean(5.0)]
    stack = bs.tree_map(lambda *leaves: bs.stack(leaves), *layers)
    with nn.training() as context:
        last, _ = bs.scan(lambda x, layer: (layer(x), None), ROWS[0], stack)
        made = context.updated(stack)
    with nn.training() as context:
        x = ROWS[0]
        for layer in layers:
            x = layer(x)
        expected = [context.updated(layer).mean.item() for layer in layers]
    assert (made.mean.tolist(), last.tolist()) == (expected, x.tolist())
    assert made.count.tolist() == [1, 1, 1]


def test_a_loop_may_carry_a_module_and_take_what_it_leaves_at_each_turn() -> None:
    def turn(model: Any, row: Any) -> Any:
        with nn.training() as context:
            made = model(row)
        return context.updated(model), made

    with nn.training() as context:
        model, made = bs.scan(turn, Mean(1.0), ROWS)
        expected, values = by_python(turn, Mean(1.0), ROWS)
        assert context.updated(model) is model
    assert (model.mean.item(), model.count.item()) == (expected.mean.item(), 3)
    assert made.tolist() == values.tolist()


def test_a_loop_may_carry_what_is_made_of_a_module_by_mapping_it() -> None:
    def turn(model: Any, row: Any) -> Any:
        return model.map(lambda leaf: leaf + 1), model(row)

    model = Mean(1.0)

    def run(loop: Any) -> Any:
        return collected(lambda: loop(turn, model, ROWS)[1], model)

    assert run(bs.scan) == run(by_python)


def test_a_module_that_a_loop_carries_unchanged_leaves_what_the_last_turn_does() -> None:
    def turn(carry: Any, row: Any) -> Any:
        model, total = carry
        return (model, total + model(row)), None

    model = Mean(1.0)
    with nn.training() as context:
        (_, total), _ = bs.scan(turn, (model, bs.zeros(2)), ROWS)
        made = context.updated(model)
    assert (made.mean.item(), made.count.item()) == (3.0, 1)
    assert total.tolist() == [9.0, 31.0]


def changing(model: Any) -> Any:
    model(ROWS[0])
    return model.replace(weight=model.weight + 1)


@pytest.mark.parametrize(
    "loop",
    [
        lambda model: bs.scan(lambda m, _: (changing(m), None), model, length=2),
        lambda model: bs.while_loop(lambda m: m.weight < 4, changing, model),
        lambda model: bs.while_loop(lambda m: m.weight < 4, changing, model, max_steps=3),
    ],
    ids=["scan", "while", "bounded"],
)
def test_a_loop_that_changes_the_module_which_it_carries_takes_updates_itself(loop: Any) -> None:
    with nn.training(), pytest.raises(bs.TracedValueError, match=r"context\.updated"):
        loop(Mean())
    bs.grad(lambda x: x * (bs.fori_loop(0, 2, lambda _, m: changing(m), Mean()).weight))(1.0)


@pytest.mark.parametrize("limit", [None, 5], ids=["endless", "bounded"])
@pytest.mark.parametrize("turns", [0, 1, 3])
def test_a_while_loop_hands_on_what_its_last_turn_leaves(turns: int, limit: int | None) -> None:
    model = Mean(1.0)

    def body(carry: Any) -> Any:
        return carry[0] + 1, model(carry[1])

    def by_hand() -> Any:
        carry = bs.asarray(0), ROWS[0]
        for _ in range(turns):
            carry = body(carry)
        return carry

    def looped() -> Any:
        start = bs.asarray(0), ROWS[0]
        return bs.while_loop(lambda carry: carry[0] < turns, body, start, limit)

    assert collected(looped, model) == collected(by_hand, model)


def test_the_condition_of_a_loop_leaves_nothing() -> None:
    model = Mean()
    for limit in (None, 3):
        with nn.training(), pytest.raises(bs.TracedValueError, match="condition of a `while_loop`"):
            bs.while_loop(lambda x: model(x) < 3, lambda x: x + 1, bs.asarray(0.0), limit)


@pytest.mark.parametrize("before", [False, True], ids=["first", "again"])
@pytest.mark.parametrize("holds", [YES, NO], ids=["yes", "no"])
@pytest.mark.parametrize("branches", ["one", "both", "other", "neither"])
def test_a_choice_hands_on_what_its_branch_leaves(branches: str, holds: Any, before: bool) -> None:
    model, other = Mean(1.0), Mean(2.0)
    first: Any = model if branches in ("one", "both") else bs.negative
    second: Any = {"both": model, "other": other}.get(branches, bs.abs)

    def program(choose: Any) -> Any:
        return collected(lambda: ([model(ROWS[2])] * before, choose())[1], model, other)

    def by_hand() -> Any:
        return first(ROWS[0]) if holds else second(ROWS[0])

    assert program(lambda: bs.cond(holds, first, second, ROWS[0])) == program(by_hand)


def test_what_a_choice_may_leave_has_the_type_that_was_there() -> None:
    model = Latest()
    with nn.training() as context:
        bs.cond(YES, model, lambda x: x, ROWS[0])
        with pytest.raises(bs.ShapeError, match=r"Latest\.update: kept becomes"):
            context.updated(model)
        model(ROWS[1])
        assert context.updated(model).kept.tolist() == [2.0, 6.0]
    with nn.training() as context:
        assert bs.scan(lambda carry, row: (model(row), None), ROWS[0], ROWS)[0].shape == (2,)
        assert context.updated(model).kept.tolist() == [0.0, 5.0]
    with nn.training(), pytest.raises(bs.ShapeError, match="where it is not"):
        bs.cond(YES, lambda: model(ROWS[0]).sum(), lambda: model(ROWS).sum())


def test_modules_that_are_arguments_of_a_choice_are_updated() -> None:
    model = nn.Sequential(Mean(1.0))
    with nn.training() as context:
        bs.cond(YES, lambda m, x: m(x), lambda m, x: x, model, ROWS[0])
        assert context.updated(model)[0].mean.item() == 2.5


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_an_ensemble_is_updated_model_by_model(axis: int) -> None:
    models = [nn.BatchNorm1d(2), nn.BatchNorm1d(2).map(lambda leaf: leaf + 1)]
    inputs = bs.stack([ROWS, 2 * ROWS])
    stack = bs.tree_map(lambda *leaves: bs.stack(leaves), *models)
    whole = bs.tree_map(lambda leaf: bs.moveaxis(leaf, 0, axis if leaf.ndim > 1 else 0), stack)
    axes = bs.tree_map(lambda leaf: axis if leaf.ndim > 1 else 0, whole)
    with nn.training() as context:
        bs.vmap(lambda model, x: model(x), in_axes=(axes, 0))(whole, inputs)
        made = context.updated(whole)
        for model, x in zip(models, inputs, strict=True):
            model(x)
        expected = [context.updated(model) for model in models]
    for name, value in made.buffers().items():
        rows = bs.moveaxis(value, axis if value.ndim > 1 else 0, 0)
        for row, model in zip(rows, expected, strict=True):
            np.testing.assert_allclose(row.numpy(), model.buffers()[name].numpy(), rtol=1e-6)


def test_lanes_that_share_a_module_leave_what_is_the_same_for_all() -> None:
    class Shared(nn.Module):
        def __init__(self) -> None:
            self.mean = nn.Buffer(bs.asarray(0.0))

        def forward(self, x: Any) -> Any:
            self.update(mean=bs.all_reduce(x.mean(), "batch") / 3)
            return x - self.mean

    model = Shared()
    with nn.training() as context:
        bs.vmap(model, axis_name="batch")(ROWS)
        assert context.updated(model).mean.item() == pytest.approx(ROWS.mean().item())
    for shared in (
        lambda: bs.vmap(Mean())(ROWS),
        lambda: bs.vmap(calling, (None, 0))(Mean(), ROWS),
    ):
        with nn.training(), pytest.raises(bs.TracedValueError, match="all lanes share the module"):
            shared()


def calling(model: Any, x: Any) -> Any:
    return model(x)


def test_a_choice_in_each_lane_updates_these_lanes() -> None:
    stack = bs.tree_map(lambda *leaves: bs.stack(leaves), Mean(1.0), Mean(2.0), Mean(3.0))

    def lane(model: Any, row: Any) -> Any:
        return bs.cond(row[0] > 0.5, model, lambda x: x, row)

    with nn.training() as context:
        bs.vmap(lane)(stack, ROWS)
        made = context.updated(stack)
    assert (made.mean.tolist(), made.count.tolist()) == ([2.5, 5.0, 3.0], [1, 1, 0])
    shared = Mean()
    with nn.training(), pytest.raises(bs.TracedValueError, match="in some lanes"):
        bs.vmap(lambda row: bs.cond(row[0] > 0.5, shared, lambda x: x, row))(ROWS)


def nested(model: Any, rows: Any) -> Any:
    """A scan with a choice in it, in a checkpoint."""

    def turn(carry: Any, row: Any) -> Any:
        return bs.cond(row[0] > 0.5, lambda x: carry + model(x), lambda x: carry - x, row), None

    return bs.checkpoint(lambda rows: bs.scan(turn, bs.zeros(2), rows)[0])(rows).sum()


def nested_by_python(model: Any, rows: Any) -> Any:
    carry = bs.zeros(2)
    for row in rows:
        carry = carry + model(row) if row[0].item() > 0.5 else carry - row
    return carry.sum()


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_gradients_go_through_and_updates_come_out_of_all_at_once(compiled: bool) -> None:
    model = Mean(1.0)

    def step(model: Any, rows: Any) -> Any:
        return bs.value_and_grad(nested, updates=True)(model, rows)

    with nn.training() as context:
        run = bs.jit(step) if compiled else step
        (value, made), slope = run(model, ROWS)
        assert context.updated(model) is model
        expected = nested_by_python(model, ROWS)
        after = context.updated(model)
    assert (made.mean.item(), made.count.item()) == (after.mean.item(), 1)
    assert value.item() == expected.item()
    assert slope.weight.item() == 12.0


def test_a_checkpoint_leaves_a_value_once() -> None:
    model = Mean()
    with nn.training():
        both = bs.value_and_grad(lambda m, x: bs.checkpoint(m)(x).sum(), updates=True)
        (_, made), _ = both(model, ROWS)
    assert made.count.item() == 1


@pytest.mark.parametrize("where", ["argument", "keyword", "outside", "method"])
def test_a_compiled_function_hands_updates_on(where: str) -> None:
    model = nn.Sequential(Mean(1.0))
    run: dict[str, Any] = {
        "argument": lambda call: call(model, ROWS),
        "keyword": lambda call: call(x=ROWS, model=model),
        "outside": lambda _: bs.jit(lambda rows: model(x=rows))(ROWS),
        "method": lambda _: bs.jit(model)(ROWS),
    }
    compiled = bs.jit(lambda model, x: model(x))
    for count in (1, 2):
        with nn.training() as context:
            run[where](compiled)
            made = context.updated(model)
        assert (made[0].mean.item(), made[0].count.item()) == (pytest.approx(10 / 3), count)
        model = nn.Sequential(made[0].replace(mean=bs.asarray(1.0)))


def test_what_others_than_the_differentiated_arguments_leave_is_left_outside() -> None:
    inner, outer = Mean(1.0), Mean(2.0)

    def loss(model: Any, other: Any, x: Any) -> Any:
        return (outer(x) + model(x) + other(x)).sum()

    both = bs.value_and_grad(loss, updates=True)
    with nn.training() as context:
        (_, made), _ = both(inner, outer.map(lambda leaf: leaf), ROWS)
        assert context.updated(outer).count.item() == 1
        assert context.updated(inner) is inner
        assert made.count.item() == 1
    always = Latest()
    with pytest.raises(bs.TracedValueError, match=r"Latest\.kept is updated, and is no part"):
        bs.value_and_grad(lambda x: always(x).sum(), updates=True)(ROWS)
    with nn.training() as context:
        bs.value_and_grad(lambda x: always(x).sum(), updates=True)(ROWS)
        assert context.updated(always).kept.tolist() == ROWS.tolist()


def test_a_region_is_asked_for_updates_when_it_has_ended() -> None:
    model = Mean()

    def turn(context: Any, row: Any) -> Any:
        model(row)
        return context.updated(model).mean

    with nn.training() as context:
        for region in (
            lambda: bs.scan(lambda c, row: (c, turn(context, row)), 0.0, ROWS),
            lambda: bs.checkpoint(lambda row: turn(context, row))(ROWS),
            lambda: bs.vmap(lambda row: turn(context, row))(ROWS),
        ):
            with pytest.raises(bs.TracedValueError, match="hands it on when it ends"):
                region()


def test_derivatives_alone_drop_what_regions_leave() -> None:
    model = Mean(1.0)

    def loss(x: Any) -> Any:
        return bs.scan(lambda c, row: (c + model(row).sum(), None), bs.asarray(0.0), x)[0]

    with nn.training() as context:
        assert bs.grad(loss)(ROWS).tolist() == [[2.0, 2.0]] * 3
        assert bs.jvp(loss, (ROWS,), (ROWS,))[1].item() == 34.0
        assert bs.grad(lambda x: bs.checkpoint(model)(x).sum())(ROWS)[0, 0].item() == 2.0
        assert context.updated(model) is model


REGIONS: dict[str, Any] = {
    "scan": lambda norm, x: bs.scan(lambda c, _: (c + norm(x).sum(), None), x.sum(), length=2)[0],
    "cond": lambda norm, x: bs.cond(x.sum() > 0, norm, bs.abs, x).sum(),
    "nested": lambda norm, x: bs.checkpoint(lambda x: bs.cond(YES, norm, bs.abs, x))(x).sum(),
    "jit": lambda norm, x: bs.jit(norm)(x).sum(),
}


@pytest.mark.parametrize("region", REGIONS)
def test_means_keep_no_history_and_other_values_keep_theirs(region: str) -> None:
    weight, norm, latest = bs.tensor([1.0, 2.0], requires_grad=True), nn.BatchNorm1d(2), Latest()
    with nn.training() as context:
        REGIONS[region](norm, weight * ROWS)
        assert not any([each.requires_grad for each in context.updated(norm).buffers().values()])
        bs.scan(lambda carry, row: (carry, latest(row * weight).sum()), 0.0, ROWS)
        slope = (context.updated(latest).kept ** 2).sum().backward()[weight]
    assert slope.tolist() == [0.0, 100.0]
