"""What stands in kernels and steps, and what keeps kernels apart."""

import pytest

from brimstone.ir import print_module, step, tensor
from brimstone.ir.attributes import Frozen
from brimstone.ir.tensor.reduce import Reduction
from brimstone.passes.fuse.graph import MAPS
from brimstone.passes.fuse.views import VIEWS
from kit.fusing import checked, func_of, kernels, prepared, reasons
from kit.programs import program, random_plan
from kit.recordings import PROGRAMS, recorded

ROWS = "tensor<[n, m], f32>"


def body(lines: str, result: str, type_: str = ROWS, arguments: str = f"%x: {ROWS}") -> str:
    """A func of these lines."""
    head = f"func @f<n: 1..64, m: 1..64>({arguments}) -> {type_} {{"
    return f"{head}\n{lines}\n  return {result}\n}}\n"


def test_a_step() -> None:
    text = """
      %flat = tensor.reshape %x {shape = [n*m]} : tensor<[n*m], f32> at "m.py":3
      %e = tensor.exp %flat : tensor<[n*m], f32> at "m.py":4
      %order = tensor.cumulative_sum %e {axis = 0} : tensor<[n*m], f32> at "m.py":5
      %y = tensor.reshape %order {shape = [n, m]} : tensor<[n, m], f32> at "m.py":6
      %z = tensor.tanh %y : tensor<[n, m], f32> at "m.py":7"""
    made = checked(func_of(body(text, "%z")))
    assert print_module(made.module) == EXPECTED


EXPECTED = """\
func @f<n: 1..64, m: 1..64>(%x: array<[n, m], f32>) -> array<[n, m], f32> {
  %e = step.allocate : array<[m*n], f32>
  %0 = step.view %e {offset = 0, shape = [n, m]} : array<[n, m], f32>
  step.launch [%x], %0 {kernel = @exp_m_4, grid = []}
  %order = step.allocate : array<[m*n], f32>
  step.launch [%e], %order {kernel = @cumulative_sum_m_5, grid = []}
  step.free %e
  %z = step.allocate : array<[n, m], f32>
  %1 = step.view %order {offset = 0, shape = [n, m]} : array<[n, m], f32>
  step.launch [%1], %z {kernel = @tanh_m_7, grid = []}
  step.free %order
  return %z
}

func @exp_m_4<n: 1..64, m: 1..64>(%x: tensor<[n, m], f32>) -> tensor<[n, m], f32> {
  %e = tensor.exp %x : tensor<[n, m], f32>
  return %e
}

func @cumulative_sum_m_5<size_0: 1..8191>(%e: tensor<[size_0], f32>) -> tensor<[size_0], f32> {
  %order = tensor.cumulative_sum %e {axis = 0, reverse = false} : tensor<[size_0], f32>
  return %order
}

func @tanh_m_7<n: 1..64, m: 1..64>(%order: tensor<[n, m], f32>) -> tensor<[n, m], f32> {
  %z = tensor.tanh %order : tensor<[n, m], f32>
  return %z
}
"""


@pytest.mark.parametrize("apart", [False, True])
def test_the_host_calls_functions_itself(apart: bool) -> None:
    text = """
      %e = tensor.exp %x : tensor<[n, m], f32>
      %a, %b = tensor.host_call %e, %x {function = "kit.named:exchanged"} : tensor<[n, m], f32>, tensor<[n, m], f32>
      %y = tensor.subtract %a, %b : tensor<[n, m], f32>"""  # noqa: E501 (IR text has long lines)
    made = checked(func_of(body(text, "%y")), apart)
    assert print_module(made.module).partition("\n\n")[0] == CALLED.rstrip()
    assert "the host calls a function of Python" in str(made.report) or apart
    assert len([*made.module]) == 3


