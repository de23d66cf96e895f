"""What a loop carries is updated in place: whatever its size, a step touches what it writes."""

from collections.abc import Callable
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir import step
from brimstone.ir.dims import Size, evaluate
from brimstone.ir.dtypes import boolean, f32, i64
from brimstone.ir.func import Module
from brimstone.ir.types import Array
from brimstone.ir.values import Op, walk
from brimstone.passes.generalise import generalise
from brimstone.passes.manager import run_pipeline
from brimstone.passes.pipelines import PREPARE
from brimstone.passes.places import is_copy
from brimstone.targets.llvm.descent import descend
from brimstone.targets.llvm.machines import MODELS

ROUNDS = 4
DTYPES = (boolean, i64, f32)
NUMBERS = [Array(shape, dtype) for shape in ((), (1,)) for dtype in DTYPES]
Function = Callable[..., Any]


def fori(body: Function) -> Function:
    return lambda *carries: bs.fori_loop(0, ROUNDS, body, carries)


def on_condition(body: Function) -> Function:
    def steps(state: Any) -> Any:
        return state[0] + 1, body(state[0], state[1])

    return lambda *carries: bs.while_loop(lambda state: state[0] < ROUNDS, steps, (0, carries))


def scanned(body: Function) -> Function:
    return lambda *carries: bs.scan(
        lambda carries, i: (body(i, carries), carries[0][i + 1]), carries, bs.arange(ROUNDS)
    )


def one(update: Function) -> Function:
    """A step of a loop that carries one array."""
    return lambda i, carries: (update(i, carries[0]),)


def inner(i: Any, x: Any) -> Any:
    return bs.fori_loop(0, 2, lambda j, x: x.at[i + j].set(x[i] + 1), x)


def chosen(i: Any, x: Any) -> Any:
    return bs.cond(x[i] > 0, lambda x: x.at[i].add(x[i + 1]), lambda x: x, x)


def two(i: Any, carries: Any) -> Any:
    x, y = carries
    return x.at[i].set(y[i + 1]), y.at[i].add(x[i + 1])


def read_after(i: Any, carries: Any) -> Any:
    x, last = carries
    return x.at[i].set(last[0]), last + x[i + 1]


UPDATES: dict[str, Function] = {
    "an element": one(lambda i, x: x.at[i].set(1.5)),
    "an element of others": one(lambda i, x: x.at[i + 1].set(x[i] * 0.5 + x[i + 2])),
    "a sum": one(lambda i, x: x.at[i % 2].add(x[i])),
    "two elements": one(lambda i, x: x.at[i].set(x[i + 1]).at[i + 1].multiply(x[i])),
    "the same one twice": one(lambda i, x: x.at[bs.stack([i, i])].add(bs.asarray([1.0, 2.0]))),
    "in another shape": one(lambda i, x: x.reshape(-1, 3).at[i, i % 3].set(x[i]).reshape(-1)),
    "in a loop inside": one(inner),
    "in a branch": one(chosen),
    "of two that read each other": two,
    "that is read for another one": read_after,
}
LITTLE: dict[str, Function] = {
    "a slice": lambda i, x: x.at[2:5, 0].set(x[i, 1]),
    "a sum in a slice": lambda i, x: x.at[-3:].add(x[i] * x[i + 1]),
    "a slice at steps": lambda i, x: x.at[7:1:-2].set(x[i] * 0.5),
    "a block": lambda i, x: x.at[1:3, 1:3].multiply(x[i, 0]),
    "a part of a row": lambda i, x: x.at[i, 1:3].set(x[i + 1, :2]),
    "a part of some rows": lambda i, x: x.at[bs.stack([i, i + 4]), ::2].add(x[i, None, 1:]),
    "a place in a new axis": lambda i, x: x.at[i, None, :2].set(x[i + 1, 1:]),
    "rows": lambda i, x: x.at[bs.stack([i, i % 3])].set(x[i] - 1),
    "a factor": lambda i, x: x.at[i, 0].multiply(x[i + 1, 2]),
    "the larger": lambda i, x: x.at[i].max(x[i + 1] * 0.5),
    "two elements changed about": lambda i, x: x.at[i].set(x[i + 3]).at[i + 3].set(x[i]),
    "one of a branch": lambda i, x: bs.cond(x[i, 0] > 0, lambda: x.at[i].add(x[i + 1]), lambda: x),
}
"""What a step updates of a carry of three columns."""
NARROW = "a slice", "a part of a row", "rows", "a factor", "the larger", "one of a branch"
"""Those that may be narrow floats: no two sums of an element are rounded together."""
GIVEN: dict[str, int] = {"of two that read each other": 2, "that is read for another one": 2}
LOOPS = {"fori": fori, "while": on_condition, "scan": scanned}


