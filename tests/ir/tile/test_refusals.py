"""What the verifier refuses, op by op, and that it says why."""

import pytest

from brimstone.ir import tile  # noqa: F401 (it declares the ops)
from brimstone.ir.errors import ParseError, VerifyError
from brimstone.ir.parser import parse

HEAD = """func @k(%line: view<1, f32>, %plane: view<2, f32>, %o: view<0, f32>, %c: view<1, c64>) {
  %zero = tile.constant {value = 0} : scalar<i64>
  %small = tile.constant {value = 0} : scalar<i32>
  %x = tile.constant {value = 1.5} : scalar<f32>
  %a = tile.full %x {shape = [4]} : tile<[4], f32>
  %b = tile.full %x {shape = [2, 3]} : tile<[2, 3], f32>
  %i = tile.iota {shape = [4], axis = 0, dtype = i32} : tile<[4], i32>
  %j = tile.iota {shape = [5], axis = 0, dtype = i32} : tile<[5], i32>
  %p = tile.compare %a, %a {kind = less} : tile<[4], bool>
"""

REFUSALS = {
    "%r = tile.program_id {axis = 3} : scalar<i64>": "a grid has at most 3 axes",
    "%r = tile.constant {value = [1, 2]} : scalar<i64>": "a constant is one number",
    "%r = tile.full %x {shape = [4]} : tile<[4], f64>": "expected tile<[4], f32>",
    "%r = tile.full %x {shape = [-1]} : tile<[4], f32>": "is not a size",
    "%r = tile.iota {shape = [4], axis = 1, dtype = i32} : tile<[4], i32>": "no such axis",
    "%r = tile.iota {shape = [4], axis = 0, dtype = bool} : tile<[4], bool>": "cannot count",
    "%r = tile.extent %line {axis = 1} : scalar<i64>": "the view has no such axis",
    "%r = tile.view %line, [], %zero {axes = [0]} : view<1, f32>": "0 offsets for a view of rank 1",
    "%r = tile.view %line, [%zero], %zero {axes = [1]} : view<1, f32>": "not distinct axes",
    "%r = tile.view %line, [%zero], %zero {axes = []} : view<0, f32>": "1 sizes for 0 axes",
    "%r = tile.view %line, [%small], %zero {axes = [0]} : view<1, f32>": "a dtype among i64",
    "%r = tile.load %line {shape = [4], padding = 0} : tile<[4], f32>": "for a view of rank 1",
    "%r = tile.load %line, %zero {shape = [4, 4], padding = 0} : tile<[4, 4], f32>": "rank 2",
    "%r = tile.load %line, %zero {shape = [4], padding = 0} : tile<[4], i32>": "padding is",
    "%r = tile.load %line, %zero {shape = [4], padding = [1, 2]} : tile<[4], f32>": "one number",
    "%r = tile.load %c, %zero {shape = [4], padding = 0} : tile<[4], c64>": "a dtype among",
    "%r = tile.gather %plane, %i {padding = 0} : tile<[4], f32>": "for a view of rank 2",
    "%r = tile.gather %plane, %i, %j {padding = 0} : tile<[4], f32>": "the index tiles differ",
    "%r = tile.gather %line, %a {padding = 0} : tile<[4], f32>": "a dtype among",
    "tile.store %line, %i, %zero": "a view of another dtype",
    "tile.store %line, %b, %zero": "a view of another rank",
    "tile.store %line, %a, %zero, %zero": "2 offsets or indices for a view of rank 1",
    "tile.store %a, %a, %zero": "view has type tile<[4], f32>, expected a view",
    "tile.atomic %line, %a, %zero {combiner = set}": "to set is no combination",
    "tile.scatter %line, %a, %j": "another shape than the value",
    "tile.scatter %o, %a": "a view of rank 0 is not indexed",
    "tile.scatter %line, %p, %i": "a view of another dtype",
    "%r = tile.broadcast %a {shape = [5], axes = [0]} : tile<[5], f32>": "neither 1 nor that",
    "%r = tile.broadcast %a {shape = [4, 4]} : tile<[4, 4], f32>": "0 axes for a tile of rank 1",
    "%r = tile.broadcast %b {shape = [3, 2], axes = [1, 0]} : tile<[3, 2], f32>": "not rising",
    "%r = tile.reshape %b {shape = [5]} : tile<[5], f32>": "another number of elements",
    "%r = tile.permute %b {axes = [0, 0]} : tile<[2, 2], f32>": "no permutation of 2 axes",
    "%r = tile.concat {axis = 0} : tile<[4], f32>": "nothing to concatenate",
    "%r = tile.concat %a, %i {axis = 0} : tile<[8], f32>": "differ elsewhere than along",
    "%r = tile.extract %a : scalar<f32>": "a tile of one element is wanted",
    "%r = tile.unary %i {kind = exp} : tile<[4], i32>": "there is no exp of this dtype",
    "%r = tile.binary %a, %x {kind = add} : tile<[4], f32>": "right has type scalar<f32>, expected",
    "%r = tile.binary %a, %a {kind = bit_and} : tile<[4], f32>": "there is no bit_and",
    "%r = tile.compare %a, %a {kind = less} : tile<[4], f32>": "expected tile<[4], bool>",
    "%r = tile.select %p, %b, %b : tile<[2, 3], f32>": "expected a predicate of type",
    "%r = tile.select %a, %a, %a : tile<[4], f32>": "a dtype among bool",
    "%r = tile.cast %a {dtype = c64} : tile<[4], c64>": "complex numbers live on the tensor floor",
    "%r = tile.bitcast %a {dtype = f64} : tile<[4], f64>": "32 bits are read as f64",
    "%r = tile.bitcast %line {dtype = i32} : view<1, i32>": "expected a scalar or tile",
    "%r = tile.random_bits %x, %x, %i : tile<[4], u32>": "a dtype among u32",
}


@pytest.mark.parametrize("line", REFUSALS)
def test_refused(line: str) -> None:
    with pytest.raises(VerifyError) as caught:
        parse(f"{HEAD}  {line}\n  return\n}}\n", "kernel.ir")
    message = str(caught.value)
    assert message.startswith(f"kernel.ir:10: tile.{line.split('tile.')[1].split(maxsplit=1)[0]}: ")
    assert REFUSALS[line] in message


def test_the_head_is_accepted() -> None:
    assert parse(f"{HEAD}  return\n}}\n").main.name == "k"


def test_a_tile_has_a_static_size() -> None:
    line = "%r = tile.full %x {shape = [n]} : tile<[n], f32>"
    with pytest.raises(ParseError, match="expected an integer, found 'n'"):
        parse(f"func @k<n: 1..4>(%x: scalar<f32>) {{\n  {line}\n  return\n}}\n")
