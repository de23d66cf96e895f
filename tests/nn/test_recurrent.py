"""Recurrent layers and cells against their formulas, written out one sequence at a time."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from brimstone.runtime.steps import STATISTICS
from kit.mistakes import Mistake, check
from kit.sequences import Array, arrays_of, check_slopes, drawn, spread

SIZES: dict[str, Any] = {"input_size": 3, "hidden_size": 4}
Weights = dict[str, Array]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gates(x: Array, h: Array, own: Weights) -> tuple[Array, Array]:
    """What the input and what the state add to each gate."""
    from_input = own["weight_ih"] @ x + own.get("bias_ih", 0)
    return from_input, own["weight_hh"] @ h + own.get("bias_hh", 0)


def rnn(x: Array, h: Array, _: Array, own: Weights) -> tuple[Array, Array]:
    return np.tanh(sum(gates(x, h, own))), h


def rectified(x: Array, h: Array, _: Array, own: Weights) -> tuple[Array, Array]:
    return np.maximum(sum(gates(x, h, own)), 0), h


def gru(x: Array, h: Array, _: Array, own: Weights) -> tuple[Array, Array]:
    (r, z, n), (r_h, z_h, n_h) = (np.split(each, 3) for each in gates(x, h, own))
    reset, update = sigmoid(r + r_h), sigmoid(z + z_h)
    return (1 - update) * np.tanh(n + reset * n_h) + update * h, h


def lstm(x: Array, h: Array, c: Array, own: Weights) -> tuple[Array, Array]:
    enter, forget, new, leave = np.split(sum(gates(x, h, own)), 4)
    c = sigmoid(forget) * c + sigmoid(enter) * np.tanh(new)
    h = sigmoid(leave) * np.tanh(c)
    return own["weight_hr"] @ h if "weight_hr" in own else h, c


CASES: dict[str, Any] = {
    "rnn": (nn.RNN, rnn, {}),
    "rnn, rectified": (nn.RNN, rectified, {"nonlinearity": "relu", "bidirectional": True}),
    "gru": (nn.GRU, gru, {}),
    "gru, no bias": (nn.GRU, gru, {"bias": False, "num_layers": 2}),
    "gru, all": (nn.GRU, gru, {"bidirectional": True, "num_layers": 2}),
    "lstm": (nn.LSTM, lstm, {}),
    "lstm, all": (nn.LSTM, lstm, {"bidirectional": True, "num_layers": 2}),
    "lstm, projected": (nn.LSTM, lstm, {"proj_size": 2, "num_layers": 2, "bidirectional": True}),
}


def written(step: Any, model: Any, x: Array, states: tuple[Array, Array]) -> Any:
    """The outputs for one sequence [length, size], and the last states, one layer at a time."""
    arrays, lasts = arrays_of(model), []
    for layer in range(model.num_layers):
        outputs = []
        for direction in range(model.directions):
            suffix = f"_l{layer}" + "_reverse" * direction
            own = {k.removesuffix(suffix): v for k, v in arrays.items() if k.endswith(suffix)}
            place = layer * model.directions + direction
            h, c = (each[place] for each in states)
            made = []
            for each in x[:: -1 if direction else 1]:
                h, c = step(each, h, c, own)
                made.append(h)
            outputs.append(np.array(made).reshape(-1, h.size)[:: -1 if direction else 1])
            lasts.append((h, c))
        x = np.concatenate(outputs, axis=-1)
    return x, *[np.stack(each) for each in zip(*lasts, strict=True)]


def made(name: str) -> tuple[Any, Any]:
    """A model, and its formulas."""
    cls, step, options = CASES[name]
    return spread(cls(**SIZES, **options, dtype=bs.float64)), step


def states_of(model: Any, *batch: int) -> tuple[Array, Array]:
    """States to begin with; what a cell keeps is not there but in an LSTM."""
    count = model.num_layers * model.directions
    return drawn(count, *batch, model.output_size), drawn(count, *batch, model.hidden_size)


def called(model: Any, x: Array, states: tuple[Array, Array] | None, **options: Any) -> list[Array]:
    """The output and the last states, one after the other."""
    hx: Any = None if states is None else tuple(map(bs.asarray, states))
    if hx is not None and not isinstance(model, nn.LSTM):
        hx = hx[0]
    outputs, last = model(bs.asarray(x), hx, **options)
    lasts = last if isinstance(last, tuple) else (last,)
    return [each.numpy() for each in (outputs, *lasts)]


def close(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_outputs_and_states_are_those_of_the_formulas(name: str) -> None:
    model, step = made(name)
    x, states = drawn(2, 3, 3), states_of(model, 2)
    found = called(model, x, states)
    for place in range(2):
        expected = written(step, model, x[place], (states[0][:, place], states[1][:, place]))
        close([found[0][place], *[each[:, place] for each in found[1:]]], expected)


@pytest.mark.parametrize("name", CASES)
def test_what_is_beyond_a_length_does_not_count(name: str) -> None:
    model, step = made(name)
    x, lengths = drawn(3, 4, 3), [4, 1, 2]
    found = called(model, x, None, lengths=lengths)
    zeros: Any = tuple([np.zeros_like(each) for each in states_of(model)])
    for place, length in enumerate(lengths):
        outputs, *lasts = written(step, model, x[place, :length], zeros)
        padded = np.pad(outputs, ((0, 4 - length), (0, 0)))
        close([found[0][place], *[each[:, place] for each in found[1:]]], [padded, *lasts])


@pytest.mark.parametrize("name", ["gru, all", "lstm, projected"])
def test_a_batch_may_come_second_or_not_at_all(name: str) -> None:
    model, _ = made(name)
    x, states = drawn(1, 3, 3), states_of(model, 1)
    expected = called(model, x, states)
    second = called(model.replace(batch_first=False), x.swapaxes(0, 1), states)
    close([second[0].swapaxes(0, 1), *second[1:]], expected)
    for each in (model, model.replace(batch_first=False)):
        alone = called(each, x[0], (states[0][:, 0], states[1][:, 0]))
        close(alone, [expected[0][0], *[last[:, 0] for last in expected[1:]]])


def test_one_step_and_none() -> None:
    model, step = made("lstm, all")
    x, states = drawn(1, 1, 3), states_of(model, 1)
    whole = written(step, model, x[0], (states[0][:, 0], states[1][:, 0]))
    found = called(model, x, states)
    close([found[0][0], *[each[:, 0] for each in found[1:]]], whole)
    outputs, *last = called(model, x[:, :0], states)
    assert outputs.shape == (1, 0, 8)
    close(last, states)


@pytest.mark.parametrize("name", ["rnn", "gru, all", "lstm, projected"])
def test_gradients_are_slopes(name: str) -> None:
    model, _ = made(name)
    x, by = bs.asarray(drawn(2, 3, 3)), drawn(2, 3, model.output_size * model.directions)

    def loss(tree: Any) -> Any:
        ours, inputs = tree
        outputs, last = ours(inputs, lengths=[3, 2])
        lasts = last if isinstance(last, tuple) else (last,)
        return (outputs * by).sum() + sum([(each * each).sum() for each in lasts])

    check_slopes(loss, (model, x))


CELLS = {
    "rnn": (nn.RNNCell, rnn, {}),
    "rnn, rectified": (partial(nn.RNNCell, nonlinearity="relu"), rectified, {}),
    "gru": (nn.GRUCell, gru, {}),
    "gru, no bias": (partial(nn.GRUCell, bias=False), gru, {}),
    "lstm": (nn.LSTMCell, lstm, {}),
}


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("begun", [True, False])
def test_a_cell_is_one_step(name: str, begun: bool) -> None:
    make, step, _ = CELLS[name]
    cell = spread(make(3, 4, dtype=bs.float64))
    x, h, c = drawn(2, 3), drawn(2, 4) * begun, drawn(2, 4) * begun
    is_pair = isinstance(cell, nn.LSTMCell)
    hx = (bs.asarray(h), bs.asarray(c)) if is_pair else bs.asarray(h)
    result = cell(bs.asarray(x), hx if begun else None)
    found = [each.numpy() for each in (result if is_pair else (result,))]
    for place in range(2):
        expected = step(x[place], h[place], c[place], arrays_of(cell))
        close([each[place] for each in found], expected)


def test_dropout_is_between_layers_and_only_in_training() -> None:
    x = drawn(2, 3, 3)
    one = spread(nn.GRU(**SIZES, dropout=0.5, dtype=bs.float64))
    two = spread(nn.GRU(**SIZES, dropout=1.0, num_layers=2, dtype=bs.float64))
    with nn.training(3):
        close(called(one, x, None), called(one.replace(dropout=0.0), x, None))
        dropped = called(two, x, None)
    arrays = {k: v for k, v in arrays_of(two).items() if k.endswith("_l1")}
    own = {k.removesuffix("_l1"): v for k, v in arrays.items()}
    h = np.zeros(4)
    for at in range(3):
        h, _ = gru(np.zeros(4), h, h, own)
        np.testing.assert_allclose(dropped[0][0, at], h, rtol=1e-12)


def test_new_batches_are_not_traced_and_new_lengths_compile_nothing() -> None:
    model, traced = nn.LSTM(**SIZES, num_layers=2, bidirectional=True), []

    def outputs(model: Any, x: Any) -> Any:
        traced.append(x)
        return model(x)[0]

    step = bs.jit(outputs)
    for batch in (5, 6, 9):
        assert step(model, bs.ones((batch, 7, 3))).shape == (batch, 7, 8)
    assert len(traced) == 1
    before = STATISTICS.compiled
    for length in (6, 11):
        assert step(model, bs.ones((5, length, 3))).shape == (5, length, 8)
    assert STATISTICS.compiled == before


def test_lengths_may_be_a_tensor_of_a_compiled_step() -> None:
    model, _ = made("lstm, all")
    x = bs.asarray(drawn(3, 4, 3))
    step = bs.jit(lambda x, lengths: model(x, lengths=lengths)[0])
    for lengths in ([4, 1, 2], [2, 3, 0]):
        expected = model(x, lengths=lengths)[0].numpy()
        close([step(x, bs.asarray(lengths)).numpy()], [expected])
    assert len(step.plans) == 1


@pytest.mark.parametrize("cls", [nn.RNN, nn.GRU, nn.LSTM])
def test_weights_begin_small_each_with_a_key_of_its_own(cls: Any) -> None:
    key = bs.random.key(7)
    one, same = (arrays_of(cls(4, 16, 2, key=key)) for _ in range(2))
    for name, weight in one.items():
        assert 0.1 < np.abs(weight).max() <= 1 / 4
        np.testing.assert_array_equal(weight, same[name])
    assert len({weight.tobytes() for weight in one.values()}) == len(one) == 8


def test_narrow_floats_stay_narrow() -> None:
    model = nn.GRU(3, 4, dtype=bs.bfloat16)
    outputs, last = model(bs.ones((2, 3, 3), dtype=bs.bfloat16), lengths=[3, 1])
    assert outputs.dtype == last.dtype == bs.bfloat16


def test_examples_may_be_mapped() -> None:
    model, _ = made("gru, all")
    x = bs.asarray(drawn(2, 3, 3))
    mapped = bs.vmap(lambda each: model(each)[0])(x)
    close([mapped.numpy()], [model(x)[0].numpy()])


GRU, LSTM = nn.GRU(**SIZES), nn.LSTM(**SIZES)
X = bs.zeros((2, 5, 3))
MISTAKES = {
    "no layers": Mistake(lambda: nn.GRU(3, 4, 0), bs.ArgumentError, "num_layers is at least 1"),
    "no inputs": Mistake(lambda: nn.GRU(0, 4), bs.ArgumentError, "input_size is at least 1"),
    "wide projection": Mistake(
        lambda: nn.LSTM(3, 4, proj_size=4), bs.ArgumentError, "proj_size is less than hidden_size"),
    "no probability": Mistake(lambda: nn.GRU(3, 4, dropout=1.5), bs.ArgumentError, "1.5"),
    "other function": Mistake(
        lambda: nn.RNN(3, 4, nonlinearity="sine"),  # pyright: ignore[reportArgumentType]
        bs.ArgumentError, 'nonlinearity is "tanh" or "relu"'),
    "other function of a cell": Mistake(
        lambda: nn.RNNCell(3, 4, nonlinearity="sine"),  # pyright: ignore[reportArgumentType]
        bs.ArgumentError, 'nonlinearity is "tanh" or "relu"'),
    "narrow inputs": Mistake(
        lambda: GRU(bs.zeros((2, 5, 2))), bs.ShapeError, "takes inputs [batch, length, 3]"),
    "too many axes": Mistake(
        lambda: GRU(bs.zeros((1, 2, 5, 3))), bs.ShapeError, "takes inputs [batch, length, 3]"),
    "other state": Mistake(
        lambda: GRU(X, bs.zeros((1, 3, 4))), bs.ShapeError, "takes a state [1, 2, 4]"),
    "half a state": Mistake(
        lambda: LSTM(X, bs.zeros((1, 2, 4))),  # pyright: ignore[reportArgumentType]
        bs.ArgumentError, "the state is a pair"),
    "other lengths": Mistake(
        lambda: GRU(X, lengths=[1, 2, 3]), bs.ShapeError, "one length for each sequence"),
    "long lengths": Mistake(
        lambda: GRU(X, lengths=[1, 6]), bs.ArgumentError, "lengths are from 0 to 5"),
    "broken lengths": Mistake(
        lambda: GRU(X, lengths=[1.0, 2.0]), bs.DTypeError, "lengths are integers"),
    "one length": Mistake(lambda: GRU(X, lengths=3), bs.ShapeError, "has one axis"),
    "narrow inputs of a cell": Mistake(
        lambda: nn.GRUCell(3, 4)(bs.zeros((2, 5))), bs.ShapeError, "last axes are [3]"),
    "one number for a cell": Mistake(
        lambda: nn.RNNCell(3, 4)(bs.asarray(1.0)), bs.ShapeError, "last axes are [3]"),
    "other state of a cell": Mistake(
        lambda: nn.GRUCell(3, 4)(bs.zeros((2, 3)), bs.zeros((2, 3))), bs.ShapeError,
        "takes a state [..., 4]"),
    "half a state of a cell": Mistake(
        lambda: nn.LSTMCell(3, 4)(bs.zeros((2, 3)), bs.zeros((2, 4))),  # pyright: ignore[reportArgumentType]
        bs.ArgumentError, "the state is a pair"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(name: str) -> None:
    check(MISTAKES[name])
