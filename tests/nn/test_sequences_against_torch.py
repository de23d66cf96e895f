"""Layers of sequences and all their gradients agree with PyTorch's, in float64.

Both libraries call layers, arguments and parameters by the same names: a row makes a layer of
either. PyTorch is a peer, never a dependency: these tests run where it happens to be installed.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.beside_torch import spread, torch
from kit.sequences import Array, arrays_of, with_arrays

LENGTHS = [4, 1, 3]
X, WIDE, MEMORY = spread(-1, 1, 3, 4, 3), spread(-1, 1, 3, 4, 6), spread(-1, 1, 3, 2, 6)
NARROW, OTHER = spread(-1, 1, 3, 2, 3), spread(-1, 1, 3, 2, 5)
ROW, STATE, CELL = spread(-1, 1, 2, 3), spread(-1, 1, 2, 4), spread(-1, 1, 2, 4)
HIDDEN = np.array([[i < j or (i + j) % 3 == 2 for j in range(4)] for i in range(4)])
BEFORE = np.tri(4, dtype=bool)
LATER = np.array([[j >= length for j in range(4)] for length in LENGTHS])
BOTH = np.array([[j >= length for j in range(2)] for length in (2, 1, 2)])

Call = Callable[..., Any]


class Row(NamedTuple):
    """A layer of a library, what it is called with, and how each library calls it."""

    layer: Call
    inputs: tuple[Array, ...]
    ours: Call
    theirs: Call


def plainly(layer: Any, *inputs: Any) -> Any:
    return layer(*inputs)


def row(layer: Call, *inputs: Array, ours: Call = plainly, theirs: Call | None = None) -> Row:
    """Both libraries are called alike unless it is said how theirs is."""
    return Row(layer, inputs, ours, theirs or ours)


def recurrent(name: str, size: int = 3, **options: Any) -> Call:
    """Layers from `size` numbers to four."""
    return lambda lib: getattr(lib, name)(size, 4, batch_first=True, **options)


def with_lengths(layer: Any, x: Any) -> Any:
    return layer(x, lengths=LENGTHS)


def packed(layer: Any, x: Any) -> Any:
    """What PyTorch makes of a packed sequence."""
    tools = torch.nn.utils.rnn
    whole = tools.pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
    made, last = layer(whole)
    return tools.pad_packed_sequence(made, batch_first=True)[0], last


def as_pair(layer: Any, x: Any, h: Any, c: Any) -> Any:
    return layer(x, (h, c))


def states(count: int, *sizes: int) -> list[Array]:
    return [spread(-1, 1, count, 3, size) for size in sizes]


ALL = {"num_layers": 2, "bidirectional": True}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "RNN": ("RNN", {}),
    "RNN, relu": ("RNN", {"nonlinearity": "relu", "bidirectional": True}),
    "RNN, all": ("RNN", ALL),
    "GRU": ("GRU", {}),
    "GRU, no bias": ("GRU", {"bias": False, "num_layers": 2}),
    "GRU, all": ("GRU", ALL),
    "LSTM": ("LSTM", {}),
    "LSTM, no bias": ("LSTM", {"bias": False, "bidirectional": True}),
    "LSTM, all": ("LSTM", ALL),
    "LSTM, projected": ("LSTM", {"proj_size": 2, **ALL}),
}

RECURRENT = {
    **{name: row(recurrent(kind, **options), X) for name, (kind, options) in KINDS.items()},
    **{
        f"{name}, lengths": row(recurrent(kind, **options), X, ours=with_lengths, theirs=packed)
        for name, (kind, options) in KINDS.items()
    },
    "RNN, state": row(recurrent("RNN"), X, *states(1, 4)),
    "GRU, state": row(recurrent("GRU", **ALL), X, *states(4, 4)),
    "LSTM, state": row(recurrent("LSTM", **ALL), X, *states(4, 4, 4), ours=as_pair),
    "LSTM, projected, state": row(
        recurrent("LSTM", proj_size=2, **ALL), X, *states(4, 2, 4), ours=as_pair),
    "GRU, no batch": row(recurrent("GRU", **ALL), X[0]),
    "LSTM, batch second": row(lambda lib: lib.LSTM(3, 4, 2, batch_first=False), X),
    "RNNCell": row(lambda lib: lib.RNNCell(3, 4), ROW, STATE),
    "RNNCell, relu": row(lambda lib: lib.RNNCell(3, 4, nonlinearity="relu"), ROW, STATE),
    "GRUCell": row(lambda lib: lib.GRUCell(3, 4), ROW, STATE),
    "GRUCell, no state": row(lambda lib: lib.GRUCell(3, 4, bias=False), ROW),
    "LSTMCell": row(lambda lib: lib.LSTMCell(3, 4), ROW, STATE, CELL, ours=as_pair),
    "LSTMCell, no batch": row(lambda lib: lib.LSTMCell(3, 4), ROW[0]),
}  # fmt: skip


def attention(**options: Any) -> Call:
    """Three heads of two numbers."""
    return lambda lib: lib.MultiheadAttention(6, 3, batch_first=True, **options)


def given(*, weights: bool = False, mean: bool = True, **masks: Any) -> dict[str, Call]:
    """How each library is called with masks, where it is asked for weights or not."""

    def called(convert: Call, layer: Any, *inputs: Any) -> Any:
        query, key, value = (*inputs, inputs[-1], inputs[-1])[:3]
        made = {name: convert(mask) for name, mask in masks.items()}
        options = {"need_weights": weights, "average_attn_weights": mean, **made}
        found = layer(query, key, value, **options)
        return found[0] if isinstance(found, tuple) and not weights else found

    return {"ours": partial(called, bs.asarray), "theirs": partial(called, torch.asarray)}


ATTENTION = {
    "itself": row(attention(), WIDE, **given()),
    "weights": row(attention(), WIDE, **given(weights=True)),
    "weights of heads": row(attention(), WIDE, **given(weights=True, mean=False)),
    "no bias": row(attention(bias=False), WIDE, **given()),
    "another": row(attention(), WIDE, MEMORY, **given()),
    "keys and values": row(attention(), WIDE, MEMORY, MEMORY + 0.3, **given()),
    "other sizes": row(attention(kdim=3, vdim=5), WIDE, NARROW, OTHER, **given()),
    "another size of keys": row(attention(kdim=3), WIDE, NARROW, MEMORY, **given(weights=True)),
    "hidden": row(attention(), WIDE, **given(attn_mask=HIDDEN)),
    "hidden, weights": row(attention(), WIDE, **given(attn_mask=HIDDEN, weights=True)),
    "added": row(attention(), WIDE, **given(attn_mask=spread(-2, 2, 4, 4))),
    "added to each head": row(attention(), WIDE, **given(attn_mask=spread(-2, 2, 9, 4, 4))),
    "padding": row(attention(), WIDE, **given(key_padding_mask=LATER)),
    "padding, added": row(attention(), WIDE, **given(key_padding_mask=spread(-2, 2, 3, 4))),
    "padding, hidden": row(
        attention(), WIDE, **given(key_padding_mask=LATER, attn_mask=~BEFORE)),
    "no batch": row(attention(), WIDE[0], **given(weights=True)),
    "batch second": row(
        lambda lib: lib.MultiheadAttention(6, 2, batch_first=False), WIDE, **given()),
}  # fmt: skip


def encoder_layer(lib: Any, **options: Any) -> Any:
    return lib.TransformerEncoderLayer(6, 2, 5, dropout=0.0, batch_first=True, **options)


def decoder_layer(lib: Any, **options: Any) -> Any:
    return lib.TransformerDecoderLayer(6, 2, 5, dropout=0.0, batch_first=True, **options)


def encoder(lib: Any, **options: Any) -> Any:
    """Two layers and a norm."""
    layer, norm = encoder_layer(lib, **options), lib.LayerNorm(6)
    if lib is nn:
        return nn.TransformerEncoder(layer, 2, norm)
    return lib.TransformerEncoder(layer, 2, norm, enable_nested_tensor=False)


def whole(lib: Any) -> Any:
    return lib.Transformer(6, 2, 1, 2, 5, dropout=0.0, batch_first=True)


def masked(**masks: Any) -> dict[str, Call]:
    """How each library is called with masks."""

    def called(convert: Call, layer: Any, *inputs: Any) -> Any:
        return layer(*inputs, **{name: convert(mask) for name, mask in masks.items()})

    return {"ours": partial(called, bs.asarray), "theirs": partial(called, torch.asarray)}


TRANSFORMERS = {
    "encoder layer": row(encoder_layer, WIDE),
    "encoder layer, masks": row(
        encoder_layer, WIDE, **masked(src_mask=~BEFORE, src_key_padding_mask=LATER)),
    "encoder layer, norms first": row(partial(encoder_layer, norm_first=True), WIDE),
    "encoder layer, gelu": row(partial(encoder_layer, activation="gelu", bias=False), WIDE),
    "encoder": row(encoder, WIDE, **masked(mask=~BEFORE)),
    "encoder, norms first": row(partial(encoder, norm_first=True), WIDE),
    "decoder layer": row(decoder_layer, WIDE, MEMORY),
    "decoder layer, masks": row(
        decoder_layer, WIDE, MEMORY,
        **masked(tgt_mask=~BEFORE, tgt_key_padding_mask=LATER, memory_key_padding_mask=BOTH)),
    "decoder layer, norms first": row(
        partial(decoder_layer, norm_first=True), WIDE, MEMORY, **masked(tgt_mask=HIDDEN)),
    "decoder": row(
        lambda lib: lib.TransformerDecoder(decoder_layer(lib), 2, lib.LayerNorm(6)), WIDE, MEMORY),
    "transformer": row(whole, MEMORY, WIDE, **masked(tgt_mask=~BEFORE, src_key_padding_mask=BOTH)),
}  # fmt: skip

ROWS = {
    f"{topic}: {name}": each
    for topic, rows in {
        "recurrent": RECURRENT, "attention": ATTENTION, "transformers": TRANSFORMERS,
    }.items()
    for name, each in rows.items()
}  # fmt: skip


def both(row: Row) -> tuple[Any, Any]:
    """The layer of either library, with the same parameters, all of them somewhere."""
    theirs = row.layer(torch.nn).double()
    shapes = {name: tuple(each.shape) for name, each in theirs.named_parameters()}
    arrays = {name: spread(-0.9, 0.9, *shape) for name, shape in shapes.items()}
    theirs.load_state_dict({name: torch.asarray(each) for name, each in arrays.items()})
    return with_arrays(row.layer(nn), arrays), theirs


def parts(result: Any) -> list[Any]:
    """The tensors of a result, which may lie in tuples."""
    if not isinstance(result, tuple):
        return [result]
    return [part for each in result for part in parts(each)]


def weighted(result: Any, convert: Call) -> Any:
    """One number made of all elements of a result, each of which has another share in it."""
    lines = [part.reshape(-1) for part in parts(result)]
    return sum([(line * convert(np.cos(np.arange(line.shape[0])))).sum() for line in lines])


def agree(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected.numpy(force=True), rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", ROWS)
def test_values_and_gradients_agree(name: str) -> None:
    row = ROWS[name]
    ours, theirs = both(row)
    inputs = [torch.tensor(each, requires_grad=True) for each in row.inputs]
    expected = row.theirs(theirs, *inputs)
    weighted(expected, torch.asarray).backward()

    def loss(tree: Any) -> Any:
        made = row.ours(*tree)
        return weighted(made, bs.asarray), made

    tree = (ours, *map(bs.asarray, row.inputs))
    (_, found), slopes = bs.value_and_grad(loss, has_aux=True)(tree)
    for one, other in zip(parts(found), parts(expected), strict=True):
        assert one.shape == tuple(other.shape)
        agree(one.numpy(), other)
    of_parameters = arrays_of(slopes[0])
    for path, parameter in theirs.named_parameters():
        agree(of_parameters[path], parameter.grad)
    for slope, each in zip(slopes[1:], inputs, strict=True):
        agree(slope.numpy(), each.grad)
