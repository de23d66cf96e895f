"""Layers of attention against their formulas, caches against whole sequences."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from brimstone.runtime.steps import STATISTICS
from kit.mistakes import Mistake, check
from kit.sequences import Array, arrays_of, check_slopes, close, drawn, spread, with_arrays
from kit.written_layers import attend_by_heads, multi_head

F64 = {"dtype": bs.float64}
X, MEMORY = drawn(2, 3, 8), drawn(2, 5, 6)
HIDDEN = np.array([[False, True, False], [False, False, True], [True, False, False]])
LATER = np.array([[False, False, True], [False, False, False]])


def own(**options: Any) -> Any:
    """A layer of two heads whose weights and biases are all somewhere."""
    return spread(nn.MultiHeadAttention(8, 2, **options, **F64))


OPTIONS: dict[str, tuple[dict[str, Any], Any]] = {
    "plain": ({}, lambda at: {}),
    "causal": ({"is_causal": True}, lambda at: {"causal": True}),
    "hidden": ({"attn_mask": HIDDEN}, lambda at: {"counts": ~HIDDEN}),
    "hidden, and causal": (
        {"attn_mask": HIDDEN, "is_causal": True}, lambda at: {"counts": ~HIDDEN, "causal": True}),
    "added": ({"attn_mask": X[0, :, :3]}, lambda at: {"bias": X[0, :, :3]}),
    "for each head": (
        {"attn_mask": drawn(4, 3, 3) * 0 + np.arange(4)[:, None, None] * np.eye(3)},
        lambda at: {"bias": np.arange(2 * at, 2 * at + 2)[:, None, None] * np.eye(3)}),
    "padding": ({"key_padding_mask": LATER}, lambda at: {"counts": ~LATER[at]}),
    "padding, added": ({"key_padding_mask": X[:, 0, :3]}, lambda at: {"bias": X[at, 0, :3]}),
    "padding, and hidden": (
        {"key_padding_mask": LATER, "attn_mask": HIDDEN},
        lambda at: {"counts": ~LATER[at] & ~HIDDEN}),
    "both added": (
        {"key_padding_mask": X[:, 0, :3], "attn_mask": X[0, :, :3]},
        lambda at: {"bias": X[at, 0, :3] + X[0, :, :3]}),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("weights", [False, True])
def test_it_is_its_formula(name: str, weights: bool) -> None:
    layer, (options, written) = own(), OPTIONS[name]
    found = layer(bs.asarray(X), need_weights=weights, **options)
    found = found[0] if weights else found
    for at, x in enumerate(X):
        close(found[at], multi_head(x, x, x, arrays_of(layer), 2, **written(at)))


@pytest.mark.parametrize("bias", [True, False])
def test_keys_and_values_of_other_sizes(bias: bool) -> None:
    layer, values = own(kdim=6, vdim=4, bias=bias), drawn(2, 5, 4)
    found = layer(bs.asarray(X), bs.asarray(MEMORY), bs.asarray(values))
    for at, x in enumerate(X):
        close(found[at], multi_head(x, MEMORY[at], values[at], arrays_of(layer), 2))


def test_another_sequence_of_the_same_size() -> None:
    layer, memory = own(), drawn(2, 5, 8)
    remembered = layer.remember(bs.asarray(memory))
    expected = np.stack(
        [multi_head(x, y, y, arrays_of(layer), 2) for x, y in zip(X, memory, strict=True)]
    )
    close(layer(bs.asarray(X), bs.asarray(memory)), expected)
    close(layer(bs.asarray(X), remembered), expected)


def test_weights_are_shares_and_their_mean() -> None:
    layer = own()
    _, each = layer(bs.asarray(X), need_weights=True, average_attn_weights=False)
    _, mean = layer(bs.asarray(X), need_weights=True)
    assert each.shape == (2, 2, 3, 3)
    close(each.sum(axis=-1), np.ones((2, 2, 3)))
    close(mean, each.numpy().mean(axis=1))


@pytest.mark.parametrize("weights", [False, True])
def test_who_may_attend_to_nothing_gets_nothing(weights: bool) -> None:
    layer = own()
    lost = np.array([[True, True, True], [False] * 3, [False] * 3])
    found: Any = layer(bs.asarray(X), attn_mask=lost, need_weights=weights)
    if weights:
        found, shares = found
        close(shares[:, 0], np.zeros((2, 3)))
    close(found[:, 0], np.broadcast_to(arrays_of(layer)["out_proj.bias"], (2, 8)))
    x = bs.asarray(X)
    gradient = bs.grad(lambda x: bs.sum(layer(x, attn_mask=lost, need_weights=weights)[0] ** 2))(x)
    assert np.isfinite(gradient.numpy()).all()


def test_a_batch_may_come_second_or_not_at_all() -> None:
    layer = own()
    expected = layer(bs.asarray(X)).numpy()
    second = layer.replace(batch_first=False)
    close(bs.swapaxes(second(bs.asarray(X.swapaxes(0, 1))), 0, 1), expected)
    found, weights = layer(bs.asarray(X[0]), need_weights=True)
    close(found, expected[0])
    assert weights.shape == (3, 3)


def test_one_position() -> None:
    layer = own()
    x = X[0, :1]
    found = layer(bs.asarray(x[None]), is_causal=True)
    close(found[0], multi_head(x, x, x, arrays_of(layer), 2))


@pytest.mark.parametrize("options", [{}, {"need_weights": True}], ids=["fused", "with weights"])
def test_gradients_are_slopes(options: dict[str, bool]) -> None:
    layer, by = own(), drawn(2, 3, 8)

    def loss(tree: Any) -> Any:
        ours, x = tree
        made = ours(x, attn_mask=HIDDEN, **options)
        return ((made[0] if options else made) * by).sum()

    check_slopes(loss, (layer, bs.asarray(X)))


def test_dropped_weights() -> None:
    """What is left of the shares counts as much more; without training nothing is dropped."""
    layer, x = own(dropout=0.5), bs.asarray(X)
    _, kept = layer(x, need_weights=True, average_attn_weights=False)
    with nn.training(1):
        dropped, weights = layer(x, need_weights=True, average_attn_weights=False)
        other = layer(x)
    found = weights.numpy()
    assert 0 < (found == 0).sum() < found.size
    np.testing.assert_allclose(found, np.where(found == 0, 0, 2 * kept.numpy()), rtol=1e-12)
    assert np.isfinite(other.numpy()).all()
    assert not np.allclose(dropped.numpy(), other.numpy())


SHARING: dict[str, dict[str, Any]] = {
    "every head its own": {},
    "two share": {"num_kv_heads": 2},
    "all share": {"num_kv_heads": 1},
    "small heads": {"num_kv_heads": 2, "head_dim": 3, "bias": True},
    "scaled and bounded": {"num_kv_heads": 2, "scale": 0.7, "soft_cap": 0.5},
}


def projected(layer: Any, x: Array, name: str) -> Array:
    arrays = arrays_of(layer)
    return x @ arrays[f"{name}.weight"].T + arrays.get(f"{name}.bias", 0)


@pytest.mark.parametrize("name", SHARING)
def test_grouped_attention_is_its_formula(name: str) -> None:
    layer = spread(nn.GroupedQueryAttention(8, 4, **SHARING[name], **F64))
    options = {key: SHARING[name][key] for key in ("scale", "soft_cap") if key in SHARING[name]}
    options |= {"counts": ~HIDDEN, "bias": X[0, :, :3], "causal": True}
    found = layer(bs.asarray(X), mask=~HIDDEN, bias=X[0, :, :3], causal=True)
    for at, x in enumerate(X):
        query, key, value = (projected(layer, x, f"{letter}_proj") for letter in "qkv")
        made = attend_by_heads(query, key, value, layer.head_dim, **options)
        close(found[at], projected(layer, made, "o_proj"))


@pytest.mark.parametrize("dropout", [0.0, 1e-300], ids=["fused", "weights apart"])
def test_cross_attention_is_its_formula(dropout: float) -> None:
    layer = spread(nn.CrossAttention(8, 6, 4, num_kv_heads=2, dropout=dropout, soft_cap=2.0, **F64))
    remembered = layer.remember(bs.asarray(MEMORY))
    counts = MEMORY[:, None, :3, 0] > -0.5
    mask = np.concatenate([counts, counts[..., :2]], axis=-1)[:, None]
    with nn.training(0):
        found = layer(bs.asarray(X), bs.asarray(MEMORY), mask=mask)
        again = layer(bs.asarray(X), remembered, mask=mask)
    close(again, found.numpy())
    for at, x in enumerate(X):
        query = projected(layer, x, "q_proj")
        key, value = (projected(layer, MEMORY[at], f"{letter}_proj") for letter in "kv")
        made = attend_by_heads(query, key, value, 2, counts=mask[at, 0], soft_cap=2.0)
        close(found[at], projected(layer, made, "o_proj"))


def test_gradients_of_grouped_attention_are_slopes() -> None:
    rotary = nn.RotaryEncoding(2)
    layer = spread(nn.GroupedQueryAttention(8, 4, num_kv_heads=2, rotary=rotary, **F64))
    by = drawn(2, 3, 8)
    loss: Any = lambda tree: (tree[0](tree[1], causal=True) * by).sum()  # noqa: E731
    check_slopes(loss, (layer, bs.asarray(X)))


CACHING: dict[str, Any] = {
    "multi-head": (nn.MultiHeadAttention(8, 2, **F64), "is_causal"),
    "grouped": (nn.GroupedQueryAttention(8, 4, num_kv_heads=2, **F64), "causal"),
    "rotary": (nn.GroupedQueryAttention(8, 2, rotary=nn.RotaryEncoding(4), **F64), "causal"),
}


@pytest.mark.parametrize("name", CACHING)
@pytest.mark.parametrize("pieces", [(1, 1, 1, 1), (3, 1), (2, 2)])
def test_pieces_give_what_the_whole_gives(name: str, pieces: tuple[int, ...]) -> None:
    layer, causal = CACHING[name]
    x = bs.asarray(drawn(2, 4, 8))
    cache, made, begin = layer.empty_cache(2, capacity=6), [], 0
    assert cache.key.dtype == bs.float64
    for count in pieces:
        piece = x[:, begin : begin + count]
        found, cache = layer(piece, cache=cache, **{causal: True})
        made.append(found.numpy())
        begin += count
    assert int(cache.position) == 4
    close(layer(x, **{causal: True}), np.concatenate(made, axis=1))


def test_a_cache_with_masks_of_its_keys() -> None:
    layer = own()
    padding = np.array([[True, False, False, False], [False] * 4])
    x = bs.asarray(drawn(2, 4, 8))
    _, cache = layer(x[:, :2], cache=layer.empty_cache(2, 4), key_padding_mask=padding)
    found, weights, _ = layer(x[:, 2:], cache=cache, key_padding_mask=padding, need_weights=True)
    whole, expected = layer(x, key_padding_mask=padding, need_weights=True)
    close(found, whole.numpy()[:, 2:])
    close(weights, expected.numpy()[:, 2:])


def test_one_compiled_step_serves_all_positions() -> None:
    layer = nn.GroupedQueryAttention(8, 2, num_kv_heads=1, rotary=nn.RotaryEncoding(4), **F64)
    step = bs.jit(lambda layer, x, cache: layer(x, causal=True, cache=cache))
    x, made = bs.asarray(drawn(1, 4, 8)), []
    cache = layer.empty_cache(1, 4)
    for at in range(4):
        found, cache = step(layer, x[:, at : at + 1], cache)
        made.append(found.numpy())
    assert len(step.plans) == 1
    close(layer(x, causal=True), np.concatenate(made, axis=1))
    with pytest.raises(bs.PlaceError, match="outside axis 2 of size 4"):
        step(layer, x[:, :1], cache)[0].numpy()


def test_examples_may_be_mapped() -> None:
    layer, x = own(), bs.asarray(drawn(3, 3, 8))
    mapped = bs.vmap(lambda each: layer(each, is_causal=True))(x)
    close(layer(x, is_causal=True), mapped.numpy())


def test_new_batches_are_not_traced_and_new_lengths_compile_nothing() -> None:
    rotary, traced = nn.RotaryEncoding(4), []
    layers = own(), nn.GroupedQueryAttention(8, 2, num_kv_heads=1, rotary=rotary, **F64)

    def outputs(x: Any) -> Any:
        traced.append(x)
        x = layers[0](x, need_weights=True)[0]
        return layers[1](layers[0](x, is_causal=True), causal=True)

    step = bs.jit(outputs)
    for batch in (5, 6, 9):
        assert step(bs.asarray(drawn(batch, 7, 8))).shape == (batch, 7, 8)
    assert len(traced) == 1
    before = STATISTICS.compiled
    for length in (9, 6):
        assert step(bs.asarray(drawn(5, length, 8))).shape == (5, length, 8)
    assert STATISTICS.compiled == before


@pytest.mark.parametrize("weights", [False, True])
def test_narrow_floats_stay_narrow(weights: bool) -> None:
    layer, x = nn.MultiHeadAttention(8, 2, dtype=bs.bfloat16), bs.ones((1, 3, 8), dtype=bs.bfloat16)
    found = layer(x, need_weights=weights)
    for each in found if weights else (found,):
        assert each.dtype == bs.bfloat16


def test_biases_begin_at_zero() -> None:
    layer = nn.MultiHeadAttention(8, 2, key=bs.random.key(1))
    arrays = arrays_of(layer)
    assert not arrays["in_proj_bias"].any() and not arrays["out_proj.bias"].any()
    assert np.abs(arrays["in_proj_weight"]).max() <= (6 / (8 + 24)) ** 0.5


def test_files_of_separate_projections_fit() -> None:
    layer = nn.MultiHeadAttention(8, 2, kdim=6)
    names = ["q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias", "out_proj.weight"]
    assert list(bs.tree_paths(layer)) == [*names, "out_proj.bias"]
    zeros = {name: np.zeros_like(each) for name, each in arrays_of(layer).items()}
    assert not with_arrays(layer, zeros)(bs.ones((3, 8)), bs.ones((2, 6)), bs.ones((2, 8))).any()


MULTI, GROUPED = nn.MultiHeadAttention(8, 2), nn.GroupedQueryAttention(8, 4)
ONES = bs.ones((2, 3, 8))
MISTAKES = {
    "heads": Mistake(lambda: nn.MultiHeadAttention(8, 3), bs.ArgumentError, "cannot share 8"),
    "no heads": Mistake(lambda: nn.MultiHeadAttention(8, 0), bs.ArgumentError, "0 heads"),
    "groups": Mistake(
        lambda: nn.GroupedQueryAttention(8, 4, num_kv_heads=3), bs.ArgumentError,
        "4 heads of queries cannot share 3"),
    "no groups": Mistake(
        lambda: nn.CrossAttention(8, 4, 4, num_kv_heads=0), bs.ArgumentError, "cannot share 0"),
    "no probability": Mistake(
        lambda: nn.MultiHeadAttention(8, 2, dropout=2.0), bs.ArgumentError, "p is a probability"),
    "queries": Mistake(
        lambda: MULTI(bs.ones((2, 3, 7))), bs.ShapeError, "takes [batch, length, 8]"),
    "keys": Mistake(lambda: MULTI(ONES, bs.ones((2, 3, 6))), bs.ShapeError, "[batch, length, 8]"),
    "axes": Mistake(lambda: MULTI(ONES[None]), bs.ShapeError, "or [length, 8]"),
    "lengths": Mistake(
        lambda: MULTI(ONES, ONES, bs.ones((2, 4, 8))), bs.ShapeError, "values 4 long"),
    "batches": Mistake(lambda: MULTI(ONES, bs.ones((1, 3, 8))), bs.ShapeError, "differ"),
    "whole numbers": Mistake(
        lambda: MULTI(ONES, attn_mask=np.ones((3, 3), np.int64)), bs.DTypeError,
        "attn_mask is of booleans"),
    "heads of a mask": Mistake(
        lambda: MULTI(ONES, attn_mask=np.ones((3, 3, 3), bool)), bs.ShapeError,
        "attn_mask is [length, length of keys]"),
    "size of a mask": Mistake(
        lambda: MULTI(ONES, attn_mask=np.ones((3, 4), bool)), bs.ShapeError, "attention"),
    "axes of padding": Mistake(
        lambda: MULTI(ONES, key_padding_mask=np.ones((2, 3, 3), bool)), bs.ShapeError,
        "key_padding_mask is [batch, length of keys]"),
    "vectors": Mistake(
        lambda: GROUPED(bs.ones((2, 3, 7))), bs.ShapeError, "last axes are [8]"),
    "a context": Mistake(
        lambda: nn.CrossAttention(8, 6, 2)(ONES, ONES), bs.ShapeError, "last axes are [6]"),
    "a mask of floats": Mistake(
        lambda: GROUPED(ONES, mask=np.ones((3, 3))), bs.DTypeError, "bools say what counts"),
    "no room": Mistake(lambda: GROUPED.empty_cache(2, 0), bs.ArgumentError, "one position or more"),
    "little room": Mistake(
        lambda: GROUPED(ONES, cache=GROUPED.empty_cache(2, 2)), bs.ShapeError,
        "there is room for 2 positions, not for 3 more"),
    "another's cache": Mistake(
        lambda: GROUPED(ONES, cache=MULTI.empty_cache(2, 4)), bs.ShapeError,
        "the cache was made for other keys"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(name: str) -> None:
    check(MISTAKES[name])
