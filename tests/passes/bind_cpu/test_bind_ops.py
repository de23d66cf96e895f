"""Every tile op: the loop func leaves the bits that the tile func leaves, on every machine.

A case is text on tiles %a and %b, blocks of two inputs, that makes a tile %r, which is stored at
the same place of an output. `$t` is the type of a block, `$r` that of the result. Numbers are small
and whole, so that sums are exact in any order, with a NaN, an infinity and a -0.0 among them.
"""

from dataclasses import dataclass
from string import Template
from typing import Any

import numpy as np
import pytest

from brimstone.ir.declare import REGISTRY
from brimstone.ir.dtypes import BY_NAME, Kind
from brimstone.passes.bind_cpu.rules import RULES
from kit.bound import MACHINES, Machine, check, kernel

ALL = pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
SOME = pytest.mark.parametrize("machine", MACHINES[::2], ids=lambda each: each.name)
SHAPES = pytest.mark.parametrize("shape", [(4, 32), (2, 5)], ids=str)
AXES = pytest.mark.parametrize("axis", [0, 1])

KERNEL = Template("""
func @kernel<m: 0..99, n: 0..999>(%x: $view, %y: $view, %z: $out) with {grid: [2, 2]} {
  %rows = tile.constant {value = $rows} : scalar<i64>
  %columns = tile.constant {value = $columns} : scalar<i64>
  %p = tile.program_id {axis = 0} : scalar<i64>
  %q = tile.program_id {axis = 1} : scalar<i64>
  %i = tile.binary %p, %rows {kind = multiply} : scalar<i64>
  %j = tile.binary %q, %columns {kind = multiply} : scalar<i64>
  %a = tile.load %x, %i, %j {shape = [$rows, $columns], padding = $zero} : $t
  %b = tile.load %y, %i, %j {shape = [$rows, $columns], padding = $zero} : $t
$body
  tile.store %z, %r, $places
  return
}
""")


@dataclass(frozen=True)
class Case:
    """The body, the dtypes of blocks and result, and the axis that the result lacks."""

    body: str
    dtype: str = "f32"
    out: str = ""
    without: int | None = None

    def run(self, machine: Machine, shape: tuple[int, int]) -> None:
        """Both funcs, at a size of which the last blocks stick out."""
        out = self.out or self.dtype
        kept = [place for place in (0, 1) if place != self.without]
        names, places = (["m", "n"], ["%i", "%j"])
        listed = ", ".join([names[place] for place in kept])
        names_of_types = {
            "t": f"tile<{list(shape)}, {self.dtype}>",
            "r": f"tile<{[shape[place] for place in kept]}, {out}>",
        }
        text = KERNEL.substitute(
            names_of_types,
            view=f"view<2, {self.dtype}, {{size: [m, n], unit_stride: 1}}>",
            out=f"view<{len(kept)}, {out}, {{size: [{listed}]}}>",
            rows=shape[0],
            columns=shape[1],
            zero=zero_of(self.dtype),
            body=Template(self.body).substitute(names_of_types, rows=shape[0], columns=shape[1]),
            places=", ".join([places[place] for place in kept]),
        )
        sizes = 2 * shape[0] - 1, max(2 * shape[1] - 2, 1)
        x, y = (numbers(sizes, self.dtype, seed) for seed in (1, 2))
        made = np.zeros([sizes[place] for place in kept], BY_NAME[out].storage)
        with np.errstate(all="ignore"):
            check(kernel(text), [x, y, made], machine)


def zero_of(dtype: str) -> str:
    """How texts write zero."""
    return "false" if dtype == "bool" else "0.0" if BY_NAME[dtype].kind is Kind.FLOAT else "0"


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    """Small whole numbers, and what is peculiar to floats."""
    made = np.random.default_rng(seed).integers(-3, 4, shape).astype(BY_NAME[dtype].storage)
    if BY_NAME[dtype].kind is Kind.FLOAT and made.size > 9:
        made.flat[3], made.flat[5], made.flat[7] = np.inf, -0.0, np.nan
    return made


def test_every_op_has_a_rule() -> None:
    """But for products of numbers with shared scales, which CPUs have no instruction for."""
    ops = {op for name, op in REGISTRY.items() if name.startswith("tile.")}
    assert {op.name for op in ops - set(RULES)} == {"tile.scaled_dot", "tile.scratch"}


@ALL
@pytest.mark.parametrize("shape", [(4, 32), (2, 5), (5, 1), (1, 24)], ids=str)
@pytest.mark.parametrize("dtype", ["f32", "f64", "bf16", "i32", "u8", "bool"])
def test_elementwise(machine: Machine, shape: Any, dtype: str) -> None:
    mask = "tile<[$rows, $columns], bool>"
    body = f"""  %c = tile.compare %a, %b {{kind = less}} : {mask}
  %d = tile.binary %a, %b {{kind = maximum}} : $t
  %r = tile.select %c, %d, %a : $t"""
    Case(body, dtype).run(machine, shape)


@SOME
@SHAPES
@pytest.mark.parametrize(("dtype", "out"), [("f32", "bf16"), ("bf16", "f64"), ("f64", "i8")])
def test_casts(machine: Machine, shape: Any, dtype: str, out: str) -> None:
    negated = "  %n = tile.unary %a {kind = negate} : $t\n"
    Case(f"{negated}  %r = tile.cast %n {{dtype = {out}}} : $r", dtype, out).run(machine, shape)
    Case("  %r = tile.bitcast %a {dtype = u32} : $r", "f32", "u32").run(machine, shape)


