"""Launches that do the same become one; memory notices nothing."""

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir import parse, print_module, step, verify
from brimstone.ir.func import Module
from brimstone.ir.interpreter import interpret
from brimstone.passes.gather_launches import gather_launches
from kit.texts import read

KERNEL = """
func @NAME<k: LOW..HIGH>(%x: view<1, f32, {size: [k]}>, %y: view<1, f32, {size: [k]}>)
    with {grid: [ceildiv(k, 4)]} {
  %place = tile.program_id {axis = 0} : scalar<i64>
  %size = tile.constant {value = 4} : scalar<i64>
  %at = tile.binary %place, %size {kind = multiply} : scalar<i64>
  %a = tile.load %x, %at {shape = [4], padding = 0.0} : tile<[4], f32>
  %b = tile.binary %a, %a {kind = KIND} : tile<[4], f32>
  tile.store %y, %b, %at
  return
}
"""


def kernel(name: str, low: int = 0, high: int = 64, kind: str = "add") -> str:
    text = KERNEL.replace("NAME", name).replace("KIND", kind).replace("LOW", str(low))
    return text.replace("HIGH", str(high))


KERNELS = kernel("one") + kernel("two", 2, 9) + kernel("square", kind="multiply")


def program(body: str) -> Module:
    """A step that takes %x and %y; `a -> b, @k` launches a kernel."""
    lines = ["func @f<n: 2..8, m: 2..8>(%x: array<[n], f32>, %y: array<[m], f32>) -> RETURNS {"]
    for line in filter(None, map(str.strip, body.splitlines())):
        source, arrow, rest = line.partition(" -> ")
        target, _, name = rest.partition(", @")
        launch = f"step.launch [{source}], {target} {{kernel = @{name}, grid = []}}"
        lines.append(launch if arrow else line)
    returned = next(line for line in lines if line.startswith("return"))
    types = ["array<[n], f32>"] * returned.count("%")
    text = "\n".join([*lines, "}"]).replace("RETURNS", f"({', '.join(types)})")
    return read(text + KERNELS)


def gathered(body: str) -> tuple[list[str], list[int]]:
    """The ops of the step, and the counts of its launches, when results are found to be the same
    and the text to be what it says."""
    module = program(body)
    made = gather_launches(program(body)).module
    verify(made)
    verify(parse(print_module(made), "gathered.ir"))
    x, y = np.arange(7, dtype=np.float32), np.arange(5, dtype=np.float32) - 9
    for mine, theirs in zip(interpret(made, x, y), interpret(module, x, y), strict=True):
        assert mine.tolist() == theirs.tolist()
    ops = [op for op in made.main.body if not isinstance(op, step.View)]
    counts = [op.count for op in ops if isinstance(op, step.Launch)]
    return [op.name.partition(".")[2] for op in ops if not op.terminator], counts


ALLOCATE = "%{} = step.allocate : array<[n], f32>"
A, B, C, D = (ALLOCATE.format(name) for name in "abcd")
LAUNCH = "launch"
ALLOC, FREE, COPY = "allocate", "free", "copy"


@pytest.mark.parametrize(
    ("body", "ops", "counts"),
    [
        pytest.param(
            f"{A}\n%x -> %a, @one\n{B}\n%x -> %b, @two\nreturn %a, %b",
            [ALLOC, ALLOC, LAUNCH],
            [2],
            id="neighbours",
        ),
        pytest.param(
            f"{A}\n%x -> %a, @one\n{B}\n%x -> %b, @square\n{C}\n%x -> %c, @two\nreturn %a, %b, %c",
            [ALLOC, LAUNCH, ALLOC, ALLOC, LAUNCH],
            [1, 2],
            id="another launch between",
        ),
        pytest.param(
            f"{A}\n%x -> %a, @one\n{B}\n%a -> %b, @two\nreturn %a, %b",
            [ALLOC, LAUNCH, ALLOC, LAUNCH],
            [1, 1],
            id="the second reads the first",
        ),
        pytest.param(
            f"{A}\n%x -> %a, @one\n%a -> %a, @two\nreturn %a",
            [ALLOC, LAUNCH, LAUNCH],
            [1, 1],
            id="in place after the first",
        ),
        pytest.param(
            f"{A}\n%x -> %a, @one\n{B}\nstep.copy %a, %b\n{C}\n%x -> %c, @two\nreturn %b, %c",
            [ALLOC, LAUNCH, ALLOC, COPY, ALLOC, LAUNCH],
            [1, 1],
            id="read by another before the second",
        ),
        pytest.param(
            f"{A}\n{B}\nstep.copy %x, %a\n%a -> %b, @one\nstep.copy %b, %a\n{C}\n%x -> %c, @two\n"
            "return %a, %b, %c",
            [ALLOC, ALLOC, COPY, LAUNCH, COPY, ALLOC, LAUNCH],
            [1, 1],
            id="what the first reads is written before the second",
        ),
        pytest.param(
            f"{A}\nstep.copy %x, %a\n{B}\n%a -> %b, @one\nstep.free %a\n{C}\n%x -> %c, @two\n"
            "return %b, %c",
            [ALLOC, COPY, ALLOC, ALLOC, LAUNCH, FREE],
            [2],
            id="what is freed waits, and as much is allocated later",
        ),
        pytest.param(
            f"{A}\n{D}\nstep.copy %x, %a\n%a -> %d, @square\n{B}\n%a -> %b, @one\nstep.free %a\n"
            f"{C}\n%x -> %c, @two\nreturn %b, %c, %d",
            [ALLOC, ALLOC, COPY, LAUNCH, ALLOC, ALLOC, LAUNCH, FREE],
            [1, 2],
            id="two kinds",
        ),
        pytest.param(
            f"{A}\n{B}\nstep.copy %x, %a\nstep.copy %x, %b\n%a -> %b, @one\nstep.free %a\n"
            f"{C}\n%x -> %c, @two\nreturn %b, %c",
            [ALLOC, ALLOC, COPY, COPY, LAUNCH, FREE, ALLOC, LAUNCH],
            [1, 1],
            id="nothing is kept for longer unless that pays",
        ),
        pytest.param(
            f"{A}\n%x -> %a, @one\n{B}\n%x -> %b, @one\n{C}\n%x -> %c, @square\n{D}\n"
            "%b -> %d, @square\nreturn %a, %b, %c, %d",
            [ALLOC, ALLOC, LAUNCH, ALLOC, ALLOC, LAUNCH],
            [2, 2],
            id="one after the other",
        ),
        pytest.param(
            f"{A}\n{B}\nstep.fill %b {{value = 0.0}}\n%x -> %a, @one\n{C}\n"
            "step.loop {trip = 2} (%i: scalar<i64>) {\nstep.copy %a, %b\nyield\n}\n"
            "%x -> %c, @two\nreturn %b, %c",
            [ALLOC, ALLOC, "fill", LAUNCH, ALLOC, "loop", LAUNCH],
            [1, 1],
            id="a loop reads the first",
        ),
    ],
)
def test_launches(body: str, ops: list[str], counts: list[int]) -> None:
    assert gathered(body) == (ops, counts)