def given(name: str) -> list[np.ndarray]:
    rng = np.random.default_rng(len(name))
    return [rng.standard_normal(12).astype(np.float32) for _ in range(GIVEN.get(name, 1))]


def lowered(function: Function, *arguments: np.ndarray) -> Module:
    """The step, with its kernels."""
    traced = bs.jit(function).lower(*map(bs.asarray, arguments))
    module = Module([generalise(traced.ir.main).func])
    run_pipeline(module, PREPARE)
    return descend(module, MODELS["avx2"], apart=False, given=True)[0]


def copies(module: Module) -> list[str]:
    """What is copied whole in the loops of a step."""
    loops = [op for op in module.main.walk() if isinstance(op, step.Loop | step.While)]
    found: list[str] = []
    for op in walk([op for loop in loops for op in loop.body]):
        if isinstance(op, step.Copy) and op.source.type not in NUMBERS:
            found.append("step.copy")
        elif isinstance(op, step.Launch) and is_copy(module[op.kernel]):
            found += [op.kernel for array in op.reads if array.type not in NUMBERS]
    return found


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", UPDATES)
def test_no_step_copies_what_is_carried(name: str, loop: str) -> None:
    assert copies(lowered(LOOPS[loop](UPDATES[name]), *given(name))) == []


def programs(function: Function, rows: int, dtype: str = "float32") -> int:
    """How many programs, and elements copied by the host, all steps of loops are that are not of
    what surrounds the loops."""
    traced = bs.jit(function).lower(bs.zeros((rows, 3), dtype=dtype))
    general = generalise(traced.ir.main)
    module = Module([general.func])
    run_pipeline(module, PREPARE)
    module = descend(module, MODELS["avx2"], apart=False, given=True)[0]
    sizes = {each: general.sizes[each.name] for each in module.main.symbols}
    loops = [op for op in module.main.walk() if isinstance(op, step.Loop | step.While)]
    counts = [counted(op) for op in walk([op for loop in loops for op in loop.body])]
    return sum(evaluate(count, sizes) for count in counts)


def counted(op: Op) -> Size:
    if isinstance(op, step.Launch):
        return prod(op.grid)
    if isinstance(op, step.Copy | step.Fill):
        return prod((op.destination if isinstance(op, step.Copy) else op.array).type.shape)
    return 0


@pytest.mark.parametrize("name", LITTLE)
def test_no_step_looks_at_all_that_is_carried(name: str) -> None:
    function = fori(one(LITTLE[name]))
    assert programs(function, 5000) == programs(function, 50) > 0


@pytest.mark.parametrize("name", NARROW)
def test_nor_at_all_narrow_floats(name: str) -> None:
    function = fori(one(LITTLE[name]))
    assert programs(function, 5000, "bfloat16") == programs(function, 50, "bfloat16") > 0


@pytest.mark.parametrize("name", LITTLE)
def test_no_step_backward_looks_at_all_that_is_carried(name: str) -> None:
    def gradient(x: Any) -> Any:
        return bs.grad(lambda x: bs.sum(fori(one(LITTLE[name]))(x)[0]))(x)

    assert programs(gradient, 5000) == programs(gradient, 50) > 0


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", LITTLE)
def test_updates_of_a_little_agree_with_those_outside_of_loops(name: str, loop: str) -> None:
    x = np.random.default_rng(len(name)).standard_normal((9, 3))
    results = made(LOOPS[loop](one(LITTLE[name])), [x], "cpu")
    found = next(each for each in results if each.shape == x.shape)
    wanted = bs.asarray(x)
    for i in range(ROUNDS):
        wanted = LITTLE[name](i, wanted)
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-12)


def test_what_an_inner_loop_carries_is_a_row_of_what_the_outer_one_stacks() -> None:
    def row(x: Any, i: Any) -> Any:
        return x + 1, inner(i, x)

    def function(x: Any) -> Any:
        return bs.scan(row, x, bs.arange(ROUNDS))

    x = np.arange(9, dtype=np.float32)
    found = made(function, [x], "cpu")
    assert [each.tolist() for each in found] == [
        each.tolist() for each in made(function, [x], "reference")
    ]
    assert copies(lowered(function, x)) == ["step.copy", "step.copy"]  # of each row, not element