@ALL
@SHAPES
@AXES
@pytest.mark.parametrize(("dtype", "kind"), [
    ("f32", "sum"), ("bf16", "sum"), ("f16", "product"), ("i8", "sum"), ("f32", "maximum"),
    ("bool", "maximum"), ("f64", "minimum"), ("u32", "and"), ("bool", "or"),
])  # fmt: skip
def test_reductions(machine: Machine, shape: Any, axis: int, dtype: str, kind: str) -> None:
    body = f"  %r = tile.reduce %a {{axis = {axis}, kind = {kind}}} : $r"
    Case(body, dtype, without=axis).run(machine, shape)


@SOME
@pytest.mark.parametrize("kind", ["sum", "product", "maximum", "minimum", "and", "or"])
@pytest.mark.parametrize("dtype", ["i16", "f32"])
def test_reductions_of_nothing(machine: Machine, kind: str, dtype: str) -> None:
    if dtype == "f32" and kind in ("and", "or"):
        dtype = "bool"
    empty = f"tile<[$rows, 0, $columns], {dtype}>"
    body = f"""  %s = tile.constant {{value = {zero_of(dtype)}}} : scalar<{dtype}>
  %e = tile.full %s {{shape = [$rows, 0, $columns]}} : {empty}
  %r = tile.reduce %e {{axis = 1, kind = {kind}}} : $t"""
    Case(body, dtype).run(machine, (2, 16))


@SOME
@SHAPES
@AXES
@pytest.mark.parametrize(("dtype", "kind", "reverse"), [
    ("f32", "sum", "true"), ("bf16", "sum", "false"), ("i16", "product", "true"),
    ("f32", "maximum", "false"), ("u8", "minimum", "true"),
])  # fmt: skip
def test_scans(
    machine: Machine, shape: Any, axis: int, dtype: str, kind: str, reverse: str
) -> None:
    body = f"  %r = tile.scan %a {{axis = {axis}, kind = {kind}, reverse = {reverse}}} : $t"
    Case(body, dtype).run(machine, shape)


@SOME
@SHAPES
@AXES
@pytest.mark.parametrize(("dtype", "kind", "out"), [
    ("f32", "maximum", "i64"), ("bf16", "minimum", "i32"), ("u8", "maximum", "u8"),
    ("bool", "minimum", "i32"),
])  # fmt: skip
def test_arg_reductions(
    machine: Machine, shape: Any, axis: int, dtype: str, kind: str, out: str
) -> None:
    body = f"  %r = tile.arg_reduce %a {{axis = {axis}, kind = {kind}, dtype = {out}}} : $r"
    Case(body, dtype, out, axis).run(machine, shape)


@SOME
@AXES
@pytest.mark.parametrize("shape", [(2, 16), (2, 5)], ids=str)
@pytest.mark.parametrize(("dtype", "keys", "descending"), [
    ("f32", 1, "false"), ("bf16", 2, "true"), ("i32", 2, "false"),
])  # fmt: skip
def test_sorting(
    machine: Machine, axis: int, shape: Any, dtype: str, keys: int, descending: str
) -> None:
    settings = f"{{axis = {axis}, keys = {keys}, descending = {descending}}}"
    Case(f"  %s, %r = tile.sort %b, %a {settings} : $t, $t", dtype).run(machine, shape)


TURNED = "tile<[$columns, $rows], f32>"
SHAPED = {
    "there and back": f"""  %t = tile.permute %a {{axes = [1, 0]}} : {TURNED}
  %u = tile.unary %t {{kind = negate}} : {TURNED}
  %r = tile.permute %u {{axes = [1, 0]}} : $t""",
    "three axes": """  %t = tile.reshape %a {shape = [1, $rows, $columns]} : \
tile<[1, $rows, $columns], f32>
  %u = tile.permute %t {axes = [2, 0, 1]} : tile<[$columns, 1, $rows], f32>
  %v = tile.permute %u {axes = [1, 2, 0]} : tile<[1, $rows, $columns], f32>
  %r = tile.reshape %v {shape = [$rows, $columns]} : $t""",
    "concat": f"""  %s = tile.permute %a {{axes = [1, 0]}} : {TURNED}
  %c = tile.concat %s, %s {{axis = 0}} : tile<[$columns2, $rows], f32>
  %m = tile.reduce %c {{axis = 0, kind = maximum}} : tile<[$rows], f32>
  %e = tile.broadcast %m {{shape = [$rows, $columns], axes = [0]}} : $t
  %d = tile.concat %a, %e {{axis = 1}} : tile<[$rows, $columns2], f32>
  %g = tile.reshape %d {{shape = [2, $rows, $columns]}} : tile<[2, $rows, $columns], f32>
  %r = tile.reduce %g {{axis = 0, kind = minimum}} : $t""",
    "broadcasts": """  %o = tile.reduce %a {axis = 0, kind = maximum} : tile<[$columns], f32>
  %s = tile.broadcast %o {shape = [$rows, $columns], axes = [1]} : $t
  %h = tile.reduce %o {axis = 0, kind = maximum} : tile<[], f32>
  %l = tile.extract %h : scalar<f32>
  %f = tile.full %l {shape = [$rows, $columns]} : $t
  %i0 = tile.iota {shape = [$rows, $columns], axis = 0, dtype = f32} : $t
  %i1 = tile.iota {shape = [$rows, $columns], axis = 1, dtype = f32} : $t
  %u = tile.binary %s, %i0 {kind = minimum} : $t
  %v = tile.binary %f, %i1 {kind = minimum} : $t
  %r = tile.binary %u, %v {kind = subtract} : $t""",
}


@ALL
@pytest.mark.parametrize("shape", [(4, 32), (16, 8), (2, 13)], ids=str)
@pytest.mark.parametrize("name", SHAPED)
def test_shapes(machine: Machine, shape: Any, name: str) -> None:
    Case(SHAPED[name].replace("$columns2", str(2 * shape[1]))).run(machine, shape)
