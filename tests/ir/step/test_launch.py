"""Launches of kernels, and calls of host functions."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import step, types
from brimstone.ir.errors import ExecutionError
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from kit.texts import failing, read, refused

F32 = np.float32

KERNELS = """
func @add_and_count<m: 0..64>(%x: tensor<[m], f32>, %y: tensor<[m], f32>)
    -> (tensor<[m], f32>, tensor<[m], f32>) {
  %z = tensor.add %x, %y : tensor<[m], f32>
  return %z, %x
}
func @ones<m: 0..64>() -> tensor<[m], f32> {
  %one = tensor.constant {value = 1.0} : tensor<[], f32>
  %ones = tensor.broadcast %one {shape = [m], axes = []} : tensor<[m], f32>
  return %ones
}
func @number(%x: tensor<[], i64>) -> tensor<[], i64> {
  return %x
}
"""


def launching(op: str) -> str:
    return f"""
func @f<n: 0..64>(%x: array<[n], f32>, %y: array<[n], f32>,
    %a: array<[n], f32>, %b: array<[n], f32>) {{
  {op}
  return
}}
{KERNELS}"""


BOTH = launching("step.launch [%x, %y], %a, %b {kernel = @add_and_count, grid = []}")


def arrays(size: int) -> list[np.ndarray]:
    return [np.arange(size, dtype=F32) + 10 * place for place in range(4)]


@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_launch_writes_what_the_kernel_returns(size: int) -> None:
    x, y, a, b = arrays(size)
    interpret(read(BOTH), x, y, a, b)
    assert (a == x + y).all()
    assert (b == x).all()


def test_a_kernel_may_work_in_place_and_swap() -> None:
    x, y, _, _ = arrays(5)
    expected = x + y, x.copy()
    interpret(read(BOTH), x, y, y, x)
    assert (y == expected[0]).all()
    assert (x == expected[1]).all()


@pytest.mark.parametrize("size", [0, 1, 7])
def test_what_is_written_says_sizes_too(size: int) -> None:
    program = launching("step.launch [], %a {kernel = @ones, grid = []}")
    given = arrays(size)
    interpret(read(program), *given)
    assert (given[2] == 1).all()


def test_a_kernel_reads_sizes_of_the_host() -> None:
    program = (
        """
func @f(%x: array<[5], f32>, %last: array<[], i64>) {
  step.loop {trip = 3} (%i: scalar<i64>) {
    step.launch [%i], %last {kernel = @number, grid = []}
    yield
  }
  return
}
"""
        + KERNELS
    )
    last = np.asarray(0)
    interpret(read(program), np.zeros(5, F32), last)
    assert last == 2


@pytest.mark.parametrize(
    ("op", "problem"),
    [
        ("step.launch [%x], %a {kernel = @nothing, grid = []}", "there is no func @nothing"),
        (
            "step.launch [%x], %a, %b {kernel = @add_and_count, grid = []}",
            "@add_and_count has 2 arguments, the call 1",
        ),
        (
            "step.launch [%x, %y], %a {kernel = @add_and_count, grid = []}",
            "@add_and_count has 2 results, the call 1",
        ),
        (
            "step.launch [%x], %a {kernel = @number, grid = []}",
            "argument 0 of @number has type tensor<[], i64> in this call, not tensor<[n], f32>",
        ),
        ("step.launch [%x], %a {kernel = @f, grid = []}", "@f would call itself"),
        ("step.launch [], %a {kernel = @ones, grid = [-1]}", "-1 is not a size"),
        (
            "step.launch [], %x {kernel = @host, grid = []}",
            "@host is no kernel: it takes and returns no",
        ),
    ],
)
def test_a_launch_that_does_not_fit(op: str, problem: str) -> None:
    host = "func @host(%x: array<[3], f32>) {\n  return\n}"
    assert problem in refused(launching(op) + host)


GROUPS = """
func @f<n: 0..64, m: 0..64>(%x: array<[n], f32>, %y: array<[m], f32>,
    %a: array<[n], f32>, %b: array<[m], f32>) {
  step.launch [%x, %x, %y, %y], %a, %x, %b, %y {kernel = @add_and_count, grid = [], groups = 2}
  return
}
"""


@pytest.mark.parametrize("sizes", [(0, 7), (5, 2)])
def test_a_kernel_runs_on_groups_of_arrays_each_with_its_own_sizes(sizes: tuple[int, int]) -> None:
    x, y = (np.arange(size, dtype=F32) for size in sizes)
    a, b = np.zeros_like(x), np.zeros_like(y)
    interpret(read(GROUPS + KERNELS), x, y, a, b)
    assert a.tolist() == (2 * np.arange(sizes[0])).tolist()
    assert b.tolist() == (2 * np.arange(sizes[1])).tolist()


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (GROUPS.replace("groups = 2", "groups = 0"), "there are 0 groups"),
        (GROUPS.replace("groups = 2", "groups = 3"), "reads has 4 entries for 3 groups"),
        (GROUPS.replace("%a, %x, %b, %y {", "%a, %x, %b {"), "writes has 3 entries for 2 groups"),
        (GROUPS.replace("grid = []", "grid = [n]"), "grid has 1 entries for 2 groups"),
        (GROUPS.replace("[%x, %x, %y", "[%x, %y, %y"), "@add_and_count"),
    ],
)
def test_groups_that_do_not_fit(program: str, problem: str) -> None:
    assert problem in refused(program + KERNELS)


def test_groups_share_nothing_that_is_written() -> None:
    x, y, a, b = arrays(4)
    assert "writes 0 and 2 overlap" in failing(GROUPS + KERNELS, x, y, a, a)
    only_read = GROUPS.replace("%b, %y {", "%b, %c {").replace(
        "%b: array", "%c: array<[m], f32>, %b: array"
    )
    message = failing(only_read + KERNELS, x, a, a, y, b)
    assert "group 0 writes what group 1 reads" in message


def test_writes_may_not_overlap() -> None:
    memory = np.zeros(8, F32)
    x, y = np.ones(4, F32), np.ones(4, F32)
    message = failing(BOTH, x, y, memory[:4], memory[3:7])
    assert message == "model.py:4: step.launch: writes 0 and 1 overlap"
    message = failing(BOTH, x, memory[:4], x.copy(), memory[2:6])
    assert message == "model.py:4: step.launch: write 1 overlaps a part of read 1"
    interpret(read(BOTH), x, memory[:4], memory[4:], y)


def test_one_array_cannot_be_written_twice() -> None:
    program = launching("step.launch [%x, %y], %a, %a {kernel = @add_and_count, grid = []}")
    assert "writes 0 and 1 overlap" in failing(program, *arrays(3))
    interpret(read(program), *arrays(0))


def test_what_was_never_written_shows() -> None:
    program = (
        """
