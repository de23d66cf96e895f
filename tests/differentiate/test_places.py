"""Derivatives of what is read and written at a few places look at these alone."""

from collections import Counter

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.tensor.indexing import Combiner
from brimstone.ir.tensor.last import told_apart
from brimstone.ir.verifier import verify
from brimstone.passes.differentiate import vjp
from kit.derivatives import check_derivatives

DRAWS = np.random.default_rng(5)
NAMED = "axes = [0], batch = 0, outside = error"


def func(body: str, indices: str = "1, 1", result: str = "n") -> Func:
    """A func of %x, of indices %i and %j, and of updates %u."""
    count = indices.rpartition(", ")[0]
    module = parse(
        f"""
func @f<n: 0..128>(%x: tensor<[n], f64>, %i: tensor<[{indices}], i64>,
    %j: tensor<[{indices}], i64>, %u: tensor<[{count}], f64>) -> tensor<[{result}], f64> {{
  {body}
}}""",
        "places.ir",
    )
    verify(module)
    return module.main


def ops_of(made: Func) -> Counter[str]:
    return Counter(op.name.partition(".")[2] for op in made.walk())


def scattered(combiner: str, x: str = "x", indices: str = "i", updates: str = "u") -> str:
    return f"tensor.scatter %{x}, %{indices}, %{updates} {{combiner = {combiner}, {NAMED}}}"


ELEMENTS = f"""
  %a = tensor.gather %x, %i {{{NAMED}}} : tensor<[1], f64>
  %b = tensor.gather %x, %j {{{NAMED}}} : tensor<[1], f64>
  %p = tensor.multiply %a, %b : tensor<[1], f64>
  %y = {scattered("set", updates="p")} : tensor<[n], f64>
  return %y"""
WHOLE = ELEMENTS.replace("return %y", "%z = tensor.multiply %x, %y : tensor<[n], f64>\n  return %z")


@pytest.mark.parametrize("body", [ELEMENTS, WHOLE], ids=["elements", "whole"])
def test_the_cotangent_of_an_element_is_added_where_it_stands(body: str) -> None:
    made = vjp(func(body), [True, False, False, True], [0])
    scatters = [op for op in made.walk() if isinstance(op, tensor.Scatter)]
    adding = [op for op in scatters if op.combiner is Combiner.ADD]
    assert len(adding) == 2
    assert not any(isinstance(op.x.op, tensor.Broadcast | tensor.Constant) for op in adding)
    assert ops_of(made)["add"] == (body is WHOLE)
    for i, j in ((3, 5), (4, 4)):
        arguments = DRAWS.standard_normal(8), np.full((1, 1), i), np.full((1, 1), j), np.ones(1)
        check_derivatives(func(body), arguments, [True, False, False, True])


def test_elements_of_what_all_is_read_of_besides_are_added_to_that() -> None:
    body = f"""
  %a = tensor.gather %x, %i {{{NAMED}}} : tensor<[1], f64>
  %b = tensor.broadcast %a {{shape = [n], axes = [0]}} : tensor<[n], f64>
  %y = tensor.multiply %x, %b : tensor<[n], f64>
  return %y"""
    assert ops_of(vjp(func(body), [True, False, False, False], [0]))["add"] == 0
    arguments = DRAWS.standard_normal(6), np.full((1, 1), 2), np.full((1, 1), 0), np.ones(1)
    check_derivatives(func(body), arguments, [True, False, False, False])


@pytest.mark.parametrize("combiner", ["multiply", "minimum", "maximum"])
def test_one_update_is_combined_with_what_stands_there(combiner: str) -> None:
    """Neither a loop, nor a look at all that is not there."""
    updated = func(f"%y = {scattered(combiner)} : tensor<[n], f64>\n  return %y")
    counted = ops_of(vjp(updated, [True, False, False, True], [0]))
    assert counted["loop"] == 0 and counted["broadcast"] <= 2 and counted["equal"] <= 2
    for larger in (0.5, -0.5):
        x = DRAWS.standard_normal(8)
        arguments = x, np.full((1, 1), 3), np.full((1, 1), 0), x[3:4] + larger
        check_derivatives(updated, arguments, [True, False, False, True])


@pytest.mark.parametrize("combiner", ["minimum", "maximum"])
def test_where_both_are_equal_each_gets_half(combiner: str) -> None:
    updated = func(f"%y = {scattered(combiner)} : tensor<[n], f64>\n  return %y")
    pulled = vjp(updated, [True, False, False, True], [0])
    at = np.full((1, 1), 1)
    _, by_x, by_update = interpret(pulled, np.ones(3), at, at, np.ones(1), np.full(3, 8.0))
    assert by_x.tolist() == [8, 4, 8] and by_update.tolist() == [4]


SET = f"%y = {scattered('set')} : tensor<[n], f64>\n  return %y"


@pytest.mark.parametrize("count", [2, 64, 65, 90])
def test_of_many_updates_the_last_of_each_place_counts(count: int) -> None:
    """Few are compared with each other, of many each notes where it is."""
    several = func(SET, f"{count}, 1")
    made = ops_of(vjp(several, [True, False, False, True], [0]))
    assert made["reduce_or"] == (count <= 64)
    assert made["scatter"] == (2 if count <= 64 else 3)
    indices = DRAWS.integers(0, 7, (count, 1))
    arguments = DRAWS.standard_normal(7), indices, indices, DRAWS.standard_normal(count)
    check_derivatives(several, arguments, [True, False, False, True], orders=1)


