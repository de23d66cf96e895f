"""How many kernels become of what people train, forward and backward."""

from collections.abc import Callable

import pytest

from brimstone.ir import tensor
from brimstone.ir.func import Func
from brimstone.ir.values import AnyValue
from brimstone.passes.differentiate.transforms import vjp
from kit.fusing import checked, prepared, reasons
from kit.recorder import Recorder
from kit.recordings import layer_norm, softmax

B, C, G, H, W = 2, 6, 3, 5, 7


def gelu(r: Recorder) -> Func:
    """x * Φ(x), by the error function."""
    x = r.argument(C, H)
    inner = r.map(tensor.Add, r.emit(tensor.Erf, r.map(tensor.Multiply, x, 0.7071)), 1.0)
    return r.done(r.emit(tensor.Multiply, r.map(tensor.Multiply, x, 0.5), inner))


def norm_of_rows(r: Recorder) -> Func:
    """Layer norm."""
    return layer_norm(r, C, H)


def softmax_of_rows(r: Recorder) -> Func:
    """Softmax along the last of three axes."""
    return softmax(r, B, C, H)


def root_mean_square_norm(r: Recorder) -> Func:
    """x / √(mean of squares) * weight."""
    x, weight = r.arguments((C, H), (H,))
    mean = r.map(tensor.Add, r.mean(r.emit(tensor.Multiply, x, x)), 1e-5)
    scaled = r.along(tensor.Multiply, x, r.emit(tensor.ReciprocalSquareRoot, mean))
    return r.done(r.map(tensor.Multiply, scaled, weight))


def group_norm(r: Recorder) -> Func:
    """Channels in groups that are normalised with all their places; a weight for each channel."""
    x, weight = r.arguments((B, C, H, W), (C,))
    groups = r.reshape(x, B, G, (C // G) * H * W)
    normal = normalised(r, groups, r.mean(groups))
    spread = r.emit(tensor.Broadcast, weight, shape=(B, C, H, W), axes=(1,))
    return r.done(r.emit(tensor.Multiply, r.reshape(normal, B, C, H, W), spread))


def batch_norm(r: Recorder) -> Func:
    """Each channel over all images and places: axes that are neither the last nor together."""
    x = r.argument(B, C, H, W)
    total = r.emit(tensor.ReduceSum, x, axes=(0, 2, 3))
    mean = r.map(tensor.Divide, total, float(B * H * W))
    centred = r.emit(tensor.Subtract, x, r.to(mean, B, C, H, W, first=1))
    squares = r.emit(tensor.ReduceSum, r.emit(tensor.Multiply, centred, centred), axes=(0, 2, 3))
    inverse = r.emit(tensor.ReciprocalSquareRoot, r.map(tensor.Add, squares, 1e-5))
    return r.done(r.emit(tensor.Multiply, centred, r.to(inverse, B, C, H, W, first=1)))


def cross_entropy(r: Recorder) -> Func:
    """The mean of log(sum(exp(x))) - x·target."""
    x, target = r.arguments((C, H), (C, H))
    shifted = r.along(tensor.Subtract, x, r.reduce(tensor.ReduceMaximum, x))
    sums = r.emit(tensor.Log, r.reduce(tensor.ReduceSum, r.emit(tensor.Exp, shifted)))
    chosen = r.emit(tensor.Multiply, r.along(tensor.Subtract, shifted, sums), target)
    return r.done(r.mean(r.emit(tensor.Negate, r.reduce(tensor.ReduceSum, chosen))))


def normalised(r: Recorder, x: AnyValue, mean: AnyValue) -> AnyValue:
    """(x - mean) / √variance along the last axis."""
    centred = r.along(tensor.Subtract, x, mean)
    variance = r.map(tensor.Add, r.mean(r.emit(tensor.Multiply, centred, centred)), 1e-5)
    return r.along(tensor.Multiply, centred, r.emit(tensor.ReciprocalSquareRoot, variance))


def perceptron(r: Recorder) -> Func:
    """relu(x·w1 + b1)·w2 + b2, squared and summed."""
    x, w1, b1, w2, b2 = r.arguments((C, H), (H, W), (W,), (W, B), (B,))
    hidden = r.map(tensor.Maximum, r.map(tensor.Add, r.contract(x, w1, 0, 0), b1), 0.0)
    out = r.map(tensor.Add, r.contract(hidden, w2, 0, 0), b2)
    squares = r.emit(tensor.Multiply, out, out)
    return r.done(r.emit(tensor.ReduceSum, squares, axes=(0, 1)))


MODELS = [
    (gelu, 1, 1), (softmax_of_rows, 1, 1), (norm_of_rows, 1, 2), (root_mean_square_norm, 1, 2),
    (group_norm, 1, 2), (batch_norm, 1, 1), (cross_entropy, 2, 2), (perceptron, 3, 9),
]  # fmt: skip


@pytest.mark.parametrize(("build", "forward", "both"), MODELS)
def test_kernels(build: Callable[[Recorder], Func], forward: int, both: int) -> None:
    func = build(Recorder())
    for recorded, count in ((func, forward), (gradient(func), both)):
        for pinned in (False, True):
            fused = checked(prepared(recorded, pinned))
            assert len(fused.report.kernels) <= count, str(fused.report)


def gradient(func: Func) -> Func:
    """The func and its gradients."""
    return vjp(func, [True] * len(func.arguments), [0])


def test_why_a_norm_is_two_kernels_backward() -> None:
    fused = checked(prepared(gradient(norm_of_rows(Recorder()))))
    assert reasons(fused) == ["both reduce, along other axes"]


def test_moments_of_an_optimiser_are_one_kernel() -> None:
    r = Recorder()
    weight, slope, mean, square = r.arguments(*[(C, H)] * 4)
    mean = r.emit(tensor.Add, r.map(tensor.Multiply, mean, 0.9), r.map(tensor.Multiply, slope, 0.1))
    bent = r.emit(tensor.Multiply, slope, slope)
    parts = r.map(tensor.Multiply, square, 0.99), r.map(tensor.Multiply, bent, 0.01)
    square = r.emit(tensor.Add, *parts)
    root = r.map(tensor.Add, r.emit(tensor.SquareRoot, square), 1e-8)
    change = r.map(tensor.Multiply, r.emit(tensor.Divide, mean, root), 0.001)
    func = r.done(r.emit(tensor.Subtract, weight, change), mean, square)
    fused = checked(prepared(func))
    (kernel,) = fused.report.kernels
    assert len(kernel.writes) == 3
