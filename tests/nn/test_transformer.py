"""Transformers against their formulas, and step by step against whole sequences."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.mistakes import Mistake, check
from kit.sequences import Array, arrays_of, check_slopes, close, drawn, spread
from kit.written_layers import layer_norm, rectified, transformer_layer, within

F64: Any = {"dtype": bs.float64}
X, MEMORY = drawn(2, 3, 4), drawn(2, 5, 4)
HIDDEN = np.array([[False, True, False], [False, False, True], [True, False, False]])
LATER = np.array([[False, False, True], [False, False, False]])


def logistic(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def root_mean_square(x: Array, own: Any, name: str) -> Array:
    normal = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    return normal * own[f"{name}.weight"]


def rms(size: int) -> Any:
    return nn.RmsNorm(size, 1e-6, **F64)


LAYERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "norms behind": ({}, {}),
    "norms first": ({"norm_first": True}, {"norm_first": True}),
    "no bias": ({"bias": False}, {}),
    "another curve": ({"activation": "silu"}, {"curve": logistic}),
    "a function": ({"activation": bs.tanh}, {"curve": np.tanh}),
    "another norm": ({"norm": rms, "norm_first": True},
                     {"normed": root_mean_square, "norm_first": True}),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_of_an_encoder_is_its_formula(name: str) -> None:
    options, written = LAYERS[name]
    layer = spread(nn.TransformerEncoderLayer(4, 2, 6, **options, **F64))
    found = layer(bs.asarray(X), HIDDEN, LATER)
    for at, x in enumerate(X):
        counts = ~HIDDEN & ~LATER[at]
        close(found[at], transformer_layer(x, arrays_of(layer), 2, counts=counts, **written))


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_of_a_decoder_is_its_formula(name: str) -> None:
    options, written = LAYERS[name]
    layer = spread(nn.TransformerDecoderLayer(4, 2, 6, **options, **F64))
    memory = bs.asarray(MEMORY)
    found = layer(bs.asarray(X), memory, tgt_is_causal=True)
    close(layer(bs.asarray(X), layer.remember(memory), tgt_is_causal=True), found.numpy())
    for at, x in enumerate(X):
        own = arrays_of(layer)
        close(found[at], transformer_layer(x, own, 2, MEMORY[at], causal=True, **written))


def test_stacks_are_layers_one_above_the_other() -> None:
    norm = nn.LayerNorm(4, **F64)
    layer = nn.TransformerEncoderLayer(4, 2, 6, **F64)
    encoder = spread(nn.TransformerEncoder(layer, 2, norm))
    decoder = spread(nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 1, 6, **F64), 2))
    memory = encoder(bs.asarray(X), is_causal=True)
    found = decoder(bs.asarray(X), memory, tgt_mask=HIDDEN)
    close(decoder(bs.asarray(X), decoder.remember(memory), tgt_mask=HIDDEN), found.numpy())
    for at, x in enumerate(X):
        seen, own, ours = x, arrays_of(encoder), arrays_of(decoder)
        for number in range(2):
            seen = transformer_layer(seen, within(own, f"layers.{number}"), 2, causal=True)
        seen = layer_norm(seen, own, "norm")
        close(memory[at], seen)
        for number in range(2):
            its = within(ours, f"layers.{number}")
            x = transformer_layer(x, its, 1, seen, counts=~HIDDEN)  # noqa: PLW2901
        close(found[at], x)


def test_the_layers_of_a_stack_are_different_modules() -> None:
    copied = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6), 2)
    one, other = copied.layers
    assert one is not other and one.self_attn is not other.self_attn
    close(one.linear1.weight, other.linear1.weight.numpy())
    made = nn.TransformerEncoder(
        lambda at: nn.TransformerEncoderLayer(4, 2, 6, key=bs.random.key(at)), 2
    )
    one, other = (layer.linear1.weight.numpy() for layer in made.layers)
    assert not np.allclose(one, other)


def test_the_whole_is_an_encoder_and_a_decoder() -> None:
    model = spread(nn.Transformer(4, 2, 1, 2, 6, key=bs.random.key(5), **F64))
    src, tgt = bs.asarray(MEMORY), bs.asarray(X)
    found = model(src, tgt, tgt_is_causal=True)
    memory = model.encoder(src)
    close(model.decoder(tgt, memory, tgt_is_causal=True), found.numpy())
    assert "decoder.layers.1.multihead_attn.out_proj.weight" in bs.tree_paths(model)
    assert {"encoder.norm.weight", "decoder.norm.bias"} <= {*bs.tree_paths(model)}


def test_batches_may_come_second() -> None:
    options = {"dim_feedforward": 6, **F64}
    first = spread(nn.TransformerEncoderLayer(4, 2, **options))
    second = nn.TransformerEncoderLayer(4, 2, batch_first=False, **options)
    second = bs.tree_flatten(second)[1].build(bs.tree_leaves(first))
    found = second(bs.asarray(X.swapaxes(0, 1)), src_key_padding_mask=LATER)
    expected = first(bs.asarray(X), src_key_padding_mask=LATER)
    close(bs.swapaxes(found, 0, 1), expected.numpy())


@pytest.mark.parametrize("norm_first", [False, True])
def test_gradients_are_slopes(norm_first: bool) -> None:
    model = spread(nn.Transformer(4, 2, 1, 1, 6, norm_first=norm_first, activation="gelu", **F64))
    by = drawn(2, 3, 4)

    def loss(tree: Any) -> Any:
        ours, src, tgt = tree
        return (ours(src, tgt, tgt_is_causal=True) * by).sum()

    check_slopes(loss, (model, bs.asarray(MEMORY), bs.asarray(X)))


@pytest.mark.parametrize("norm", [None, nn.LayerNorm(4, **F64)], ids=["no norm", "a norm"])
def test_an_encoder_goes_on_where_its_cache_ends(norm: Any) -> None:
    encoder = spread(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, **F64), 2, norm))
    x, cache, made = bs.asarray(drawn(2, 4, 4)), encoder.empty_cache(2, 5), []
    step = bs.jit(lambda model, x, cache: model(x, is_causal=True, cache=cache))
    for at in range(4):
        found, cache = step(encoder, x[:, at : at + 1], cache)
        made.append(found.numpy())
    assert len(step.plans) == 1
    assert [int(each.position) for each in cache] == [4, 4]
    close(encoder(x, is_causal=True), np.concatenate(made, axis=1))


def test_a_decoder_goes_on_where_its_cache_ends() -> None:
    decoder = spread(nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 6, **F64), 2))
    x, memory, made = bs.asarray(drawn(2, 4, 4)), bs.asarray(MEMORY), []
    expected = decoder(x, memory, tgt_is_causal=True)
    remembered, cache = decoder.remember(memory), decoder.empty_cache(2, 4)
    step = bs.jit(lambda model, x, memory, cache: model(x, memory, tgt_is_causal=True, cache=cache))
    for at in range(4):
        found, cache = step(decoder, x[:, at : at + 1], remembered, cache)
        made.append(found.numpy())
    assert len(step.plans) == 1
    close(expected, np.concatenate(made, axis=1))


def test_a_training_step_is_traced_once_for_all_batches() -> None:
    model, traced = nn.Transformer(4, 2, 1, 1, 6, **F64), []

    @bs.jit
    def slopes(model: Any, src: Any, tgt: Any) -> Any:
        traced.append(src)
        with nn.training(3):
            return bs.grad(lambda ours: (ours(src, tgt, tgt_is_causal=True) ** 2).sum())(model)

    for batch in (7, 9):
        found = slopes(model, bs.asarray(drawn(batch, 5, 4)), bs.asarray(drawn(batch, 3, 4)))
        assert all(bs.isfinite(each).all() for each in bs.tree_leaves(found))
    assert len(traced) == 1


def test_dropout_is_another_one_everywhere_and_only_in_training() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.5, **F64)
    encoder, x = spread(nn.TransformerEncoder(layer, 2)), bs.asarray(X)
    plain = encoder(x).numpy()
    with nn.training(1):
        one = encoder(x).numpy()
    with nn.training(1):
        close(encoder(x), one)
    with nn.training(2):
        other = encoder(x).numpy()
    assert len({each.tobytes() for each in (plain, one, other)}) == 3


def test_networks_for_each_position() -> None:
    plain = spread(nn.PositionWiseFeedForward(4, 6, **F64))
    own = arrays_of(plain)
    hidden = rectified(X @ own["linear1.weight"].T + own["linear1.bias"])
    close(plain(bs.asarray(X)), hidden @ own["linear2.weight"].T + own["linear2.bias"])
    gated = spread(nn.GatedFeedForward(4, 6, **F64))
    own = arrays_of(gated)
    hidden = logistic(X @ own["gate_proj.weight"].T) * (X @ own["up_proj.weight"].T)
    close(gated(bs.asarray(X)), hidden @ own["down_proj.weight"].T)


ENCODER = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6), 2)
DECODER = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 6), 2)
ONES = bs.ones((2, 3, 4))
MISTAKES = {
    "no layers": Mistake(
        lambda: nn.TransformerEncoder(ENCODER.layers[0], 0), bs.ArgumentError,
        "`num_layers` is at least 1"),
    "no layer": Mistake(
        lambda: nn.TransformerDecoder(3, 2),  # pyright: ignore[reportArgumentType]
        bs.ArgumentError, "expected a function"),
    "heads": Mistake(
        lambda: nn.TransformerEncoderLayer(4, 3), bs.ArgumentError, "3 heads cannot share 4"),
    "no hidden numbers": Mistake(
        lambda: nn.TransformerDecoderLayer(4, 2, 0), bs.ArgumentError,
        "`dim_feedforward` is at least 1"),
    "another curve": Mistake(
        lambda: nn.TransformerEncoderLayer(4, 2, activation="sine"), bs.ArgumentError,
        "`activation` is a function or one of relu, gelu, silu, tanh"),
    "no probability": Mistake(
        lambda: nn.TransformerEncoderLayer(4, 2, dropout=-1.0), bs.ArgumentError, "probability"),
    "vectors": Mistake(
        lambda: ENCODER(bs.ones((2, 3, 5))), bs.ShapeError, "layers.0.self_attn"),
    "a memory": Mistake(
        lambda: DECODER(ONES, bs.ones((2, 3, 5))), bs.ShapeError, "layers.0.multihead_attn"),
    "memories": Mistake(
        lambda: DECODER(ONES, DECODER.remember(ONES)[:1]), bs.ArgumentError,
        "remembered for 1 layers, and there are 2"),
    "one cache": Mistake(
        lambda: ENCODER(ONES, cache=ENCODER.empty_cache(2, 4)[:1]), bs.ArgumentError,
        "takes 2 caches, one for each layer"),
    "vectors of a network": Mistake(
        lambda: nn.PositionWiseFeedForward(4, 6)(bs.ones((2, 5))), bs.ShapeError, "[4]"),
    "vectors of a gated network": Mistake(
        lambda: nn.GatedFeedForward(4, 6)(bs.ones((2, 5))), bs.ShapeError, "[4]"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(name: str) -> None:
    check(MISTAKES[name])
