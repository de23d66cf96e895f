"""What loops and branches hold of complex numbers becomes pairs of real ones, too."""

import numpy as np
import pytest

from brimstone.ir import parse, print_module, verify
from brimstone.ir.dtypes import COMPLEXES
from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.passes.complex_to_real import complex_to_real, seen_as_complex
from brimstone.passes.fuse import fuse
from kit.texts import read

V, M, B, AT = "tensor<[n], c64>", "tensor<[4, n], c64>", "tensor<[], bool>", "tensor<[], i64>"
HEAD = f"func @f<n: 1..9>(%x: {V}, %m: {M}, %r: tensor<[n], f32>, %p: {B}) -> "

SUMS = f"""
  %last, %all = tensor.loop [%x], %m {{trip = 4, reverse = WAY}} (%i: {AT}, %s: {V}, %row: {V}) {{
    %next = tensor.add %s, %row : {V}
    yield %next, %next
  }} : {V}, {M}
"""

BODIES = {
    "carried, read and stacked": (SUMS.replace("WAY", "false"), V, M),
    "backwards": (SUMS.replace("WAY", "true"), V, M),
    "captured": (
        f"""
  %last = tensor.loop [%r] {{trip = 3}} (%i: {AT}, %c: tensor<[n], f32>) {{
    %wide = tensor.cast %c {{dtype = c64}} : {V}
    %z = tensor.multiply %wide, %x : {V}
    %next = tensor.real %z : tensor<[n], f32>
    yield %next
  }} : tensor<[n], f32>
""",
        "tensor<[n], f32>",
    ),
    "real beside complex": (
        f"""
  %last, %lengths, %all = tensor.loop [%x, %r] {{trip = 4}} (
      %i: {AT}, %z: {V}, %l: tensor<[n], f32>) {{
    %a = tensor.absolute %z : tensor<[n], f32>
    %s = tensor.subtract %l, %a : tensor<[n], f32>
    %q = tensor.complex %s, %l : {V}
    yield %q, %a, %s
  }} : {V}, tensor<[n], f32>, tensor<[4, n], f32>
""",
        V,
        "tensor<[n], f32>",
        "tensor<[4, n], f32>",
    ),
    "on a condition": (
        f"""
  %limit = tensor.constant {{value = 9.0}} : tensor<[], f32>
  %last = tensor.while %x (%a: {V}) {{
    %l = tensor.absolute %a : tensor<[n], f32>
    %s = tensor.reduce_sum %l {{axes = [0]}} : tensor<[], f32>
    %on = tensor.less %s, %limit : {B}
    yield %on
  }} (%a: {V}) {{
    %b = tensor.add %a, %a : {V}
    yield %b
  }} : {V}
""",
        V,
    ),
    "a branch": (
        f"""
  %last = tensor.cond %p, %x (%a: {V}) {{
    %c = tensor.conjugate %a : {V}
    yield %c
  }} (%a: {V}) {{
    yield %x
  }} : {V}
""",
        V,
    ),
    "within each other": (
        f"""
  %last = tensor.loop [%x], %m {{trip = 4}} (%i: {AT}, %s: {V}, %row: {V}) {{
    %chosen = tensor.cond %p () {{
      %q = tensor.loop [%s] {{trip = 2}} (%j: {AT}, %t: {V}) {{
        %u = tensor.multiply %t, %row : {V}
        yield %u
      }} : {V}
      yield %q
    }} () {{
      yield %row
    }} : {V}
    %next = tensor.subtract %chosen, %x : {V}
    yield %next
  }} : {V}
""",
        V,
    ),
    "run again": (
        f"""
  %last, %lengths = tensor.checkpoint %x, %r {{again = true}} (%a: {V}, %b: tensor<[n], f32>) {{
    %c = tensor.complex %b, %b : {V}
    %d = tensor.multiply %a, %c : {V}
    %e = tensor.absolute %d : tensor<[n], f32>
    yield %d, %e
  }} : {V}, tensor<[n], f32>
""",
        V,
        "tensor<[n], f32>",
    ),
    "of a gradient of its own": (
        f"""
  %last = tensor.custom_vjp %x (%a: {V}) {{
    %b = tensor.multiply %a, %a : {V}
    yield %b
  }} (%a: {V}) {{
    %b = tensor.multiply %a, %a : {V}
    yield %b, %a
  }} (%a: {V}, %g: {V}) {{
    %s = tensor.sin %a : {V}
    yield %s
  }} : {V}
""",
        V,
    ),
}
NAMES = {
    "real beside complex": "%last, %lengths, %all",
    "run again": "%last, %lengths",
    "carried, read and stacked": "%last, %all",
    "backwards": "%last, %all",
}


def program(name: str) -> Module:
    body, *types = BODIES[name]
    returned = NAMES.get(name, "%last")
    return read(f"{HEAD}({', '.join(types)}) {{\n{body}\n  return {returned}\n}}")


