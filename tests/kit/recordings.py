"""Programs that are recorded again at other sizes, each a function of a recorder and of its sizes.

Comes in: a recorder and as many sizes as `PROGRAMS` says. Goes out: the func.
Never: a size in a program that is not one of those asked for, but windows and other facts.
"""

from collections.abc import Callable
from math import sqrt

from brimstone.ir import tensor
from brimstone.ir.dtypes import i32, i64
from brimstone.ir.func import Func, Yield
from brimstone.ir.payloads import Number
from brimstone.ir.tensor.indexing import Combiner
from brimstone.ir.types import Tensor
from brimstone.ir.values import AnyValue
from kit.recorder import Recorder

Program = Callable[..., Func]


def chain(r: Recorder, a: int, b: int) -> Func:
    """(tanh(x) * 0.3 + 1.0) / row, with a row along the last axis."""
    x, row = r.arguments((a, b), (b,))
    scaled = r.map(tensor.Multiply, r.emit(tensor.Tanh, x), 0.3)
    return r.done(r.map(tensor.Divide, r.map(tensor.Add, scaled, 1.0), row))


def layer_norm(r: Recorder, a: int, b: int) -> Func:
    """(x - mean) / √(variance + 1e-5) * weight + bias."""
    x, weight, bias = r.arguments((a, b), (b,), (b,))
    centred = r.along(tensor.Subtract, x, r.mean(x))
    variance = r.mean(r.emit(tensor.Multiply, centred, centred))
    inverse = r.emit(tensor.ReciprocalSquareRoot, r.map(tensor.Add, variance, 1e-5))
    normal = r.along(tensor.Multiply, centred, inverse)
    return r.done(r.map(tensor.Add, r.map(tensor.Multiply, normal, weight), bias))


def softmax(r: Recorder, a: int, b: int, c: int) -> Func:
    """Along the last of three axes."""
    return r.done(r.softmax(r.argument(a, b, c)))


def composed_attention(r: Recorder, b: int, h: int, t: int, s: int, d: int) -> Func:
    """softmax(mask(q·kᵀ / √d))·v, in which nobody looks at what is right of the diagonal."""
    query, key, value = r.arguments((b, h, t, d), (b, h, s, d), (b, h, s, d))
    scores = r.map(tensor.Multiply, r.contract(query, key, 2, 3), 1 / sqrt(d))
    rows = r.emit(tensor.Iota, (t, s), 0, i32)
    columns = r.emit(tensor.Iota, (t, s), 1, i32)
    seen = r.to(r.emit(tensor.LessEqual, columns, rows), b, h, t, s)
    nothing = r.to(r.number(float("-inf")), b, h, t, s)
    shares = r.softmax(r.emit(tensor.Select, seen, scores, nothing))
    return r.done(r.contract(shares, value, 2, 2))


def attention(r: Recorder, b: int, h: int, t: int, s: int, d: int) -> Func:
    """The op itself, with a bias."""
    query, key, value = r.arguments((b, h, t, d), (b, h, s, d), (b, h, s, d))
    bias = r.argument(t, s)
    inner = r.builder.nest([Tensor((b, h, t, s), bias.dtype), bias.type])
    scores, given = inner.block.arguments
    spread = inner.emit(tensor.Broadcast, given, shape=(b, h, t, s), axes=(2, 3))
    inner.emit_all(Yield, [inner.emit(tensor.Add, scores, spread)])
    op = {"captures": [bias], "scale": 0.125, "score": inner.block}
    return r.done(r.emit(tensor.Attention, query, key, value, **op))


def windows(r: Recorder, n: int, m: int, start: int, size: int, low: int, high: int) -> Func:
    """A part of x, in a wider frame, and what is left of x."""
    x, y = r.arguments((n + start + size, m), (low + size + high, m))
    part = r.cut(x, 0, start, size)
    zero = Number(0.0, x.dtype)
    framed = r.emit(tensor.Pad, part, low=(low, 0), high=(high, 0), interior=(0, 0), value=zero)
    rest = r.cut(x, 0, start + size, n)
    return r.done(r.emit(tensor.Add, framed, y), r.reduce(tensor.ReduceSum, rest))


def neighbours(r: Recorder, a: int, b: int) -> Func:
    """x[1:] - x[:-1], and every second column."""
    x = r.argument(a, 2 * b)
    step = r.emit(tensor.Subtract, r.cut(x, 0, 1, a - 1), r.cut(x, 0, 0, a - 1))
    zero = Number(0.0, x.dtype)
    framed = r.emit(tensor.Pad, step, low=(1, 0), high=(0, 0), interior=(0, 0), value=zero)
    return r.done(r.emit(tensor.Add, framed, x), r.cut(x, 1, 0, b, step=2))


def linear(r: Recorder, a: int, b: int, c: int) -> Func:
    """x·w + bias."""
    x, weight, bias = r.arguments((a, b), (b, c), (c,))
    return r.done(r.map(tensor.Add, r.contract(x, weight, 0, 0), bias))


