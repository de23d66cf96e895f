"""Layers and their gradients, by inputs and by parameters, agree with PyTorch's, in float64.

Both libraries call layers, arguments and parameters by the same names: a row makes a layer of
either. PyTorch is a peer, never a dependency: these tests run where it happens to be installed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.beside_torch import spread, torch

Array = np.ndarray[Any, np.dtype[Any]]


class Row(NamedTuple):
    """A layer of a library, and what it is called with."""

    layer: Callable[[Any], Any]
    inputs: tuple[Array, ...]
    training: bool = False


LINE, IMAGE = spread(-1, 1, 2, 4, 7), spread(-1, 1, 2, 4, 6, 5)
VOLUME, VECTORS = spread(-1, 1, 1, 4, 3, 4, 3), spread(-1, 1, 3, 4)
COLUMNS, OTHER = spread(-1, 1, 2, 12, 12), spread(-1, 1, 3, 4)
PLACES = np.array([[1, 0, 4], [2, 2, 0]])


def row(layer: Callable[[Any], Any], *inputs: Array, training: bool = False) -> Row:
    return Row(layer, inputs, training)


CONVOLUTIONS = {
    "line": row(lambda lib: lib.Conv1d(4, 3, 3), LINE),
    "line, strides over gaps": row(lambda lib: lib.Conv1d(4, 3, 2, stride=3, padding=1), LINE),
    "line as long as the window": row(lambda lib: lib.Conv1d(4, 2, 7), LINE),
    "line, circular": row(
        lambda lib: lib.Conv1d(4, 3, 3, padding=2, padding_mode="circular"), LINE),
    "line, replicate": row(
        lambda lib: lib.Conv1d(4, 3, 3, padding=2, padding_mode="replicate"), LINE),
    "image": row(lambda lib: lib.Conv2d(4, 6, (3, 2), (2, 1), (1, 2)), IMAGE),
    "image, no bias": row(lambda lib: lib.Conv2d(4, 2, 1, bias=False), IMAGE),
    "image, groups": row(lambda lib: lib.Conv2d(4, 6, 3, groups=2, padding=1), IMAGE),
    "image, each channel": row(lambda lib: lib.Conv2d(4, 4, 3, groups=4, dilation=2), IMAGE),
    "image, two for each channel": row(lambda lib: lib.Conv2d(4, 8, 2, groups=4), IMAGE),
    "image, same": row(lambda lib: lib.Conv2d(4, 3, (2, 3), padding="same", dilation=2), IMAGE),
    "image, valid": row(lambda lib: lib.Conv2d(4, 3, 3, padding="valid"), IMAGE),
    "image, reflect": row(
        lambda lib: lib.Conv2d(4, 3, 3, stride=2, padding=(2, 1), padding_mode="reflect"), IMAGE),
    "image, same by reflection": row(
        lambda lib: lib.Conv2d(4, 3, (2, 3), padding="same", padding_mode="reflect"), IMAGE),
    "volume": row(lambda lib: lib.Conv3d(4, 2, (2, 3, 2), (1, 2, 1), (0, 1, 1)), VOLUME),
    "volume, groups": row(lambda lib: lib.Conv3d(4, 4, 2, groups=2, dilation=(1, 2, 1)), VOLUME),
    "volume, circular": row(
        lambda lib: lib.Conv3d(4, 2, 2, padding=1, padding_mode="circular"), VOLUME),
}  # fmt: skip

TRANSPOSED = {
    "line": row(lambda lib: lib.ConvTranspose1d(4, 3, 3, 2, 1, 1), LINE),
    "line, dilated": row(lambda lib: lib.ConvTranspose1d(4, 2, 2, dilation=3), LINE),
    "image": row(lambda lib: lib.ConvTranspose2d(4, 3, (3, 2), (2, 3), (1, 0), (0, 1)), IMAGE),
    "image, groups": row(lambda lib: lib.ConvTranspose2d(4, 6, 2, 2, groups=2), IMAGE),
    "image, each channel": row(
        lambda lib: lib.ConvTranspose2d(4, 4, 3, padding=2, groups=4, bias=False), IMAGE),
    "volume": row(lambda lib: lib.ConvTranspose3d(4, 2, (2, 1, 2), (1, 2, 1)), VOLUME),
}  # fmt: skip

POOLS = {
    "MaxPool1d": row(lambda lib: lib.MaxPool1d(3, 2, 1), LINE),
    "MaxPool1d, ceil": row(lambda lib: lib.MaxPool1d(2, ceil_mode=True), LINE),
    "MaxPool1d, dilated, ceil": row(
        lambda lib: lib.MaxPool1d(2, 3, 1, dilation=3, ceil_mode=True), LINE),
    "MaxPool1d, gaps, ceil": row(lambda lib: lib.MaxPool1d(2, 5, 1, ceil_mode=True), LINE),
    "MaxPool2d": row(lambda lib: lib.MaxPool2d((2, 3), (2, 1), (1, 0)), IMAGE),
    "MaxPool2d, ceil": row(lambda lib: lib.MaxPool2d(3, 2, 1, ceil_mode=True), IMAGE),
    "MaxPool2d of all": row(lambda lib: lib.MaxPool2d((6, 5)), IMAGE),
    "MaxPool3d": row(lambda lib: lib.MaxPool3d(2, 1), VOLUME),
    "MaxPool3d, ceil": row(lambda lib: lib.MaxPool3d(2, ceil_mode=True), VOLUME),
    "AvgPool1d": row(lambda lib: lib.AvgPool1d(3, 2, 1), LINE),
    "AvgPool1d, ceil": row(lambda lib: lib.AvgPool1d(4, 3, 2, ceil_mode=True), LINE),
    "AvgPool1d, ceil, no padding counts": row(
        lambda lib: lib.AvgPool1d(4, 3, 2, ceil_mode=True, count_include_pad=False), LINE),
    "AvgPool2d": row(lambda lib: lib.AvgPool2d((3, 2), (2, 1), 1), IMAGE),
    "AvgPool2d, no padding counts": row(
        lambda lib: lib.AvgPool2d(3, 2, 1, count_include_pad=False), IMAGE),
    "AvgPool2d, ceil": row(lambda lib: lib.AvgPool2d((3, 2), 2, 1, ceil_mode=True), IMAGE),
    "AvgPool2d, divisor": row(
        lambda lib: lib.AvgPool2d(3, 2, 1, ceil_mode=True, divisor_override=5), IMAGE),
    "AvgPool3d": row(lambda lib: lib.AvgPool3d(2, (1, 2, 2), (1, 0, 1)), VOLUME),
    "AvgPool3d, ceil": row(lambda lib: lib.AvgPool3d(2, ceil_mode=True), VOLUME),
    "AdaptiveAvgPool1d": row(lambda lib: lib.AdaptiveAvgPool1d(3), LINE),
    "AdaptiveAvgPool2d": row(lambda lib: lib.AdaptiveAvgPool2d((4, 1)), IMAGE),
    "AdaptiveAvgPool2d, one axis stays": row(
        lambda lib: lib.AdaptiveAvgPool2d((None, 2)), IMAGE),
    "AdaptiveAvgPool3d": row(lambda lib: lib.AdaptiveAvgPool3d(2), VOLUME),
    "AdaptiveMaxPool1d": row(lambda lib: lib.AdaptiveMaxPool1d(3), LINE),
    "AdaptiveMaxPool1d, more windows than elements": row(
        lambda lib: lib.AdaptiveMaxPool1d(9), LINE),
    "AdaptiveMaxPool2d": row(lambda lib: lib.AdaptiveMaxPool2d((4, 2)), IMAGE),
    "AdaptiveMaxPool2d, one axis stays": row(
        lambda lib: lib.AdaptiveMaxPool2d((3, None)), IMAGE),
    "AdaptiveMaxPool3d": row(lambda lib: lib.AdaptiveMaxPool3d((2, 3, 1)), VOLUME),
}  # fmt: skip

NORMS = {
    "BatchNorm1d, vectors": row(lambda lib: lib.BatchNorm1d(4), VECTORS),
    "BatchNorm1d, vectors, training": row(lambda lib: lib.BatchNorm1d(4), VECTORS, training=True),
    "BatchNorm1d, training": row(lambda lib: lib.BatchNorm1d(4, momentum=0.3), LINE, training=True),
    "BatchNorm2d": row(lambda lib: lib.BatchNorm2d(4, eps=1e-3), IMAGE),
    "BatchNorm2d, training": row(lambda lib: lib.BatchNorm2d(4), IMAGE, training=True),
    "BatchNorm2d, average of all": row(
        lambda lib: lib.BatchNorm2d(4, momentum=None), IMAGE, training=True),
    "BatchNorm2d, one image": row(lambda lib: lib.BatchNorm2d(4), IMAGE[:1], training=True),
    "BatchNorm2d, nothing tracked": row(
        lambda lib: lib.BatchNorm2d(4, track_running_stats=False), IMAGE),
    "BatchNorm2d, plain": row(lambda lib: lib.BatchNorm2d(4, affine=False), IMAGE, training=True),
    "BatchNorm3d": row(lambda lib: lib.BatchNorm3d(4), VOLUME, training=True),
    "InstanceNorm1d": row(lambda lib: lib.InstanceNorm1d(4), LINE),
    "InstanceNorm2d": row(lambda lib: lib.InstanceNorm2d(4, affine=True), IMAGE, training=True),
    "InstanceNorm3d": row(lambda lib: lib.InstanceNorm3d(4, eps=0.1), VOLUME),
    "InstanceNorm2d, tracked": row(
        lambda lib: lib.InstanceNorm2d(4, track_running_stats=True), IMAGE),
    "InstanceNorm2d, tracked, training": row(
        lambda lib: lib.InstanceNorm2d(4, track_running_stats=True), IMAGE, training=True),
    "GroupNorm": row(lambda lib: lib.GroupNorm(2, 4), IMAGE),
    "GroupNorm of each channel": row(lambda lib: lib.GroupNorm(4, 4, eps=0.1), LINE),
    "GroupNorm of vectors": row(lambda lib: lib.GroupNorm(2, 4), VECTORS),
    "GroupNorm, plain": row(lambda lib: lib.GroupNorm(1, 4, affine=False), VOLUME),
    "LayerNorm": row(lambda lib: lib.LayerNorm(4), VECTORS),
    "LayerNorm of two axes": row(lambda lib: lib.LayerNorm((6, 5), eps=0.1), IMAGE),
    "LayerNorm, no bias": row(lambda lib: lib.LayerNorm(7, bias=False), LINE),
    "LayerNorm, plain": row(lambda lib: lib.LayerNorm(7, elementwise_affine=False), LINE),
    "RMSNorm": row(lambda lib: lib.RMSNorm(7), LINE),
    "RMSNorm of two axes": row(lambda lib: lib.RMSNorm((6, 5), eps=0.1), IMAGE),
    "RMSNorm, plain": row(lambda lib: lib.RMSNorm(7, elementwise_affine=False), LINE),
    "LocalResponseNorm": row(lambda lib: lib.LocalResponseNorm(3, 0.5, 0.6, 2.0), IMAGE),
    "LocalResponseNorm, even": row(lambda lib: lib.LocalResponseNorm(2), LINE),
    "LocalResponseNorm, more than all": row(lambda lib: lib.LocalResponseNorm(9, 1.0), LINE),
    "LocalResponseNorm of volumes": row(lambda lib: lib.LocalResponseNorm(3), VOLUME),
}  # fmt: skip

TABLES = {
    "Embedding": row(lambda lib: lib.Embedding(5, 3), PLACES),
    "Embedding, padding": row(lambda lib: lib.Embedding(5, 3, padding_idx=2), PLACES),
    "Embedding, padding from the end": row(lambda lib: lib.Embedding(5, 3, padding_idx=-1), PLACES),
}  # fmt: skip

IMAGES = {
    "nearest": row(lambda lib: lib.Upsample(scale_factor=2), IMAGE),
    "nearest, smaller": row(lambda lib: lib.Upsample((4, 3)), IMAGE),
    "nearest, a fraction": row(lambda lib: lib.Upsample(scale_factor=1.7), LINE),
    "nearest-exact": row(lambda lib: lib.Upsample((4, 8), mode="nearest-exact"), IMAGE),
    "linear": row(lambda lib: lib.Upsample(11, mode="linear"), LINE),
    "linear, corners": row(lambda lib: lib.Upsample(11, mode="linear", align_corners=True), LINE),
    "linear to one": row(lambda lib: lib.Upsample(1, mode="linear", align_corners=True), LINE),
    "linear, smaller": row(lambda lib: lib.Upsample(scale_factor=0.6, mode="linear"), LINE),
    "bilinear": row(lambda lib: lib.Upsample(scale_factor=(1.5, 2.3), mode="bilinear"), IMAGE),
    "bilinear, corners": row(
        lambda lib: lib.Upsample((4, 7), mode="bilinear", align_corners=True), IMAGE),
    "bicubic": row(lambda lib: lib.Upsample(scale_factor=2, mode="bicubic"), IMAGE),
    "bicubic, smaller": row(lambda lib: lib.Upsample((3, 2), mode="bicubic"), IMAGE),
    "bicubic, corners": row(
        lambda lib: lib.Upsample((9, 4), mode="bicubic", align_corners=True), IMAGE),
    "trilinear": row(lambda lib: lib.Upsample((5, 3, 4), mode="trilinear"), VOLUME),
    "Unfold": row(lambda lib: lib.Unfold((3, 2), padding=1, stride=2), IMAGE),
    "Unfold, dilated": row(lambda lib: lib.Unfold(2, dilation=(2, 3)), IMAGE),
    "Fold": row(lambda lib: lib.Fold((6, 5), (3, 2), padding=1, stride=2), COLUMNS[..., :9]),
    "Fold, dilated": row(lambda lib: lib.Fold((4, 6), (1, 3), dilation=(1, 2)), COLUMNS[..., :8]),
    "PixelShuffle": row(lambda lib: lib.PixelShuffle(2), IMAGE),
    "PixelShuffle of one image": row(lambda lib: lib.PixelShuffle(2), IMAGE[0]),
    "PixelUnshuffle": row(lambda lib: lib.PixelUnshuffle(3), IMAGE[..., :3]),
    "ZeroPad1d": row(lambda lib: lib.ZeroPad1d((2, -1)), LINE),
    "ZeroPad2d": row(lambda lib: lib.ZeroPad2d((2, 1, 0, 3)), IMAGE),
    "ConstantPad3d": row(lambda lib: lib.ConstantPad3d((2, 1, 0, 3, 1, 0), 2.5), VOLUME),
    "ReflectionPad2d": row(lambda lib: lib.ReflectionPad2d((2, 1, 0, 3)), IMAGE),
    "ReplicationPad1d": row(lambda lib: lib.ReplicationPad1d(2), LINE),
    "ReplicationPad3d": row(lambda lib: lib.ReplicationPad3d((2, 1, 0, 3, 1, 0)), VOLUME),
    "CircularPad2d": row(lambda lib: lib.CircularPad2d((2, 1, 0, 3)), IMAGE),
    "Flatten": row(lambda lib: lib.Flatten(), IMAGE),
    "Unflatten": row(lambda lib: lib.Unflatten(1, (2, 2)), IMAGE),
}  # fmt: skip

PAIRS = {
    "CosineSimilarity": row(lambda lib: lib.CosineSimilarity(), VECTORS, OTHER),
    "CosineSimilarity along the first axis": row(
        lambda lib: lib.CosineSimilarity(dim=0), VECTORS, OTHER),
    "PairwiseDistance": row(lambda lib: lib.PairwiseDistance(), VECTORS, OTHER),
    "PairwiseDistance, keepdim": row(lambda lib: lib.PairwiseDistance(keepdim=True), LINE, -LINE),
    "PairwiseDistance, cubes": row(lambda lib: lib.PairwiseDistance(3.0), VECTORS, OTHER),
}  # fmt: skip

ROWS = {
    f"{topic}: {name}": each
    for topic, rows in {
        "conv": CONVOLUTIONS, "transposed": TRANSPOSED, "pools": POOLS, "norms": NORMS,
        "tables": TABLES, "images": IMAGES, "pairs": PAIRS,
    }.items()
    for name, each in rows.items()
}  # fmt: skip


def both(row: Row) -> tuple[Any, Any]:
    """The layer of either library, with the same parameters and buffers."""
    theirs = row.layer(torch.nn).double().train(row.training)
    states = {name: _value(name, state) for name, state in theirs.state_dict().items()}
    theirs.load_state_dict({name: torch.asarray(value) for name, value in states.items()})
    arrays = {name: bs.asarray(value) for name, value in states.items()}
    ours = row.layer(nn)
    assert set(bs.tree_paths(ours)) == set(arrays)
    return ours.replace(**arrays), theirs


def _value(name: str, state: Any) -> Array:
    low = 0.5 if name.endswith("var") else -1.0
    return spread(low, 1.5, *state.shape) if state.is_floating_point() else state.numpy()


def weights(shape: tuple[int, ...]) -> Array:
    """A different number for each element."""
    return np.cos(np.arange(float(np.prod(shape)))).reshape(shape)


def agree(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.numpy(), expected.numpy(force=True), rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("name", ROWS)
def test_values_and_buffers_agree(name: str) -> None:
    row = ROWS[name]
    ours, theirs = both(row)
    with nn.training() if row.training else nn.inference() as context:
        found = ours(*map(bs.asarray, row.inputs))
    expected = theirs(*map(torch.asarray, row.inputs))
    assert found.shape == tuple(expected.shape)
    agree(found, expected)
    updated = context.updated(ours)
    for path, buffer in theirs.named_buffers():
        if "Instance" not in name or path != "num_batches_tracked":  # which PyTorch counts not
            agree(getattr(updated, path), buffer)


@pytest.mark.parametrize("name", ROWS)
def test_gradients_agree(name: str) -> None:
    row = ROWS[name]
    ours, theirs = both(row)
    floats = [at for at, each in enumerate(row.inputs) if each.dtype.kind == "f"]

    def loss(layer: Any, *inputs: Any) -> Any:
        made = layer(*inputs)
        return (made * weights(made.shape)).sum()

    given = [bs.asarray(each) for each in row.inputs]
    with nn.training() if row.training else nn.inference():
        slopes = bs.grad(loss, argnums=(0, *[at + 1 for at in floats]))(ours, *given)
    inputs = [torch.tensor(each, requires_grad=each.dtype.kind == "f") for each in row.inputs]
    made = theirs(*inputs)
    (made * torch.asarray(weights(made.shape))).sum().backward()
    for path, parameter in theirs.named_parameters():
        agree(getattr(slopes[0], path), parameter.grad)
    for slope, at in zip(slopes[1:], floats, strict=True):
        agree(slope, inputs[at].grad)