def complex_values(func: Func) -> list[str]:
    """The complex numbers that a func takes, makes, or hands to a region."""
    ops = list(func.walk())
    values = [*func.arguments, *[value for op in ops for value in op.results]]
    values += [value for op in ops for region in op.regions for value in region.arguments]
    return [str(value.type) for value in values if value.dtype in COMPLEXES]


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_the_step_does_what_the_func_does(name: str, apart: bool) -> None:
    module = program(name)
    real = complex_to_real(module.main)
    verify(Module([real]))
    assert not complex_values(real)
    step = seen_as_complex(fuse(real, apart=apart).module, module.main)
    verify(parse(print_module(step), "step.ir"))
    source = np.random.default_rng(7)
    for size, truth in (1, True), (5, False), (5, True):
        x, y, r = (source.standard_normal((5, size)).astype(np.float32) for _ in range(3))
        z = (x + 1j * y).astype(np.complex64)
        arguments = z[0], z[1:], r[0], np.asarray(truth)
        pairs = zip(interpret(step, *arguments), interpret(module, *arguments), strict=True)
        for mine, theirs in pairs:
            assert mine.dtype == theirs.dtype
            np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=1e-6)


BEFORE = """
func @f(%x: tensor<[3], c64>, %m: tensor<[4, 3], c64>) -> tensor<[4, 3], f32> {
  %one = tensor.constant {value = [(1.0, 2.0), (1.0, 2.0), (1.0, 2.0)]} : tensor<[3], c64>
  %s, %all = tensor.loop [%one], %m {trip = 4} (
      %i: tensor<[], i64>, %s: tensor<[3], c64>, %row: tensor<[3], c64>) {
    %t = tensor.add %s, %row : tensor<[3], c64>
    %u = tensor.subtract %t, %x : tensor<[3], c64>
    %v = tensor.real %u : tensor<[3], f32>
    yield %u, %v
  } : tensor<[3], c64>, tensor<[4, 3], f32>
  return %all
}
"""
AFTER = """
func @f(%x: tensor<[3], f32>, %xi: tensor<[3], f32>,
        %m: tensor<[4, 3], f32>, %mi: tensor<[4, 3], f32>) -> tensor<[4, 3], f32> {
  %one = tensor.constant {value = [1.0, 1.0, 1.0]} : tensor<[3], f32>
  %two = tensor.constant {value = [2.0, 2.0, 2.0]} : tensor<[3], f32>
  %s, %si, %all = tensor.loop [%one, %two], %m, %mi {trip = 4} (
      %i: tensor<[], i64>, %s: tensor<[3], f32>, %si: tensor<[3], f32>,
      %row: tensor<[3], f32>, %rowi: tensor<[3], f32>) {
    %t = tensor.add %s, %row : tensor<[3], f32>
    %ti = tensor.add %si, %rowi : tensor<[3], f32>
    %u = tensor.subtract %t, %x : tensor<[3], f32>
    %ui = tensor.subtract %ti, %xi : tensor<[3], f32>
    yield %u, %ui, %u
  } : tensor<[3], f32>, tensor<[3], f32>, tensor<[4, 3], f32>
  return %all
}
"""


def without_names(func: Func) -> str:
    for op in func.walk():
        for value in (*op.results, *[each for region in op.regions for each in region.arguments]):
            value.name = ""
    for value in func.arguments:
        value.name = ""
    return print_module(Module([func]))


def test_parts_are_carried_one_after_the_other() -> None:
    made = complex_to_real(read(BEFORE).main)
    assert without_names(made) == without_names(read(AFTER).main)


def test_a_region_makes_for_itself_what_it_made() -> None:
    """Nothing is handed to it that also stands outside: a broadcast would be memory there."""
    func = read(f"""{HEAD}{V} {{
  %a = tensor.cast %r {{dtype = c64}} : {V}
  %last = tensor.loop [%a] {{trip = 2}} (%i: {AT}, %c: {V}) {{
    %l = tensor.real %c : tensor<[n], f32>
    %d = tensor.cast %l {{dtype = c64}} : {V}
    yield %d
  }} : {V}
  return %last
}}""").main
    broadcasts = [op.block for op in complex_to_real(func).walk() if op.name == "tensor.broadcast"]
    assert len(set(broadcasts)) == 2


@pytest.mark.parametrize("inner", ["bitcast", "within a gradient"])
def test_a_func_stays_where_an_op_inside_has_no_rule(inner: str) -> None:
    body = f"""%b = tensor.bitcast %c {{dtype = u64}} : tensor<[n], u64>
    %d = tensor.bitcast %b {{dtype = c64}} : {V}"""
    if inner != "bitcast":
        body = f"""%d = tensor.linear_call [], %c (%t: {V}) {{
      yield %t
    }} : {V}"""
    func = read(f"""{HEAD}{V} {{
  %last = tensor.loop [%x] {{trip = 2}} (%i: {AT}, %c: {V}) {{
    {body}
    yield %d
  }} : {V}
  return %last
}}""").main
    assert complex_to_real(func) is func


def test_a_loop_without_complex_numbers_is_not_looked_into() -> None:
    func = read(f"""{HEAD}{V} {{
  %last = tensor.loop [%r] {{trip = 2}} (%i: {AT}, %c: tensor<[n], f32>) {{
    %d = tensor.sin %c : tensor<[n], f32>
    yield %d
  }} : tensor<[n], f32>
  %z = tensor.complex %last, %last : {V}
  return %z
}}""").main
    text = print_module(Module([complex_to_real(func)]))
    assert text.count("tensor.sin") == text.count("tensor.loop") == 1