CALLED = """\
func @f<n: 1..64, m: 1..64>(%x: array<[n, m], f32>) -> array<[n, m], f32> {
  %e = step.allocate : array<[n, m], f32>
  step.launch [%x], %e {kernel = @exp_model_3, grid = []}
  %a = step.allocate : array<[n, m], f32>
  %b = step.allocate : array<[n, m], f32>
  step.host [%e, %x], %a, %b {function = "kit.named:exchanged", returns = true}
  step.free %e
  %y = step.allocate : array<[n, m], f32>
  step.launch [%a, %b], %y {kernel = @subtract_model_5, grid = []}
  step.free %a
  step.free %b
  return %y
}
"""

SUMS = """
  %rows = tensor.reduce_sum %x {axes = [1]} : tensor<[n], f32>
  %columns = tensor.reduce_sum %x {axes = [0]} : tensor<[m], f32>
  %a = tensor.broadcast %rows {shape = [n, m], axes = [0]} : tensor<[n, m], f32>
  %b = tensor.broadcast %columns {shape = [n, m], axes = [1]} : tensor<[n, m], f32>
  %y = tensor.subtract %x, %a : tensor<[n, m], f32>
  %z = tensor.subtract %y, %b : tensor<[n, m], f32>"""

TURNED = """
  %e = tensor.exp %x : tensor<[n, m], f32>
  %t = tensor.permute %e {axes = [1, 0]} : tensor<[m, n], f32>
  %z = tensor.tanh %t : tensor<[m, n], f32>"""

CIRCLE = """
  %e = tensor.exp %x : tensor<[n, m], f32>
  %s = tensor.cumulative_sum %e {axis = 0} : tensor<[n, m], f32>
  %z = tensor.add %e, %s : tensor<[n, m], f32>"""

SQUARE = """
  %p = tensor.slice %x {start = [0, 0], size = [1, m], step = [1, 1]} : tensor<[1, m], f32>
  %r = tensor.reshape %p {shape = [m]} : tensor<[m], f32>
  %b = tensor.broadcast %r {shape = [m, m], axes = [0]} : tensor<[m, m], f32>
  %e = tensor.exp %b : tensor<[m, m], f32>
  %h = tensor.cumulative_sum %e {axis = 0} : tensor<[m, m], f32>
  %l = tensor.log %h : tensor<[m, m], f32>
  %t = tensor.permute %l {axes = [1, 0]} : tensor<[m, m], f32>
  %z = tensor.add %l, %t : tensor<[m, m], f32>"""

PADDED = """
  %e = tensor.exp %x : tensor<[n, m], f32>
  %p = tensor.pad %e {low = [1, 0], high = [0, 0], interior = [0, 0], \
value = 2.0} : tensor<[n + 1, m], f32>
  %z = tensor.tanh %p : tensor<[n + 1, m], f32>"""

PRODUCT = """
  %d = tensor.exp %x : tensor<[n, m], f32>
  %e = tensor.{map} %d : tensor<[n, m], f32>
  %p = tensor.contract %e, %e {{left_batch = [], right_batch = [], left_contract = [1], \
right_contract = [1], dtype = f32}} : tensor<[n, n], f32>
  %z = tensor.tanh %p : tensor<[n, n], f32>"""
CHEAP, COSTLY = PRODUCT.format(map="negate"), PRODUCT.format(map="erf_inverse")


@pytest.mark.parametrize(
    ("lines", "results", "types", "count", "reason"),
    [
        (SUMS, "%z", ROWS, 2, "both reduce, along other axes"),
        (TURNED, "%z", "tensor<[m, n], f32>", 1, None),
        (TURNED, "%z, %e", f"(tensor<[m, n], f32>, {ROWS})", 2, "writes its axes in another order"),
        (CIRCLE, "%z", ROWS, 3, "cumulative_sum has a kernel of its own"),
        (SQUARE, "%z", "tensor<[m, m], f32>", 4, "reads it at other places than those it computes"),
        (PADDED, "%z", "tensor<[n + 1, m], f32>", 2, "reads it at other places"),
        (CHEAP, "%z", "tensor<[n, n], f32>", 1, None),
        (COSTLY, "%z", "tensor<[n, n], f32>", 2, "a contraction reads its operands from memory"),
    ],
)  # fmt: skip
def test_boundaries(lines: str, results: str, types: str, count: int, reason: str | None) -> None:
    fused = checked(func_of(body(lines, results, types)))
    assert len(fused.report.kernels) == count, str(fused.report)
    found = reasons(fused)
    assert any(reason in each for each in found) if reason is not None else not found


