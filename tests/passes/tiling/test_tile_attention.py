"""Attention and its gradients as kernels of tiles: every change of scores, edge sizes."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import step, tensor
from brimstone.ir.dims import evaluate
from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.passes.differentiate import vjp
from brimstone.passes.fuse import fuse
from brimstone.passes.tiling import Tiled, tile
from kit.attentions import CHANGES, SCHEDULE, SIZES, arguments, attention
from kit.tiling import tiled


def gradients(func: Func) -> Func:
    """Outputs, and gradients by all that is a float."""
    floats = [each.dtype.kind.value == "float" for each in func.arguments]
    return vjp(func, floats, [0, 1])


def on_tiles(func: Func) -> Tiled:
    made = tile(fuse(func).module, lambda shape: SCHEDULE)
    assert not made.refused
    return made


def assert_same(func: Func, made: Module, given: list[Any], sizes: dict[str, int]) -> None:
    before, after = (interpret(each, *given, sizes=sizes) for each in (func, made))
    for found, expected in zip(after, before, strict=True):
        tolerance = 1e-12 if expected.dtype == np.float64 else 0.02
        np.testing.assert_allclose(
            found.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_what_the_op_says(change: str) -> None:
    func = attention(change)
    made = on_tiles(func).module
    for sizes in SIZES:
        assert_same(func, made, arguments(func, sizes), sizes)


@pytest.mark.parametrize(
    "change, shared",
    [("none", 2), ("causal", 1), ("mask", 1), ("bias", 2), ("slopes", 1), ("cap", 2)],
)
def test_so_are_its_gradients(change: str, shared: int) -> None:
    func = attention(change, shared=shared)
    pulled = gradients(func)
    assert [op for op in pulled.body if isinstance(op, tensor.AttentionBackward)]
    made = on_tiles(pulled).module
    for sizes in SIZES[shared - 1 :: 2]:
        given = arguments(func, sizes, shared)
        outputs = interpret(func, *given, sizes=sizes)
        rng = np.random.default_rng(1)
        given += [rng.standard_normal(each.shape).astype(each.dtype) for each in outputs[:2]]
        assert_same(pulled, made, given, sizes)


@pytest.mark.parametrize("ones", ["bt", "s", "te", "bgts"])
def test_sizes_that_are_known_to_be_1(ones: str) -> None:
    func = attention("cap", ones=ones)
    sizes = {**SIZES[0], **dict.fromkeys(ones, 1)}
    for each in (func, gradients(func)):
        assert_same(each, on_tiles(each).module, arguments(each, sizes), sizes)


def test_narrow_floats_are_summed_wide() -> None:
    func = attention("bias", "bf16")
    for each in (func, gradients(func)):
        made = on_tiles(each).module
        given = arguments(each, SIZES[0])
        assert_same(each, made, given, SIZES[0])


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_stays_in_its_row(special: float) -> None:
    func = attention("bias")
    made, sizes = on_tiles(func).module, SIZES[0]
    given = arguments(func, sizes)
    given[3][0, 0, 3, 5] = special
    assert_same(func, made, given, sizes)


@pytest.mark.parametrize("far", [1e9, -1e9])
def test_scores_of_a_row_that_are_all_far_from_0(far: float) -> None:
    """What the log-sum-exp is rounded by is as large as weights there."""
    func, sizes = attention("bias", "f32"), SIZES[0]
    pulled = gradients(func)
    made = on_tiles(pulled).module
    given = arguments(pulled, sizes)
    given[3][0, 0, 3] = far
    value = interpret(made, *given, sizes=sizes)[5]
    assert_same(pulled, made, given, sizes)
    given[3][0, 0, 3] = 0
    given[0][0, 0, 3] = 0  # its scores are alike as well
    expected = interpret(pulled, *given, sizes=sizes)[5]
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


def test_no_array_is_as_large_as_the_scores() -> None:
    """Not forward, and not backward."""
    func = attention("causal")
    sizes = {"b": 1, "g": 1, "t": 8192, "s": 8192, "d": 16, "e": 16}
    for each in (func, gradients(func)):
        module = on_tiles(each).module
        rooms = [op for op in module.main.walk() if isinstance(op, step.Allocate)]
        assert rooms
        for op in rooms:
            size = 1
            for axis in op.results[0].type.shape:
                size *= evaluate(
                    axis, {symbol: sizes[symbol.name] for symbol in module.main.symbols}
                )
            assert size <= 8192 * 16


REFUSED = {
    "its scores are summed first": (
        "%z = tensor.reduce_sum %x {axes = [3]} : tensor<[1, 1, 4], f32>\n"
        "%w = tensor.broadcast %z {shape = [1, 1, 4, 5], axes = [0, 1, 2]} : S\n"
        "%y = tensor.add %x, %w : S",
        "the scores are reduced before the softmax",
    ),
    "it is changed by its neighbour": (
        "%z = tensor.flip %x {axes = [3]} : S\n%y = tensor.add %x, %z : S",
        "a score is changed by other scores",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_change_that_looks_at_other_scores_stays(name: str) -> None:
    body, reason = REFUSED[name]
    text = f"""func @k(%q: tensor<[1, 1, 4, 2], f32>, %k: tensor<[1, 1, 5, 2], f32>)
        -> (tensor<[1, 1, 4, 2], f32>, tensor<[1, 1, 4], f32>, tensor<[1, 1, 4], f32>) {{
      %o, %l, %r = tensor.attention %q, %k, %k {{scale = 1.0}} (%x: S) {{
        {body}
        yield %y
      }} : tensor<[1, 1, 4, 2], f32>, tensor<[1, 1, 4], f32>, tensor<[1, 1, 4], f32>
      return %o, %l, %r
    }}"""
    func = parse(text.replace(" S", " tensor<[1, 1, 4, 5], f32>"), "stays").main
    assert tiled(func, SCHEDULE).refused == {"k": reason}
