"""Recordings done in pieces that are compiled already: when, and that nobody can tell."""

import tracemalloc
from collections import deque
from collections.abc import Callable
from random import Random
from threading import Thread
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend import cuts, force
from brimstone.frontend.ready import Piece
from brimstone.frontend.recording import Recording, gather
from brimstone.ir.shared.cache import Cache
from brimstone.runtime.steps import STATISTICS
from kit.unprepared import nothing_is_prepared


class Watch:
    """How many pieces have been found, and switches to find none."""

    def __init__(self) -> None:
        self.pieces = 0
        self.on = True

    def cut(self, recording: Recording, *rest: Any) -> deque[Piece]:
        """What `cuts.cut` gives, counted."""
        found = cuts.cut(recording, *rest) if self.on else deque[Piece]()
        self.pieces += len(found)
        return found


@pytest.fixture(autouse=True)
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Nothing is compiled yet, and what is cut is counted."""
    nothing_is_prepared(monkeypatch)
    watch = Watch()
    monkeypatch.setattr(cuts, "_TIMES", Cache[int, Any](4096))
    monkeypatch.setattr(force, "cut", watch.cut)
    return watch


def planned() -> int:
    """How many steps have been made, of a text that was met before or not."""
    return STATISTICS.planned


def start(size: int = 5) -> bs.Tensor:
    return bs.asarray(np.linspace(-1, 1, size))


def body(x: bs.Tensor) -> bs.Tensor:
    """Numbers, equal nodes, a dead branch, and an op with several results."""
    bs.sin(x)
    doubled = x * 2.0 + x * 2.0
    values, places = bs.linalg.qr(bs.stack([x, doubled + 1.0]))
    return bs.tanh(doubled * 0.25) + (values @ places)[0] * 0.125


def loop(lengths: list[int], run: Callable[[bs.Tensor], bs.Tensor] = body) -> list[np.ndarray]:
    """What is read of a loop after so many iterations each."""
    x, read = start(), list[np.ndarray]()
    for length in lengths:
        for _ in range(length):
            x = run(x)
        read.append(x.numpy())
    return read


def uncut(watch: Watch, run: Callable[[], Any]) -> Any:
    """The same without cuts."""
    watch.on = False
    found = run()
    watch.on = True
    return found


def same(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("lengths", "steps"),
    [
        ([1, 30], 1),
        ([3, 5, 7, 4, 11], 3),
        ([3, 5, 7] * 4, 3),
        ([2, 3, 5, 4, 9, 1, 8, 6, 7], 2),
        ([40, 1, 40, 39], 2),
    ],
)
def test_reading_at_uneven_intervals_compiles_few_steps(
    lengths: list[int], steps: int, watch: Watch
) -> None:
    before = planned()
    found = loop(lengths)
    assert planned() - before == steps
    assert watch.pieces
    same(found, uncut(watch, lambda: loop(lengths)))


def test_intervals_drawn_at_random_compile_few_steps() -> None:
    random, before = Random(0), planned()
    loop([random.randint(1, 30) for _ in range(50)])
    assert planned() - before <= 6


def test_what_a_step_returns_beyond_need_is_dropped(watch: Watch) -> None:
    x = start()
    middle = bs.tanh(x)
    last = bs.sin(middle)
    bs.sync(middle, last)  # a step that returns both
    before = planned()
    found = bs.sin(bs.tanh(bs.sin(bs.tanh(x)))).numpy()
    assert (planned() - before, watch.pieces) == (0, 2)
    np.testing.assert_array_equal(found, np.sin(np.tanh(np.sin(np.tanh(x.numpy())))))


def test_what_is_needed_of_a_piece_must_be_returned(watch: Watch) -> None:
    x = start()
    bs.sin(bs.tanh(x)).sync()  # a step that returns the last alone
    middle = bs.tanh(x)
    last = bs.sin(middle)
    again = bs.sin(bs.tanh(last))
    before = planned()
    bs.sync(middle, last, again)
    assert (planned() - before, watch.pieces) == (1, 0)
    wanted_later = bs.tanh(x)
    (bs.sin(wanted_later) + wanted_later).sync()
    assert watch.pieces == 0


def test_pieces_of_less_than_half_are_none(watch: Watch) -> None:
    x = start()
    bs.tanh(x).sync()
    before = planned()
    bs.cos(bs.sin(bs.tanh(x))).sync()
    assert (planned() - before, watch.pieces) == (1, 0)
    bs.exp(bs.tanh(x)).sync()
    assert (planned() - before, watch.pieces) == (2, 1)


def test_a_called_function_weighs_what_it_does(watch: Watch) -> None:
    x = start()
    bs.tanh(x).sync()
    before = planned()
    bs.vmap(lambda one: bs.cos(bs.sin(one)))(bs.tanh(x)).sync()
    assert (planned() - before, watch.pieces) == (1, 0)


def test_what_often_comes_in_pieces_is_compiled_as_one(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuts, "OFTEN", 3)
    loop([1])
    before = planned()
    for _ in range(3):
        loop([4])
    assert (planned() - before, watch.pieces) == (0, 12)
    loop([4])
    loop([4])
    assert (planned() - before, watch.pieces) == (1, 12)


def test_a_constant_may_be_older_than_the_program() -> None:
    x = start()
    bs.sync(x * 0.75)  # 0.75 is known from here on, 0.8125 is not

    def run() -> Any:
        return gather([(x * 0.8125 + 0.75).node]).key

    assert run() == run()


def test_equal_tensors_get_a_buffer_each(watch: Watch) -> None:
    x = start()
    one, other = bs.tanh(x), bs.tanh(x)
    bs.sync(one, other)
    one, other = bs.tanh(x), bs.tanh(x)
    last = bs.sin(one + other)
    bs.sync(one, other, last)
    assert one.node.buffer is not other.node.buffer
    np.testing.assert_array_equal(last.numpy(), np.sin(2 * np.tanh(x.numpy())))


def test_no_cut_through_what_belongs_to_no_device_yet(watch: Watch) -> None:
    bs.tanh(bs.arange(3.0)).sync()
    middle = bs.tanh(bs.arange(3.0))
    bs.sin(middle).sync()
    assert watch.pieces == 0
    assert middle.node.device is not None  # it is wanted itself, so it was computed along


def test_looking_for_pieces_takes_linear_time(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0

    class Counting(cuts.Numbering):
        def extend(self, nodes: Any) -> None:
            nonlocal looked
            looked += 1
            super().extend(nodes)

    def run(x: bs.Tensor) -> bs.Tensor:
        return bs.sin(bs.tanh(x))

    uncut(watch, lambda: loop([200], run))
    loop([1], run)
    monkeypatch.setattr(cuts, "Numbering", Counting)
    before = planned()
    loop([199], run)
    assert (planned() - before, watch.pieces) == (0, 199)
    assert looked <= (2 * cuts.PATIENCE + 2) * 2 * 199


UNARY = (bs.tanh, bs.sin, lambda x: x * -0.5, lambda x: x + 0.25, body)


def draw(random: Random, values: list[bs.Tensor]) -> bs.Tensor:
    """A tensor made of others."""
    one, other = random.choice(values[-4:]), random.choice(values)
    kind = random.randrange(len(UNARY) + 3)
    if kind < len(UNARY):
        return UNARY[kind](one)
    if kind == len(UNARY):
        return bs.scan(lambda carry, row: (bs.tanh(carry + row), carry), one[0], other)[1]
    return bs.tanh(one + other) if kind == len(UNARY) + 1 else one * bs.arange(5.0) * 0.125


def program(seed: int, reads: set[int]) -> list[np.ndarray]:
    """Everything that a program computes; after some of its steps something is read."""
    random, values = Random(seed), [start()]
    for at in range(24):
        values.append(draw(random, values))
        if at in reads:
            values[-1].sync()
    return [value.numpy() for value in values]


@pytest.mark.parametrize("seed", range(30))
def test_programs_cut_anywhere_are_the_same(seed: int, watch: Watch) -> None:
    expected = uncut(watch, lambda: program(seed, set(range(24))))
    random = Random(1000 + seed)
    for _ in range(4):
        reads = {at for at in range(24) if random.random() < 0.2}
        same(program(seed, reads), expected)
    same(program(seed, {3, 6, 9, 12, 15, 18, 21}), expected)
    same(program(seed, {12}), expected)
    assert watch.pieces


WEIGHT = np.random.default_rng(3).normal(size=(5, 5)) * 0.3


def layers(lengths: list[int], recompute: bool = False) -> tuple[np.ndarray, int]:
    """The gradient of a loop of layers that is computed now and then, and how many segments."""
    weight = bs.tensor(WEIGHT, bs.float64, requires_grad=True)
    x = start()
    for length in lengths:
        for _ in range(length):
            x = bs.tanh(x @ weight) + x * 0.5
        force.force(x.node, recompute=recompute)
    count = segments(x.node)
    return (x * x).sum().backward()[weight].numpy(), count


def segments(node: Any) -> int:
    """How many computations a tensor comes from, one after another."""
    if node.history is None:
        return 0
    return 1 + max(segments(each) for each in node.history[0].inputs)


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("lengths", [[1, 1, 6], [2, 3, 5], [3, 1, 4, 1, 5]])
def test_gradients_through_cuts(lengths: list[int], recompute: bool, watch: Watch) -> None:
    expected, _ = uncut(watch, lambda: layers([sum(lengths)], recompute))
    found, count = layers(lengths, recompute)
    assert count > len(lengths)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_step_that_keeps_nothing_for_a_derivative_is_no_piece_of_one_that_must(
    watch: Watch,
) -> None:
    x, weight = start(), bs.tensor(WEIGHT, bs.float64, requires_grad=True)
    bs.tanh(x @ bs.asarray(WEIGHT)).sync()
    bs.tanh(bs.tanh(x @ weight) @ weight).sync()
    assert watch.pieces == 0


def test_a_failure_in_a_piece_names_its_own_line(watch: Watch) -> None:
    x = bs.asarray(np.arange(3.0))

    def pick(x: bs.Tensor, place: int) -> bs.Tensor:
        return bs.tanh(x)[bs.asarray(np.array([place, 0, 1]))]

    pick(x, 2).sync()
    sound = pick(pick(x, 1), 2)
    broken = bs.tanh(sound)[bs.asarray(np.array([7, 0, 1]))]
    line = str(broken.node.location)
    last = pick(broken, 1)
    with pytest.raises(IndexError, match="7") as caught:
        last.numpy()
    assert watch.pieces
    assert line in str(caught.value)
    expected = np.tanh(np.tanh([0, 1, 2])[[1, 0, 1]])[[2, 0, 1]]
    np.testing.assert_allclose(sound.numpy(), expected, rtol=1e-15)


def test_what_was_computed_before_a_failure_keeps_its_history(watch: Watch) -> None:
    weight = bs.tensor([0.5, 1.0, 1.5], bs.float64, requires_grad=True)

    def run() -> bs.Tensor:
        x = bs.tanh(weight)
        for _ in range(4):
            x = bs.sin(bs.cos(x))
        return x

    expected = run().sum().backward()[weight].numpy()
    run().sync()
    sound = run()
    broken = sound[bs.asarray(np.array([7]))]
    sound.sync()
    assert (watch.pieces, broken.pending, segments(sound.node)) == (1, True, 1)
    np.testing.assert_allclose(sound.sum().backward()[weight].numpy(), expected, rtol=1e-12)


def test_threads_cut_at_once() -> None:
    x = start()
    expected = [body(body(x)).numpy()]
    shared = x
    for _ in range(2):
        shared = body(shared)
    found: list[np.ndarray] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            found.append(shared.numpy())
            for length in (1, 2, 5, 3):
                own = x
                for _ in range(length):
                    own = body(own)
                expected_of[length].append(own.numpy())
        except BaseException as error:
            errors.append(error)

    expected_of: dict[int, list[np.ndarray]] = {1: [], 2: [], 5: [], 3: []}
    threads = [Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    same(found, expected * 6)
    for arrays in expected_of.values():
        assert len(arrays) == 6
        same(arrays, arrays[:1] * 6)


def test_what_others_recorded_is_cut_too(watch: Watch) -> None:
    loop([1])
    made: list[bs.Tensor] = []

    def record() -> None:
        made.append(body(body(start())))

    thread = Thread(target=record)
    thread.start()
    thread.join()
    before = planned()
    found = body(made[0]).numpy()
    assert (planned() - before, watch.pieces) == (0, 3)
    same([found], loop([3])[-1:])


def test_what_is_between_pieces_is_let_go(watch: Watch) -> None:
    def run(x: bs.Tensor) -> bs.Tensor:
        return bs.tanh(x) * 0.5

    size = 100_000
    bs.sync(run(start(size)))
    x = start(size)
    for _ in range(30):
        x = run(x)
    tracemalloc.start()
    x.sync()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert watch.pieces == 30
    assert most < 15 * size * 8  # about 4 here, 30 if all stayed; other threads allocate, too