def test_what_runs_between_is_said() -> None:
    lines = """
      %e = tensor.exp %x : tensor<[n, m], f32>
      %s = tensor.cumulative_sum %e {axis = 0} : tensor<[n, m], f32>
      %d = tensor.cumulative_sum %s {axis = 0} : tensor<[n, m], f32>
      %y = tensor.add %e, %d : tensor<[n, m], f32>"""
    fused = checked(func_of(body(lines, "%y, %e", f"({ROWS}, {ROWS})")))
    assert "needs what another kernel makes of it" in reasons(fused)


def test_cheap_values_are_computed_by_all_who_read_them() -> None:
    lines = """
      %h = tensor.add %x, %x : tensor<[n, m], f32>
      %rows = tensor.reduce_sum %h {axes = [1]} : tensor<[n], f32>
      %columns = tensor.reduce_maximum %h {axes = [0]} : tensor<[m], f32>
      %exp = tensor.exp %columns : tensor<[m], f32>"""
    types = "(tensor<[n], f32>, tensor<[m], f32>)"
    fused = checked(func_of(body(lines, "%rows, %exp", types)))
    assert [len(each.ops) for each in fused.report.kernels] == [2, 3]


SEVERAL = """
  %p = tensor.contract %x, %x {left_batch = [], right_batch = [], left_contract = [1], \
right_contract = [1], dtype = f32} : tensor<[n, n], f32>
  %s = tensor.add %p, %p : tensor<[n, n], f32>
  %t = tensor.negate %s : tensor<[n, n], f32>
  %e = tensor.erf %s : tensor<[n, n], f32>
  %y = tensor.multiply %t, %e : tensor<[n, n], f32>
  %q = tensor.contract %y, %y {left_batch = [], right_batch = [], left_contract = [1], \
right_contract = [1], dtype = f32} : tensor<[n, n], f32>
  %u = tensor.multiply %q, %t : tensor<[n, n], f32>
  %z = tensor.add %u, %e : tensor<[n, n], f32>"""


def test_one_value_is_written_in_the_place_of_several() -> None:
    fused = checked(func_of(body(SEVERAL, "%z", "tensor<[n, n], f32>")))
    first, second = fused.report.kernels
    assert [each.name for each in first.writes] == ["s", "y"], str(fused.report)
    assert {"erf", "negate"} <= {*second.ops}


SCANS = """
      %a = tensor.cumulative_sum %x {axis = 0} : tensor<[n, m], f32>
      %b = tensor.cumulative_maximum %a {axis = 0} : tensor<[n, m], f32>
      %c = tensor.cumulative_product %b {axis = 0} : tensor<[n, m], f32>
      %z = tensor.exp %c : tensor<[n, m], f32>
      %s = tensor.contract %a, %b {left_batch = [], right_batch = [], left_contract = [1], \
right_contract = [1], dtype = f32} : tensor<[n, n], f32>"""


def test_who_lets_go_of_memory_runs_as_soon_as_it_can() -> None:
    fused = checked(func_of(body(SCANS, "%z, %s", f"({ROWS}, tensor<[n, n], f32>)")))
    names = [op.kernel for op in fused.module.main.body if isinstance(op, step.Launch)]
    assert [name.partition("_model")[0] for name in names] == [
        "cumulative_sum", "cumulative_maximum", "contract", "cumulative_product", "exp",
    ]  # fmt: skip