def heads(r: Recorder, b: int, t: int, h: int, d: int) -> Func:
    """Split into heads, work on them, merge them again and add x."""
    x, weight = r.arguments((b, t, h * d), (d, d))
    split = r.emit(tensor.Permute, r.reshape(x, b, t, h, d), axes=(0, 2, 1, 3))
    turned = r.emit(tensor.Permute, r.contract(split, weight, 0, 0), axes=(0, 2, 1, 3))
    return r.done(r.emit(tensor.Add, x, r.reshape(turned, b, t, h * d)))


def loss(r: Recorder, b: int, t: int, v: int) -> Func:
    """Cross-entropy of flattened logits with flattened targets."""
    logits, targets = r.argument(b, t, v), r.argument(b, t, dtype=i32)
    shares = r.softmax(r.reshape(logits, b * t, v))
    places = r.reshape(r.reshape(targets, b * t), b * t, 1)
    chosen = r.emit(tensor.Gather, shares, places, axes=(1,), batch=1)
    return r.done(r.mean(r.emit(tensor.Negate, r.emit(tensor.Log, chosen))))


def rotated(r: Recorder, t: int, half: int) -> Func:
    """Pairs of columns that stand apart, turned by angles."""
    x, cos, sin = r.arguments((t, 2 * half), (t, 2 * half), (t, 2 * half))
    left, right = r.cut(x, 1, 0, half), r.cut(x, 1, half, half)
    turned = r.emit(tensor.Concat, [r.emit(tensor.Negate, right), left], axis=1)
    parts = r.emit(tensor.Multiply, x, cos), r.emit(tensor.Multiply, turned, sin)
    return r.done(r.emit(tensor.Add, *parts))


def joined(r: Recorder, a: int, b: int, c: int, d: int) -> Func:
    """Three tensors end to end, and a row for each column of all."""
    x, y, z, row = r.arguments((d, a), (d, b), (d, c), (a + b + c,))
    return r.done(r.map(tensor.Add, r.emit(tensor.Concat, [x, y, z], axis=1), row))


def looped(r: Recorder, steps: int, n: int) -> Func:
    """A carry, a row at a time, and what it was at each step."""
    start, rows = r.arguments((n,), (steps, n))
    inner = r.builder.nest([Tensor((), i64), start.type, start.type])
    _, carry, row = inner.block.arguments
    half = inner.emit(tensor.Broadcast, inner.emit(tensor.Constant, Number(0.5, row.dtype)), (n,))
    following = inner.emit(tensor.Add, inner.emit(tensor.Multiply, carry, half), row)
    inner.emit_all(Yield, [following, following])
    last, all_of_them = r.builder.emit_all(tensor.Loop, [start], [rows], steps, inner.block)
    return r.done(r.map(tensor.Multiply, all_of_them, last))


def table(r: Recorder, rows: int, width: int, b: int, t: int) -> Func:
    """Rows of a table by number, and the sums that go back into it."""
    embedding, places = r.argument(rows, width), r.argument(b, t, 1, dtype=i32)
    found = r.emit(tensor.Gather, embedding, places, axes=(0,))
    updates = r.map(tensor.Multiply, found, -0.01)
    named = {"axes": (0,), "combiner": Combiner.ADD}
    return r.done(r.emit(tensor.Scatter, embedding, places, updates, **named))


def image(r: Recorder, n: int, c: int, o: int, height: int, width: int) -> Func:
    """Two convolutions, the second of stride 2, then all of an image as one row."""
    x, first, second = r.arguments((n, c, height, width), (o, c, 3, 3), (o, o, 3, 3))
    kept = _convolved(r, x, first, stride=1)
    halved = _convolved(r, kept, second, stride=2)
    rest = halved.shape[1] * halved.shape[2] * halved.shape[3]
    weight = r.argument(rest, o)
    return r.done(r.contract(r.reshape(halved, n, rest), weight, 0, 0))


def _convolved(r: Recorder, x: AnyValue, kernel: AnyValue, stride: int) -> AnyValue:
    named = {"strides": (stride, stride), "low": (1, 1), "high": (1, 1), "groups": 1}
    apart = {"input_dilation": (1, 1), "kernel_dilation": (1, 1)}
    return r.emit(tensor.Convolve, x, kernel, dtype=x.dtype, **named, **apart)


PROGRAMS: dict[Program, int] = {
    chain: 2,
    layer_norm: 2,
    softmax: 3,
    composed_attention: 5,
    attention: 5,
    windows: 6,
    neighbours: 2,
    linear: 3,
    heads: 4,
    loss: 3,
    rotated: 2,
    joined: 4,
    looped: 2,
    table: 4,
    image: 5,
}
"""Each program, and how many sizes it is of."""


def recorded(program: Program, *sizes: int) -> Func:
    """A program recorded at some sizes."""
    return program(Recorder(), *sizes)