func @f(%out: array<[3], f32>) {
  %a = step.allocate : array<[3], f32>
  step.launch [%a, %a], %out, %a {kernel = @add_and_count, grid = []}
  return
}
"""
        + KERNELS
    )
    out = np.zeros(3, F32)
    interpret(read(program), out)
    assert np.isnan(out).all()


def test_an_error_in_a_kernel_names_the_line_of_the_kernel() -> None:
    program = launching("step.launch [%x], %a {kernel = @wrong, grid = []}") + (
        "func @wrong<m: 0..64>(%x: tensor<[m], f32>) -> tensor<[m], f32> {\n"
        '  %y = tensor.custom %x {kernel = "kit.outside:raises"} : tensor<[m], f32>\n'
        "  return %y\n}"
    )
    message = failing(program, *arrays(3))
    assert 'tensor.custom: "kit.outside:raises" failed' in message


def test_another_floor_registers_how_its_kernels_are_launched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    launched: list[Any] = []

    class Recording(step.Kernels):
        def check(self, launch: step.Group, kernel: Func) -> None:
            launched.append(kernel.name)

        def run(self, launch, kernel, frame, reads, writes) -> None:
            launched.append([frame.shape(launch.grid), reads, writes])

    monkeypatch.setitem(step.KERNELS, types.Vec, Recording())
    program = launching("step.launch [%x], %a {kernel = @vectors, grid = [n, 2]}")
    module = read(program + "func @vectors(%x: vec<4, f32>) {\n  return\n}")
    x, y, a, b = arrays(3)
    interpret(module, x, y, a, b)
    name, (grid, reads, writes) = launched[-2:]
    assert (name, grid) == ("vectors", (3, 2))
    assert reads[0] is x
    assert writes[0] is a


def test_a_module_must_be_there_to_find_the_kernel() -> None:
    with pytest.raises(ExecutionError, match=r"step\.launch: there is no func @add_and_count"):
        interpret(parse(BOTH).main, *arrays(2))


# Host functions ----------------------------------------------------------------------------------


def host(function: str, reads: str = "%x, %y", writes: str = ", %a") -> str:
    return f"""
func @f<n: 0..64>(%x: array<[n], f32>, %y: array<[n], f32>, %a: array<[n], f32>) {{
  step.host [{reads}]{writes} {{function = "{function}"}}
  return
}}
"""


@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_host_function_writes_in_place(size: int) -> None:
    x, y, a, _ = arrays(size)
    interpret(read(host("kit.outside:add_into")), x, y, a)
    assert (a == x + y).all()


def test_a_host_function_is_called_each_time() -> None:
    program = """
func @f(%a: array<[], i64>) {
  step.loop {trip = 5} (%i: scalar<i64>) {
    step.host [], %a {function = "kit.outside:count_calls"}
    step.host [], %a {function = "kit.outside:count_calls"}
    yield
  }
  return
}
"""
    calls = np.asarray(0)
    interpret(read(program), calls)
    assert calls == 10


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (
            host("kit.outside:write_first", "%x"),
            "failed: ValueError: assignment destination is read-only",
        ),
        (host("kit.outside:returns", "%x"), "returned a value; results go into its writes"),
        (host("kit.outside:missing", "%x"), 'cannot import "kit.outside:missing"'),
        (host("kit.outside:add_into", "%x, %y", ", %a, %a"), "writes 0 and 1 overlap"),
    ],
)
def test_a_host_function_that_fails(program: str, problem: str) -> None:
    message = failing(program, *arrays(3)[:3])
    assert message.startswith("model.py:3: step.host: ")
    assert problem in message


RETURNING = """
func @f<n: 0..64>(%x: array<[n], f32>, %a: array<[n], f32>, %b: array<[], f32>) {
  step.host [%x], %a, %b {function = "FUNCTION", returns = true}
  return
}
"""


@pytest.mark.parametrize("size", [0, 1, 7])
def test_what_a_host_function_returns_is_put_into_its_writes(size: int) -> None:
    x, a, *_ = arrays(size)
    b = np.zeros((), np.float32)
    interpret(read(RETURNING.replace("FUNCTION", "kit.outside:parts")), x, a, b)
    assert (a == x[::-1]).all()
    assert b == x.sum(dtype=np.float32)


def test_a_host_function_that_returns_something_else() -> None:
    program = RETURNING.replace("FUNCTION", "kit.outside:twice")
    message = failing(program, *arrays(3)[:2], np.zeros((), np.float32))
    assert message.startswith("model.py:3: step.host: ")
    assert "returned float32[3], expected float32[]" in message


def test_a_host_function_has_a_name() -> None:
    assert 'expected "package.module:function", got "add"' in refused(host("add"))