def test_a_single_number_is_there_as_soon_as_it_can_be() -> None:
    """Such as whether a loss is finite, which is recorded after all gradients: updates that ask for
    it would keep what they are computed from until then."""
    lines = (
        SCANS
        + """
      %t = tensor.reduce_sum %a {axes = [0, 1]} : tensor<[], f32>
      %f = tensor.broadcast %t {shape = [n, n], axes = []} : tensor<[n, n], f32>
      %u = tensor.multiply %s, %f : tensor<[n, n], f32>"""
    )
    fused = checked(func_of(body(lines, "%z, %u", f"({ROWS}, tensor<[n, n], f32>)")))
    names = [op.kernel for op in fused.module.main.body if isinstance(op, step.Launch)]
    assert [name.partition("_model")[0] for name in names] == [
        "cumulative_sum", "reduce_sum", "cumulative_maximum", "contract_multiply",
        "cumulative_product", "exp",
    ]  # fmt: skip


@pytest.mark.parametrize("is_donated", [False, True])
def test_what_replaces_a_donated_array_runs_after_all_who_read_it(is_donated: bool) -> None:
    lines = """
      %s = tensor.cumulative_sum %x {axis = 0} : tensor<[n, m], f32>
      %e = tensor.sort %x {axis = 0, descending = false, keys = 1} : tensor<[n, m], f32>
      %w = tensor.cumulative_maximum %e {axis = 0} : tensor<[n, m], f32>
      %u = tensor.multiply %s, %x : tensor<[n, m], f32>"""
    func = func_of(body(lines, "%w, %u", f"({ROWS}, {ROWS})"))
    if is_donated:
        func.attributes = Frozen({"donated": (0,)})
    fused = checked(func)
    launched = [op for op in fused.module.main.body if isinstance(op, step.Launch)]
    names = [op.writes[0].name for op in launched]
    assert (names.index("u") > names.index("e")) == is_donated


NORMAL = """
      %rows = tensor.reduce_sum %x {axes = [1]} : tensor<[n], f32>
      %wide = tensor.broadcast %rows {shape = [n, m], axes = [0]} : tensor<[n, m], f32>
      %y = tensor.divide %x, %wide : tensor<[n, m], f32>"""
ACROSS = """
      %columns = tensor.reduce_sum %x {axes = [0]} : tensor<[m], f32>"""
DOWN = """
      %high = tensor.broadcast %columns {shape = [n, m], axes = [1]} : tensor<[n, m], f32>
      %z = tensor.multiply %y, %high : tensor<[n, m], f32>"""


@pytest.mark.parametrize(
    ("lines", "results", "types", "count"),
    [
        (NORMAL + ACROSS, "%y, %columns", f"({ROWS}, tensor<[m], f32>)", 1),
        (NORMAL + ACROSS, "%columns, %rows", "(tensor<[m], f32>, tensor<[n], f32>)", 1),
        (NORMAL + ACROSS + DOWN, "%z", ROWS, 2),
        (NORMAL + ACROSS + DOWN, "%y, %z", f"({ROWS}, {ROWS})", 2),
    ],
)
def test_rows_are_summed_across_while_they_pass(
    lines: str, results: str, types: str, count: int
) -> None:
    """Not where the sums are read again."""
    assert len(kernels(body(lines, results, types))) == count


def test_parts_are_read_where_they_are() -> None:
    lines = """
      %e = tensor.exp %x : tensor<[n, m], f32>
      %p = tensor.slice %e {start = [0, 0], size = [1, m], step = [1, 1]} : tensor<[1, m], f32>
      %r = tensor.reshape %p {shape = [m]} : tensor<[m], f32>
      %z = tensor.tanh %r : tensor<[m], f32>"""
    assert len(kernels(body(lines, "%z", "tensor<[m], f32>"))) == 1


