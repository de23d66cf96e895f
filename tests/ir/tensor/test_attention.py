"""attention, against a loop over every row."""

from math import exp, inf, log
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor, tile
from brimstone.ir.builder import Builder
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import FLOATS, bf16, boolean, f32, f64, i32
from brimstone.ir.errors import VerifyError
from brimstone.ir.func import Func, Return, Yield
from brimstone.ir.parser import parse
from brimstone.ir.payloads import payload
from brimstone.ir.printer import print_module
from brimstone.ir.types import Scalar, Tensor
from kit.calls import failure, run

n = Symbol("n")
TYPES = Tensor((1, 4, 2, 3), f32), Tensor((1, 2, 5, 3), f32), Tensor((1, 2, 5, 6), f32)


def attended(query, key, value, scale: float, score: Any = lambda score, *at: score):
    """Output and log-sum-exp by definition, in double precision."""
    batch, heads, rows, _ = query.shape
    output = np.zeros((*query.shape[:3], value.shape[3]))
    sums = np.full(query.shape[:3], -inf)
    for b, h, t in np.ndindex(batch, heads, rows):
        g = h * key.shape[1] // heads
        scores = [
            score(scale * float(np.dot(query[b, h, t], each)), b, h, t, s)
            for s, each in enumerate(key[b, g])
        ]
        total = sum(exp(each) for each in scores)
        if total:
            sums[b, h, t] = log(total)
            weights = np.array([exp(each) / total for each in scores])
            output[b, h, t] = weights @ value[b, g]
    return output, sums


def arrays(dtype, batch=2, heads=4, groups=2, rows=3, columns=5, width=4, depth=2) -> Any:
    rng = np.random.default_rng(rows)
    query, pairs = (batch, heads, rows, width), (batch, groups, columns)
    shapes = query, (*pairs, width), (*pairs, depth)
    return [rng.normal(size=shape).astype(dtype.storage) for shape in shapes]


def text(dtype, region="", mask="", yields="%s"):
    """Attention of symbolic sizes whose region, and a mask for it, are given as text."""
    wide = dtype.accumulator
    score = f"tensor<[b, h, t, s], {wide}>"
    result = ", ".join([f"tensor<[b, h, t, e], {dtype}>", *[f"tensor<[b, h, t], {wide}>"] * 2])
    return f"""
    func @f<b: 0..64, h: 0..64, g: 0..64, t: 0..64, s: 0..64, d: 0..64, e: 0..64>(
        %q: tensor<[b, h, t, d], {dtype}>, %k: tensor<[b, g, s, d], {dtype}>,
        %v: tensor<[b, g, s, e], {dtype}>{mask and f", %mask: {mask}"}) -> ({result}) {{
      %o, %l, %r = tensor.attention %q, %k, %v{mask and ", %mask"} {{scale = 0.5}} (
          %s: {score}{mask and f", %m: {mask}"}) {{
        {region}
        yield {yields}
      }} : {result}
      return %o, %l, %r
    }}""".replace("SCORE", score)


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=str), ids=str)
def test_softmax_of_scores_times_values_in_every_dtype(dtype):
    given = arrays(dtype)
    program = text(dtype)
    assert print_module(parse(print_module(parse(program)))) == print_module(parse(program))
    output, sums, _ = run(program, *given)
    expected = attended(*[each.astype(np.float64) for each in given], scale=0.5)
    assert (output.dtype, sums.dtype) == (dtype.storage, dtype.accumulator.storage)
    exact = 1e-12 if dtype is f64 else 1e-5
    np.testing.assert_allclose(sums, expected[1], rtol=exact, atol=exact)
    rounding = exact if dtype in (f32, f64) else 2.0 ** {"f16": -10, "bf16": -7}.get(dtype.name, -2)
    np.testing.assert_allclose(output.astype(np.float64), expected[0], rtol=rounding, atol=rounding)