def made(function: Function, arguments: Any, device: str, **settings: Any) -> list[np.ndarray]:
    """The results; what is given is as it was, unless it was given away."""
    with bs.device(device):
        tensors = [bs.asarray(each) for each in arguments]
        results = bs.jit(function, **settings)(*tensors)
        flat = [each.numpy() for each in leaves(results)]
        for tensor, each in zip(tensors, arguments, strict=True):
            assert settings or np.array_equal(tensor.numpy(), each)
        return flat


def leaves(tree: Any) -> list[Any]:
    if isinstance(tree, tuple | list):
        return [leaf for part in tree for leaf in leaves(part)]
    return [bs.asarray(tree)]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", UPDATES)
def test_they_agree_with_the_reference(name: str, loop: str) -> None:
    function, arguments = LOOPS[loop](UPDATES[name]), given(name)
    wanted = made(function, arguments, "reference")
    donated = tuple(range(len(arguments)))
    for settings in ({}, {"donate": donated}):
        found = made(function, arguments, "cpu", **settings)
        for mine, theirs in zip(found, wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_a_carry_that_two_updates_replace_is_copied_for_one_of_them() -> None:
    def body(i: Any, carries: Any) -> Any:
        x, _ = carries
        return x.at[i].set(1.0), x.at[i].set(2.0)

    x = np.arange(12, dtype=np.float32)
    found = made(fori(body), [x, x], "cpu")
    assert found[0].tolist() == [1.0] * ROUNDS + x[ROUNDS:].tolist()
    assert found[1].tolist() == [1.0] * (ROUNDS - 1) + [2.0] + x[ROUNDS:].tolist()


def test_loops_of_no_steps() -> None:
    x = np.arange(5, dtype=np.float32)
    body = UPDATES["an element"]
    assert made(lambda x, n: bs.fori_loop(0, n, body, (x,)), [x, 0], "cpu")[0].tolist() == [*x]


SIZE = 7
WAYS = ("set", "set", "add", "max", "multiply")


class Drawn:
    """Random steps of a loop that carries some arrays of integers."""

    def __init__(self, seed: int) -> None:
        self.random, self.seed = Random(seed), seed
        self.count = self.random.randint(1, 3)
        self.loop = self.random.choice([*LOOPS])

    def body(self, i: Any, carries: Any) -> Any:
        return self.steps(Random(self.seed), i, carries, depth=1)

    def steps(self, random: Random, i: Any, carries: Any, depth: int) -> Any:
        arrays, before = list(carries), [*carries]
        for _ in range(random.randint(1, 4)):
            place = random.randrange(len(arrays))
            before.append(arrays[place])
            if depth and random.random() < 0.25:
                arrays = list(self.inside(random.random(), i, tuple(arrays)))
            else:
                arrays[place] = self.updated(random, i, arrays[place], random.choice(before))
        if random.random() < 0.15:
            random.shuffle(arrays)
        return tuple(arrays)

    def inside(self, seed: float, i: Any, arrays: Any) -> Any:
        """The steps of a loop, or of a branch."""

        def steps(j: Any, arrays: Any) -> Any:
            return self.steps(Random(seed), i + j, arrays, depth=0)

        if seed < 0.5:
            return bs.fori_loop(0, 2, steps, arrays)
        return bs.cond(arrays[0][i] > 2, lambda *all: steps(1, all), lambda *all: all, *arrays)

    def updated(self, random: Random, i: Any, x: Any, other: Any) -> Any:
        kind = random.randrange(8)
        if kind == 0:
            return random.choice([x + other, other, x[::-1]])
        if kind == 1:
            return x.at[2:5].set(other[1:4] * random.choice([1, 2]))
        places = [(i * random.randint(1, 3) + random.randint(-2, 4)) % SIZE for _ in range(3)]
        if kind == 2:
            return x.at[bs.stack(places)].add(other[bs.stack(places[::-1])])
        more = other[places[1]] + random.randint(0, 1)
        return getattr(x.at[places[0]], random.choice(WAYS))(more)


@pytest.mark.parametrize("seed", range(24))
def test_random_steps_agree_with_the_reference(seed: int) -> None:
    drawn = Drawn(seed)
    arguments = [np.arange(SIZE) * (place + 1) - 3 for place in range(drawn.count)]
    body = drawn.body
    function = (on_condition if drawn.loop == "while" else fori)(body)
    wanted = made(function, arguments, "reference")
    for mine, theirs in zip(made(function, arguments, "cpu"), wanted, strict=True):
        assert mine.tolist() == theirs.tolist()