LINE = "%s = tensor.iota {shape = [3], axis = 0, dtype = i64} : tensor<[3], i64>"
APART = {
    "places in a row": f"{LINE}\n%k = tensor.reshape %s {{shape = [3, 1]}} : tensor<[3, 1], i64>",
    "moved by what is computed": f"""{LINE}
  %one = tensor.slice %i {{start = [0, 0], size = [1, 1], step = [1, 1]}} : tensor<[1, 1], i64>
  %o = tensor.reshape %one {{shape = []}} : tensor<[], i64>
  %w = tensor.broadcast %o {{shape = [3], axes = []}} : tensor<[3], i64>
  %t = tensor.add %w, %s : tensor<[3], i64>
  %k = tensor.reshape %t {{shape = [3, 1]}} : tensor<[3, 1], i64>""",
    "at steps backwards": f"""{LINE}
  %c = tensor.constant {{value = -2}} : tensor<[], i64>
  %w = tensor.broadcast %c {{shape = [3], axes = []}} : tensor<[3], i64>
  %t = tensor.multiply %s, %w : tensor<[3], i64>
  %f = tensor.constant {{value = 5}} : tensor<[], i64>
  %v = tensor.broadcast %f {{shape = [3], axes = []}} : tensor<[3], i64>
  %z = tensor.add %t, %v : tensor<[3], i64>
  %k = tensor.reshape %z {{shape = [3, 1]}} : tensor<[3, 1], i64>""",
}
TOGETHER = {
    "at steps of nothing": APART["at steps backwards"].replace("value = -2", "value = 0"),
    "moved by others": f"""{LINE}
  %m = tensor.reshape %i {{shape = [3]}} : tensor<[3], i64>
  %t = tensor.add %s, %m : tensor<[3], i64>
  %k = tensor.reshape %t {{shape = [3, 1]}} : tensor<[3, 1], i64>""",
    "half of them": f"""{LINE}
  %c = tensor.constant {{value = 2}} : tensor<[], i64>
  %w = tensor.broadcast %c {{shape = [3], axes = []}} : tensor<[3], i64>
  %t = tensor.divide %s, %w : tensor<[3], i64>
  %k = tensor.reshape %t {{shape = [3, 1]}} : tensor<[3, 1], i64>""",
}


@pytest.mark.parametrize("name", [*APART, *TOGETHER])
def test_places_that_are_counted_are_told_apart(name: str) -> None:
    body = {**APART, **TOGETHER}[name]
    body = f"{body}\n  %y = {scattered('set', indices='k')} : tensor<[n], f64>\n  return %y"
    several = func(body, "3, 1")
    made = ops_of(vjp(several, [True, False, False, True], [0]))
    assert made["equal"] == (name in TOGETHER)
    indices = np.array([[2], [1], [0]]) if name in TOGETHER else np.full((3, 1), 2)
    arguments = DRAWS.standard_normal(8), indices, indices, DRAWS.standard_normal(3)
    check_derivatives(several, arguments, [True, False, False, True], orders=1)


def test_places_of_a_block_are_told_apart_along_each_axis() -> None:
    module = parse(
        """
func @f() -> (tensor<[2, 3, 2], i64>, tensor<[2, 3, 1], i64>) {
  %r = tensor.iota {shape = [2], axis = 0, dtype = i64} : tensor<[2], i64>
  %c = tensor.iota {shape = [3], axis = 0, dtype = i64} : tensor<[3], i64>
  %rows = tensor.broadcast %r {shape = [2, 3], axes = [0]} : tensor<[2, 3], i64>
  %columns = tensor.broadcast %c {shape = [2, 3], axes = [1]} : tensor<[2, 3], i64>
  %a = tensor.reshape %rows {shape = [2, 3, 1]} : tensor<[2, 3, 1], i64>
  %b = tensor.reshape %columns {shape = [2, 3, 1]} : tensor<[2, 3, 1], i64>
  %k = tensor.concat %a, %b {axis = 2} : tensor<[2, 3, 2], i64>
  return %k, %a
}""",
        "block.ir",
    )
    verify(module)
    block, rows = module.main.results
    assert told_apart(block) == {0, 1}
    assert told_apart(rows) == {0}


def test_lanes_have_places_of_their_own() -> None:
    """The last of a place is that of its lane."""
    module = parse(
        """
func @f(%x: tensor<[2, 4], f64>, %i: tensor<[2, 3, 1], i64>, %u: tensor<[2, 3], f64>)
    -> tensor<[2, 4], f64> {
  %y = tensor.scatter %x, %i, %u {axes = [1], batch = 1, combiner = set, outside = error}
    : tensor<[2, 4], f64>
  return %y
}""",
        "lanes.ir",
    )
    verify(module)
    indices = np.array([[1, 1, 0], [0, 1, 0]])[..., None]
    arguments = DRAWS.standard_normal((2, 4)), indices, DRAWS.standard_normal((2, 3))
    check_derivatives(module.main, arguments, [True, False, True])