@pytest.mark.parametrize(("heads", "groups"), [(1, 1), (4, 4), (4, 1), (6, 3)])
def test_neighbouring_heads_share_keys_and_values(heads, groups):
    given = arrays(f64, heads=heads, groups=groups)
    for found, expected in zip(
        run(text(f64), *given)[:2], attended(*given, scale=0.5), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


MASK = {
    "mask": "tensor<[t, s], bool>",
    "region": """%seen = tensor.broadcast %m {shape = [b, h, t, s], axes = [2, 3]}
          : tensor<[b, h, t, s], bool>
        %infinity = tensor.constant {value = -inf} : tensor<[], f32>
        %never = tensor.broadcast %infinity {shape = [b, h, t, s]} : SCORE
        %masked = tensor.select %seen, %s, %never : SCORE""",
    "yields": "%masked",
}


def test_the_region_changes_scores_with_the_help_of_captures():
    given = arrays(f32)
    mask = np.tril(np.ones((3, 5), bool))
    output, sums, _ = run(text(f32, **MASK), *given, mask)

    def masked(score, b, h, t, s):
        return score if mask[t, s] else -inf

    expected = attended(*given, scale=0.5, score=masked)
    np.testing.assert_allclose(output, expected[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sums, expected[1], rtol=1e-5, atol=1e-6)


def test_a_row_without_scores_is_zero():
    query, key, value = arrays(f32)
    value[...] = np.nan
    output, sums, rest = run(text(f32, **MASK), query, key, value, np.zeros((3, 5), bool))
    assert not output.any() and not rest.any()
    assert (sums == -inf).all()


@pytest.mark.parametrize("empty", ["batch", "rows", "columns", "width", "depth"])
def test_sizes_of_zero(empty):
    given = arrays(f64, **{empty: 0})
    for found, expected in zip(
        run(text(f64), *given)[:2], attended(*given, scale=0.5), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    no_heads = arrays(f64, heads=0, groups=0)
    assert [each.shape for each in run(text(f64), *no_heads)] == [(2, 0, 3, 2), *[(2, 0, 3)] * 2]


def test_large_scores_do_not_overflow():
    query, key, value = (np.full((1, 1, 1, 1), each, np.float32) for each in (1e4, 1e4, 3))
    output, sums, _ = run(text(f32), query, key, value)
    assert (output.item(), sums.item()) == (3, np.float32(5e7))


def test_the_rest_is_what_the_log_sum_exp_was_rounded_by():
    query, key = (np.full((1, 1, each, 1), 1e4, np.float32) for each in (1, 3))
    _, sums, rest = run(text(f32), query, key, key)
    assert sums.item() == np.float32(5e7)
    np.testing.assert_allclose(rest.item(), log(3), rtol=1e-6)


def test_an_infinite_score_or_nan_gives_nan():
    query, key, value = arrays(f32)
    key[0, 0, 0, 0] = np.nan
    output, sums, _ = run(text(f32), query, key, value)
    assert np.isnan(output[0, :2]).all() and np.isnan(sums[0, :2]).all()
    assert np.isfinite(output[0, 2:]).all() and np.isfinite(sums[1]).all()


def test_weights_are_not_rounded_to_a_narrow_dtype():
    query, key = np.zeros((1, 1, 1, 1), bf16.storage), np.zeros((1, 1, 3, 1), bf16.storage)
    value = np.array([256, 1, 1]).astype(bf16.storage).reshape(1, 1, 3, 1)
    output, *_ = run(text(bf16), query, key, value)
    assert float(output.item()) == 86  # (256 + 1 + 1) / 3


def test_heads_that_are_no_multiple_fail_when_run():
    given = arrays(f32, heads=3, groups=2)
    assert "tensor.attention: 3 heads of query are no multiple of 2 heads of key" in failure(
        text(f32), *given
    )
    assert "1 heads of query are no multiple of 0" in failure(
        text(f32), *arrays(f32, heads=1, groups=0)
    )


def test_attention_of_constants_is_not_folded():
    func = Func("f")
    builder = Builder(func.body)
    types = [Tensor((1, 1, 1, 1), f32)] * 3
    one = payload(np.ones((1, 1, 1, 1), np.float32), f32)
    constants = [builder.emit(tensor.Constant, one) for _ in types]
    inner = builder.nest(types[:1])
    inner.emit_all(Yield, inner.block.arguments)
    made = builder.emit_all(tensor.Attention, *constants, [], scale=1.0, score=inner.block)
    builder.emit_all(Return, made)
    assert isinstance(made[0].op, tensor.Attention)


def refused(types=TYPES, takes=None, gives: int | None = 0, impure=False):
    """What building complains about; the region takes `takes` and yields argument `gives`."""
    func = Func("f", [*types, Scalar(boolean)])
    builder = Builder(func.body)
    inner = builder.nest(takes or [Tensor((1, 4, 2, 5), f32)])
    if impure:
        inner.emit_all(tile.Assume, func.arguments[-1])
    if gives is not None:
        inner.emit_all(Yield, inner.block.arguments[gives : gives + 1])
    with pytest.raises(VerifyError) as caught:
        builder.emit(
            tensor.Attention,
            *func.arguments[:3],
            func.arguments[3:-1],
            scale=1.0,
            score=inner.block,
        )
    return caught.value.message


def test_refusals_name_operands_and_sizes():
    query, key, value = TYPES
    assert "query is tensor<[4], f32>, expected a tensor of rank 4" in refused(
        (Tensor((4,), f32), key, value)
    )
    assert "key is tensor<[4], f32>" in refused((query, Tensor((4,), f32), value))
    assert "value is tensor<[4], f32>" in refused((query, key, Tensor((4,), f32)))
    assert "query is of f32, key of bf16" in refused((query, key.with_dtype(bf16), value))
    assert "scores are of f32, which does not go with a value of f64" in refused(
        (query, key, value.with_dtype(f64))
    )
    assert "expected a dtype among" in refused(tuple(each.with_dtype(i32) for each in TYPES))
    assert "the batch of query is 1, that of key n" in refused(
        (query, Tensor((n, 2, 5, 3), f32), value)
    )
    assert "the batch of query is 1, that of value 2" in refused(
        (query, key, Tensor((2, 2, 5, 6), f32))
    )
    assert "the number of heads of key is 2, that of value 4" in refused(
        (query, key, Tensor((1, 4, 5, 6), f32))
    )
    assert "the length of key is 5, that of value n" in refused(
        (query, key, Tensor((1, 2, n, 6), f32))
    )
    assert "the width of query is 3, that of key 4" in refused(
        (query, Tensor((1, 2, 5, 4), f32), value)
    )
    assert "4 heads of query are no multiple of 3 heads of key" in refused(
        (query, Tensor((1, 3, 5, 3), f32), Tensor((1, 3, 5, 6), f32))
    )


def test_refusals_of_the_region():
    score = Tensor((1, 4, 2, 5), f32)
    other = Tensor((2,), f32)
    assert f"the region score takes ({other}), expected ({score})" in refused(takes=[other])
    assert f"the region score takes ({score}), expected ({score}, {other})" in refused(
        (*TYPES, other)
    )
    assert f"the region score yields ({other}), expected ({score})" in refused(
        (*TYPES, other), [score, other], gives=1
    )
    assert "the region score does not end in yield" in refused(gives=None)
    assert "the region score holds tile.assume, which is not pure" in refused(impure=True)