def test_results_are_memory_of_their_own() -> None:
    types = f"({ROWS}, {ROWS}, {ROWS}, tensor<[n], f32>)"
    lines = """
      %e = tensor.exp %x : tensor<[n, m], f32>
      %one = tensor.constant {value = 1.0} : tensor<[], f32>
      %ones = tensor.broadcast %one {shape = [n]} : tensor<[n], f32>"""
    fused = checked(func_of(body(lines, "%x, %e, %e, %ones", types)))
    main = fused.module.main
    returned = main.body.terminator.operands
    assert len({*returned}) == 4
    assert not {*returned} & {*main.arguments}
    assert sum(isinstance(op, step.Fill) for op in main.body) == 1


@pytest.mark.parametrize("seed", range(20))
def test_kernels_hold_what_was_promised(seed: int) -> None:
    module = program(random_plan(seed, 10 + seed, False, (tensor.Call,)))
    for kernel in [*checked(module.main, runs=False).module][1:]:
        ops = [op for op in kernel.body if not (op.terminator or op.is_constant)]
        known = (*MAPS, *VIEWS, Reduction, tensor.ArgMaximum, tensor.ArgMinimum, tensor.Iota)
        if len(ops) > 1:
            assert all(isinstance(op, known) for op in ops)
            for op in ops:
                assert not isinstance(op, tensor.Pad | tensor.Slice | tensor.Flip) or _begins(op)


def _begins(op: object) -> bool:
    """Whether views lead from a view to an argument."""
    while isinstance(op, VIEWS):
        op = op.operands[0].op
    return op is None


def test_a_size_that_no_array_of_a_kernel_has_is_told() -> None:
    lines = """  %w = tensor.broadcast %x {shape = [n, m + 1]} : tensor<[n, m + 1], f32>
  %s = tensor.reduce_sum %w {axes = [1]} : tensor<[n], f32>"""
    arguments = "%x: tensor<[], f32>, %y: tensor<[m], f32>"
    (kernel,) = checked(func_of(body(lines, "%s", "tensor<[n], f32>", arguments))).report.kernels
    assert len(kernel.reads) == 1


def test_every_intermediate_is_freed_once() -> None:
    for build, count in PROGRAMS.items():
        func = prepared(recorded(build, *(3, 4, 5, 6, 7, 8)[:count]))
        main = checked(func, runs=False).module.main
        made = [op.results[0] for op in main.body if isinstance(op, step.Allocate)]
        freed = [op.array for op in main.body if isinstance(op, step.Free)]
        viewed = [value.op.array for value in main.results if isinstance(value.op, step.View)]
        assert {*made} == {*freed, *viewed, *main.results} - {*main.arguments}
        assert len(freed) == len({*freed})
        assert not {*freed} & {*viewed, *main.results}


WEIGHTED = f"%x: {ROWS}, %w: tensor<[m, 64], f32>, %b: tensor<[64], f32>"
BIASED = """
      %p = tensor.contract %x, %w {left_batch = [], right_batch = [], left_contract = [1],
        right_contract = [0], dtype = f32} : tensor<[n, 64], f32>
      %wide = tensor.broadcast %b {shape = [n, 64], axes = [1]} : tensor<[n, 64], f32>
      %biased = tensor.add %p, %wide : tensor<[n, 64], f32>
      %y = tensor.tanh %biased : tensor<[n, 64], f32>
      %one = tensor.slice %y {start = [0, 0], size = [n, 16], step = [1, 1]} : tensor<[n, 16], f32>
      %part = tensor.slice %y {start = [0, 16], size = [n, 48], step = [1, 1]}
        : tensor<[n, 48], f32>
      %other = tensor.exp %part : tensor<[n, 48], f32>"""


def test_maps_behind_a_contraction_stay_with_it_though_only_parts_are_read() -> None:
    head = f"func @f<n: 1..64, m: 1..64>({WEIGHTED}) -> (tensor<[n, 16], f32>, "
    text = f"{head}tensor<[n, 48], f32>) {{{BIASED}\n  return %one, %other\n}}\n"
    product, *others = kernels(text)
    assert product.startswith("contract_add_tanh")
    assert [name.split("_")[0] for name in others] == ["exp", "copy"]