def test_each_region_is_gathered_by_itself() -> None:
    made = gather_launches(
        program(f"""
        {A}
        {B}
        step.loop {{trip = 3}} (%i: scalar<i64>) {{
          %x -> %a, @one
          %x -> %b, @two
          yield
        }}
        return %a, %b""")
    ).module
    assert [op.count for op in made.main.walk() if isinstance(op, step.Launch)] == [2]


def test_views_of_what_is_allocated_later_stand_after_it() -> None:
    text = f"""
    {A}
    %v = step.view %a {{offset = 0, shape = [n]}} : array<[n], f32>
    %x -> %v, @one
    {B}
    %w = step.view %a {{offset = 0, shape = [n]}} : array<[n], f32>
    %x -> %b, @two
    %w -> %a, @square
    return %a, %b"""
    assert gathered(text) == ([ALLOC, ALLOC, LAUNCH, LAUNCH], [2, 1])


def test_what_a_region_looks_at_is_there_before_it() -> None:
    text = f"""
    {A}
    %x -> %a, @one
    step.loop {{trip = 3}} (%i: scalar<i64>) {{
      %row = step.row %a, %i : array<[], f32>
      yield
    }}
    {B}
    %x -> %b, @two
    return %a, %b"""
    assert gathered(text) == ([ALLOC, LAUNCH, "loop", ALLOC, LAUNCH], [1, 1])


def test_the_kernel_is_for_all_sizes_that_any_of_them_may_have() -> None:
    made = gather_launches(program(f"{A}\n%x -> %a, @two\n{B}\n%x -> %b, @one\nreturn %a, %b"))
    assert made.together == {"one": 2, "two": 2}
    assert [func.name for func in made.module] == ["f", "two", "square"]
    (symbol,) = made.module["two"].symbols
    assert (symbol.minimum, symbol.maximum) == (0, 64)


def test_nothing_to_gather_is_nothing_to_do() -> None:
    module = program(f"{A}\n%x -> %a, @one\nreturn %a")
    assert gather_launches(module).module is module


def adamw(tree: dict[str, list[bs.Tensor]], rate: bs.Tensor) -> list[list[bs.Tensor]]:
    """A step of AdamW, the way it is written down."""
    made: list[list[bs.Tensor]] = []
    for parameter, gradient, first, second in zip(*tree.values(), strict=True):
        mean = first * 0.9 + gradient * 0.1
        scale = second * 0.999 + gradient * gradient * 0.001
        moved = (mean / (1 - 0.9**rate)) / (bs.sqrt(scale / (1 - 0.999**rate)) + 1e-8)
        made.append([parameter - 0.1 * (moved + 0.01 * parameter), mean, scale])
    return made


def test_the_update_of_many_parameters_is_one_launch() -> None:
    shapes = [(784, 12), (12,), (12, 25), (25,), (25, 10), (10,)]
    source = np.random.default_rng(3)
    trees = {name: [source.random(shape, np.float32) for shape in shapes] for name in "pgms"}
    results: list[list[bs.Tensor]] = []
    for device in (bs.device("cpu"), bs.device("reference")):
        tree = {name: [bs.tensor(x, device=device) for x in trees[name]] for name in trees}
        arguments = tree, bs.tensor(np.float32(3), device=device)
        update = bs.jit(adamw)
        if not results:
            explanation = update.explain(*arguments)
            assert [each.stages[0].together for each in explanation.kernels] == [6] * 6
            assert "in one launch of 6" in explanation.text()
        results.append([each for made in update(*arguments) for each in made])
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


def test_groups_with_memory_of_their_own_and_of_narrow_floats() -> None:
    def work(x: bs.Tensor, y: bs.Tensor) -> list[bs.Tensor]:
        rows = [bs.softmax(each, axis=-1) for each in (x, y)]
        return [*rows, *[each.astype(bs.bfloat16) * 3 for each in (x, y)]]

    source = np.random.default_rng(5)
    arrays = [source.standard_normal(shape, np.float32) for shape in ((5, 300), (7, 13))]
    results = [
        bs.jit(work)(*[bs.tensor(each, device=bs.device(name)) for each in arrays])
        for name in ("cpu", "reference")
    ]
    for mine, theirs in zip(*results, strict=True):
        expected = theirs.astype(bs.float32).numpy()
        np.testing.assert_allclose(mine.astype(bs.float32).numpy(), expected, rtol=1e-5)
