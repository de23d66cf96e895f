"""Complex numbers become pairs of real ones; what a step takes and returns stays what it was."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import parse, print_module, tensor, verify
from brimstone.ir.declare import REGISTRY
from brimstone.ir.dtypes import COMPLEXES
from brimstone.ir.func import Module
from brimstone.ir.interpreter import interpret
from brimstone.passes.complex_to_real import complex_to_real, names_of_parts, seen_as_complex
from brimstone.passes.complex_to_real.loops import LOOPS
from brimstone.passes.complex_to_real.regions import OPENED
from brimstone.passes.complex_to_real.rules import RULES
from brimstone.passes.fuse import fuse
from kit.texts import read

HEAD = "func @f<n: 0..9>(%x: tensor<[n, 3], c64>, %y: tensor<[n, 3], c64>, %r: tensor<[n, 3], f32>)"
C, F, B = "tensor<[n, 3], c64>", "tensor<[n, 3], f32>", "tensor<[n, 3], bool>"
DOT = "left_batch = [], right_batch = [], left_contract = [0], right_contract = [0], dtype = c64"

WINDOWS = (
    "strides = [1], low = [0], high = [0], input_dilation = [1], kernel_dilation = [1], "
    "groups = 1, dtype = c64"
)
PLACES = (
    "%i = tensor.constant {value = [[2], [0], [2]]} : tensor<[3, 1], i64>\n  "
    "%u = tensor.permute %x {axes = [1, 0]} : tensor<[3, n], c64>\n  "
    "%v = tensor.permute %y {axes = [1, 0]} : tensor<[3, n], c64>\n  "
    "%z = tensor.scatter %u, %i, %v {axes = [0], combiner = "
)

DECOMPOSITIONS = ("cholesky", "eig", "eigh", "lu", "qr", "svd")
EQUATIONS = ("solve", "triangular_solve")
COLLECTIVES = ("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter")
UNSEEN = ("bitcast", "call", "custom", "host_call", "linear_call", "sort")
"""What complex numbers do not reach from functions of users, or what is no kernel."""

BODIES = {
    "add": (f"%z = tensor.add %x, %y : {C}", C),
    "subtract": (f"%z = tensor.subtract %x, %y : {C}", C),
    "negate": (f"%z = tensor.negate %x : {C}", C),
    "multiply": (f"%z = tensor.multiply %x, %y : {C}", C),
    "divide": (f"%z = tensor.divide %x, %y : {C}", C),
    "conjugate": (f"%z = tensor.conjugate %x : {C}", C),
    "absolute": (f"%z = tensor.absolute %x : {F}", F),
    "real": (f"%z = tensor.real %x : {F}", F),
    "imaginary": (f"%z = tensor.imaginary %x : {F}", F),
    "complex": (f"%z = tensor.complex %r, %r : {C}", C),
    "cast from real": (f"%z = tensor.cast %r {{dtype = c64}} : {C}", C),
    "cast to wider": (
        "%z = tensor.cast %x {dtype = c128} : tensor<[n, 3], c128>",
        "tensor<[n, 3], c128>",
    ),
    "cast to bool": (
        f"%i = tensor.imaginary %x : {F}\n  %o = tensor.subtract %i, %i : {F}\n"
        f"  %w = tensor.complex %o, %i : {C}\n  %z = tensor.cast %w {{dtype = bool}} : {B}",
        B,
    ),
    "equal": (f"%z = tensor.equal %x, %x : {B}", B),
    "not equal": (f"%z = tensor.not_equal %x, %y : {B}", B),
    "select": (f"%p = tensor.less %r, %r : {B}\n  %z = tensor.select %p, %x, %y : {C}", C),
    "reduce": ("%z = tensor.reduce_sum %x {axes = [0]} : tensor<[3], c64>", "tensor<[3], c64>"),
    "scan": (f"%z = tensor.cumulative_sum %x {{axis = 1}} : {C}", C),
    "contract": (
        f"%z = tensor.contract %x, %y {{{DOT}}} : tensor<[3, 3], c64>",
        "tensor<[3, 3], c64>",
    ),
    "views": (
        "%p = tensor.permute %x {axes = [1, 0]} : tensor<[3, n], c64>\n"
        "  %q = tensor.flip %p {axes = [0]} : tensor<[3, n], c64>\n"
        "  %z = tensor.reshape %q {shape = [3*n]} : tensor<[3*n], c64>",
        "tensor<[3*n], c64>",
    ),
    "pad": (
        "%z = tensor.pad %x {low = [0, 1], high = [0, 0], interior = [0, 0], value = (1.0, -2.0)}"
        " : tensor<[n, 4], c64>",
        "tensor<[n, 4], c64>",
    ),
    "concat": ("%z = tensor.concat %x, %y {axis = 1} : tensor<[n, 6], c64>", "tensor<[n, 6], c64>"),
    "constant": (
        "%c = tensor.constant {value = [(1.0, -0.0), (0.0, 2.0), (inf, 1.0)]} : tensor<[3], c64>\n"
        f"  %z = tensor.broadcast %c {{shape = [n, 3], axes = [1]}} : {C}",
        C,
    ),
    "scatter": (f"{PLACES}set}} : tensor<[3, n], c64>", "tensor<[3, n], c64>"),
    "sums at places": (f"{PLACES}add}} : tensor<[3, n], c64>", "tensor<[3, n], c64>"),
    "products at places": (f"{PLACES}multiply}} : tensor<[3, n], c64>", "tensor<[3, n], c64>"),
    "product": (
        "%z = tensor.reduce_product %x {axes = [0]} : tensor<[3], c64>",
        "tensor<[3], c64>",
    ),
    "products from each on": (
        f"%z = tensor.cumulative_product %x {{axis = 0, reverse = true}} : {C}",
        C,
    ),
    "convolve": (
        "%i = tensor.reshape %x {shape = [1, n, 3]} : tensor<[1, n, 3], c64>\n"
        "  %k = tensor.constant {value = [[[(1.0, 2.0), (0.5, -1.0)]]]} : tensor<[1, 1, 2], c64>\n"
        "  %j = tensor.permute %i {axes = [1, 0, 2]} : tensor<[n, 1, 3], c64>\n"
        f"  %z = tensor.convolve %j, %k {{{WINDOWS}}} : tensor<[n, 1, 2], c64>",
        "tensor<[n, 1, 2], c64>",
    ),
    "power": (f"%z = tensor.power %x, %y : {C}", C),
    "size": (
        "%d = tensor.dim %x {axis = 0} : tensor<[], i64>\n"
        f"  %r2 = tensor.cast %d {{dtype = c64}} : tensor<[], c64>\n"
        f"  %z = tensor.broadcast %r2 {{shape = [n, 3]}} : {C}",
        C,
    ),
    "exp": (f"%z = tensor.exp %x : {C}", C),
    "log": (f"%z = tensor.log %x : {C}", C),
    "what it is given": (f"%z = tensor.exp %r : {F}", C),
}


def program(body: str, type_: str) -> Module:
    returned = "%x" if type_ == C and "exp %r" in body else "%z"
    return read(f"{HEAD} -> {type_} {{\n  {body}\n  return {returned}\n}}")


@pytest.mark.parametrize("name", BODIES)
def test_the_step_does_what_the_func_does(name: str) -> None:
    module = program(*BODIES[name])
    real = complex_to_real(module.main)
    verify(Module([real]))
    values = [*real.arguments, *[value for op in real.body for value in op.results]]
    assert not [value for value in values if value.dtype in COMPLEXES]
    step = seen_as_complex(fuse(real).module, module.main)
    verify(parse(print_module(step), "step.ir"))
    source = np.random.default_rng(7)
    for size in (0, 1, 5):
        x, y, r = (source.standard_normal((size, 3)).astype(np.float32) for _ in range(3))
        arguments = (x + 1j * y).astype(np.complex64), (y - 1j * r).astype(np.complex64), r
        (mine,), (theirs,) = interpret(step, *arguments), interpret(module, *arguments)
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["exp", "log", "square_root", "tanh", "arccos", "arctanh"])
def test_functions_at_the_edges(name: str) -> None:
    numbers = [0.0, -0.0, 1.0, -0.6, 0.8, 3.0, -90.0, 89.0, 1e30, 1e-30, np.inf, -np.inf, np.nan]
    every = np.array([complex(re, im) for re in numbers for im in numbers], np.complex64)
    type_ = f"tensor<[{len(every)}], c64>"
    text = f"func @f(%x: {type_}) -> {type_} {{\n  %y = tensor.{name} %x : {type_}\n  return %y\n}}"
    module = read(text)
    real = complex_to_real(module.main)
    assert real is not module.main
    (mine,) = interpret(seen_as_complex(fuse(real).module, module.main), every)
    (wanted,) = interpret(module, every)
    for found, expected in ((mine.real, wanted.real), (mine.imag, wanted.imag)):
        np.testing.assert_allclose(np.abs(found), np.abs(expected), rtol=2e-5, atol=1e-7)
        known = np.isfinite(expected) & np.isfinite(every)
        assert (np.signbit(found) == np.signbit(expected))[known].all()


def test_division_at_the_edges() -> None:
    numbers = [0.0, -0.0, 1.0, -3.0, 1e30, 1e-30, np.inf, np.nan]
    every = np.array([complex(re, im) for re in numbers for im in numbers], np.complex64)
    x, y = (each.ravel().reshape(-1, 1).repeat(3, 1) for each in np.meshgrid(every, every))
    text = HEAD.replace("0..9", "0..9999") + f" -> {C} {{\n  {BODIES['divide'][0]}\n  return %z\n}}"
    module = read(text)
    step = seen_as_complex(fuse(complex_to_real(module.main)).module, module.main)
    r = np.zeros(x.shape, np.float32)
    (mine,), (theirs,) = interpret(step, x, y, r), interpret(module, x, y, r)
    np.testing.assert_allclose(mine.real, theirs.real, rtol=1e-6)
    np.testing.assert_allclose(mine.imag, theirs.imag, rtol=1e-6)


def test_both_parts_of_an_argument_have_a_name() -> None:
    func = program(*BODIES["add"]).main
    names = names_of_parts(func, ["x", "y", "r"])
    assert names == ["real x", "imaginary x", "real y", "imaginary y", "r"]
    assert len(complex_to_real(func).arguments) == len(names)


def test_a_func_stays_where_an_op_has_no_rule() -> None:
    type_ = "tensor<[n, 3], u64>"
    func = program(f"%z = tensor.bitcast %x {{dtype = u64}} : {type_}", type_).main
    assert complex_to_real(func) is func


def test_ops_that_have_no_rule() -> None:
    """Not one more: a func with any of these is interpreted as a whole."""
    known = {*RULES, *LOOPS, *OPENED.__args__, tensor.CustomVjp}
    left = {
        name.removeprefix("tensor.")
        for name, op in REGISTRY.items()
        if name.startswith("tensor.") and op not in known and takes_complex_numbers(op)
    }
    assert left == {*DECOMPOSITIONS, *EQUATIONS, *COLLECTIVES, *UNSEEN}


def takes_complex_numbers(op: Any) -> bool:
    """Whether the first operand of an op may be complex."""
    fields = op.operand_fields[:1]
    return any(not each.rule.dtypes or each.rule.dtypes & COMPLEXES for each in fields)


def test_a_func_without_complex_numbers_stays() -> None:
    func = read("func @f(%x: tensor<[2], f32>) -> tensor<[2], f32> {\n  return %x\n}").main
    assert complex_to_real(func) is func
