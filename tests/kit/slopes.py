"""One op at a time, with arguments at which it is smooth: what rules of derivatives are held to.

Comes in: a class of op. Goes out: `Case`s: a func of this one op, and its arguments. Every op of
the tensor floor has some, or no tangent, or a reason in `WITHOUT`; a test says so.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.declare import Op
from brimstone.ir.dtypes import INEXACT, f64, of_numpy
from brimstone.ir.func import Func, Return
from brimstone.ir.locations import Location
from brimstone.ir.payloads import Number
from brimstone.ir.tensor.convert import ComplexPart
from brimstone.ir.tensor.indexing import Combiner, Outside
from brimstone.ir.tensor.transcendental import Function
from brimstone.ir.types import Tensor
from kit.evaluate import grouped

Array = np.ndarray[Any, np.dtype[Any]]
Make = Callable[[type[Op], Any], Iterator["Case"]]

SHAPES = ((), (3,), (2, 3), (0, 2))
LINE = Location(("model.py", 7))

# Ops whose derivatives are tested as programs, in tests/differentiate, and those that have none.
WITHOUT: dict[type[Op], str] = {
    tensor.Custom: "nobody knows what its kernel does",
    tensor.HostCall: "nobody knows what its function does",
    tensor.Call: "it is put in place first",
    tensor.Cond: "test_control",
    tensor.Loop: "test_control",
    tensor.While: "test_control",
    tensor.Checkpoint: "test_custom",
    tensor.CustomVjp: "test_custom",
    tensor.LinearCall: "test_custom",
    tensor.Attention: "test_attention",
    tensor.AttentionBackward: "test_attention",
    tensor.AllReduce: "test_collectives",
    tensor.AllGather: "test_collectives",
    tensor.ReduceScatter: "test_collectives",
    tensor.AllToAll: "test_collectives",
    tensor.CollectivePermute: "test_collectives",
}

# Where functions of one real number are smooth.
INTERVALS: dict[type[Op], tuple[float, float]] = {
    tensor.SquareRoot: (0.5, 3), tensor.ReciprocalSquareRoot: (0.5, 3), tensor.CubeRoot: (-3, -0.5),
    tensor.Log: (0.3, 3), tensor.Log2: (0.3, 3), tensor.Log10: (0.3, 3), tensor.Log1p: (-0.6, 2),
    tensor.Tan: (-1, 1), tensor.Arcsin: (-0.8, 0.8), tensor.Arccos: (-0.8, 0.8),
    tensor.Arccosh: (1.3, 3), tensor.Arctanh: (-0.8, 0.8), tensor.ErfInverse: (-0.8, 0.8),
    tensor.LogGamma: (-2.7, -2.3), tensor.Digamma: (0.3, 9), tensor.Absolute: (-2, -0.5),
}  # fmt: skip
BINARY: dict[type[Op], tuple[tuple[float, float], tuple[float, float]]] = {
    tensor.Divide: ((-2, 2), (0.5, 2)), tensor.Power: ((0.5, 2), (-2, 2)),
    tensor.Remainder: ((-5.7, -4.3), (2, 2.1)), tensor.Arctan2: ((-2, -0.5), (-2, 2)),
    tensor.CopySign: ((0.5, 2), (-2, -1)), tensor.Maximum: ((1, 2), (2.1, 3)),
    tensor.Minimum: ((1, 2), (2.1, 3)), tensor.Hypot: ((0.5, 2), (-2, -0.5)),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A func of one op, and arguments; it is differentiated by those that are not integers."""

    func: Func
    arguments: tuple[Array, ...]

    @property
    def wrt(self) -> list[bool]:
        """A flag for each argument."""
        return [value.dtype in INEXACT for value in self.func.arguments]


MAKERS: dict[type[Op], Make] = {}


def makes(*classes: type[Op]) -> Callable[[Make], Make]:
    """Make a function the source of cases for these classes and those derived from them."""

    def declare(function: Make) -> Make:
        MAKERS.update(dict.fromkeys(classes, function))
        return function

    return declare


def cases(cls: type[Op]) -> list[Case]:
    """The cases of an op."""
    make = next((MAKERS[base] for base in cls.__mro__ if base in MAKERS), None)
    assert make is not None, f"{cls.name} has a derivative, and nothing says how to test it"
    return list(make(cls, np.random.default_rng(len(cls.name))))


def rule_of(cls: type[Op]) -> Any:
    """What an op's class says that its derivative is."""
    assert issubclass(cls, tensor.TensorOp)
    return cls.jvp


def one_op(cls: type[Op], *arrays: Array, **attributes: Any) -> Case:
    """The func of one op, which takes these arrays and returns all results."""
    types = [Tensor(array.shape, of_numpy(array.dtype)) for array in arrays]
    func = Func(cls.name.partition(".")[2], types)
    builder = Builder(func.body, location=LINE)
    results = builder.emit_all(cls, *grouped(cls, func.arguments), **attributes)
    builder.emit_all(Return, results)
    return Case(func, arrays)


def between(rng: Any, low: float, high: float, shape: tuple[int, ...]) -> Array:
    """Random numbers of an interval."""
    return np.asarray(rng.uniform(low, high, shape))


def complexes(rng: Any, shape: tuple[int, ...]) -> Array:
    """Random complex numbers of the upper right, away from where functions are cut."""
    return np.asarray(rng.uniform(0.2, 0.9, shape) + 1j * rng.uniform(0.2, 0.9, shape))


def distinct(rng: Any, shape: tuple[int, ...]) -> Array:
    """Numbers no two of which are near, in random order."""
    count = int(np.prod(shape))
    return rng.permutation(np.arange(count) * 0.4 - 0.15 * count + 0.03).reshape(shape)


@makes(tensor.elementwise.Unary)
def unary(cls: type[Op], rng: Any) -> Iterator[Case]:
    low, high = INTERVALS.get(cls, (-2, 2))
    for shape in SHAPES:
        yield one_op(cls, between(rng, low, high, shape))
        if issubclass(cls, (Function, tensor.Negate, tensor.Absolute)):
            yield one_op(cls, complexes(rng, shape))
    if cls in (tensor.Digamma, tensor.LogGamma):
        yield one_op(cls, between(rng, -1.8, -1.2, (4,)))
        yield one_op(cls, between(rng, 20, 300, (4,)))


@makes(tensor.elementwise.Binary)
def binary(cls: type[Op], rng: Any) -> Iterator[Case]:
    left, right = BINARY.get(cls, ((-2, 2), (-2, 2)))
    complex_too = (tensor.Add, tensor.Subtract, tensor.Multiply, tensor.Divide, tensor.Power)
    for shape in SHAPES:
        yield one_op(cls, between(rng, *left, shape), between(rng, *right, shape))
        if cls in complex_too:
            yield one_op(cls, complexes(rng, shape), complexes(rng, shape))
    if cls in (tensor.Maximum, tensor.Minimum):
        yield one_op(cls, between(rng, 2.1, 3, (3,)), between(rng, 1, 2, (3,)))


@makes(tensor.Select)
def select(cls: type[Op], rng: Any) -> Iterator[Case]:
    for shape in SHAPES:
        parts = [between(rng, -2, 2, shape) for _ in range(2)]
        yield one_op(cls, np.asarray(rng.uniform(size=shape) < 0.5), *parts)


@makes(ComplexPart, tensor.Conjugate)
def of_complex(cls: type[Op], rng: Any) -> Iterator[Case]:
    yield from (one_op(cls, complexes(rng, shape)) for shape in SHAPES)


@makes(tensor.Complex)
def to_complex(cls: type[Op], rng: Any) -> Iterator[Case]:
    for shape in SHAPES:
        yield one_op(cls, between(rng, -2, 2, shape), between(rng, -2, 2, shape))


@makes(tensor.Cast)
def cast(cls: type[Op], rng: Any) -> Iterator[Case]:
    """Between real and complex numbers; casts that round are tested by hand."""
    for name in ("f64", "c128"):
        dtype = {"f64": f64, "c128": of_numpy(np.complex128)}[name]
        yield one_op(cls, between(rng, -2, 2, (2, 2)), dtype=dtype)
        yield one_op(cls, complexes(rng, (2, 2)), dtype=dtype)
    yield one_op(cls, between(rng, 0.1, 0.9, (3,)), dtype=of_numpy(np.int32))
    yield one_op(cls, np.arange(3), dtype=f64)


@makes(tensor.Reshape)
def reshape(cls: type[Op], rng: Any) -> Iterator[Case]:
    yield one_op(cls, between(rng, -2, 2, (2, 6)), shape=(3, 4))
    yield one_op(cls, between(rng, -2, 2, (0, 6)), shape=(3, 0))
    yield one_op(cls, complexes(rng, (1, 1)), shape=())


@makes(tensor.Permute)
def permute(cls: type[Op], rng: Any) -> Iterator[Case]:
    yield one_op(cls, between(rng, -2, 2, (2, 3, 4)), axes=(2, 0, 1))
    yield one_op(cls, complexes(rng, (0, 3)), axes=(1, 0))


@makes(tensor.Broadcast)
def broadcast(cls: type[Op], rng: Any) -> Iterator[Case]:
    yield one_op(cls, between(rng, -2, 2, ()), shape=(2, 3))
    yield one_op(cls, between(rng, -2, 2, (3, 1)), shape=(2, 4, 3), axes=(2, 1))
    yield one_op(cls, between(rng, -2, 2, (1, 2)), shape=(1, 3, 2), axes=(0, 2))
    yield one_op(cls, between(rng, -2, 2, (4, 3, 2)), shape=(2, 3, 4), axes=(2, 1, 0))
    yield one_op(cls, between(rng, -2, 2, (1, 2)), shape=(0, 2), axes=(0, 1))
    yield one_op(cls, complexes(rng, (2,)), shape=(2, 0), axes=(0,))


@makes(tensor.Flip)
def flip(cls: type[Op], rng: Any) -> Iterator[Case]:
    yield one_op(cls, between(rng, -2, 2, (2, 3)), axes=(0, 1))
    yield one_op(cls, complexes(rng, (3,)), axes=(0,))


@makes(tensor.Slice)
def slice_(cls: type[Op], rng: Any) -> Iterator[Case]:
    x = between(rng, -2, 2, (7, 5))
    yield one_op(cls, x, start=(1, 0), size=(2, 5), step=(3, 1))
    yield one_op(cls, x, start=(7, 2), size=(0, 1), step=(2, 4))
    yield one_op(cls, complexes(rng, (4,)), start=(1,), size=(2,), step=(2,))


@makes(tensor.Pad)
def pad(cls: type[Op], rng: Any) -> Iterator[Case]:
    value = Number(1.5, f64)
    around = {"low": (1, 0), "high": (2, 3), "interior": (2, 0), "value": value}
    yield one_op(cls, between(rng, -2, 2, (3, 2)), **around)
    yield one_op(cls, between(rng, -2, 2, (0, 2)), **around)
    yield one_op(cls, between(rng, -2, 2, (1, 2)), **around)


@makes(tensor.Concat)
def concat(cls: type[Op], rng: Any) -> Iterator[Case]:
    yield one_op(cls, *[between(rng, -2, 2, (2, size)) for size in (1, 0, 3)], axis=1)
    yield one_op(cls, complexes(rng, (2,)), complexes(rng, (1,)), axis=0)


@makes(tensor.ReduceSum, tensor.ReduceProduct)
def reduction(cls: type[Op], rng: Any) -> Iterator[Case]:
    for axes in ((), (0,), (1,), (0, 2), (0, 1, 2)):
        yield one_op(cls, between(rng, 0.5, 2, (2, 3, 2)), axes=axes)
    yield one_op(cls, complexes(rng, (2, 3)), axes=(1,))
    yield one_op(cls, between(rng, -2, 2, (0, 3)), axes=(0,))
    yield one_op(cls, between(rng, -2, 2, (0, 3)), axes=(1,))


@makes(tensor.reduce.ExtremeReduction)
def extreme_reduction(cls: type[Op], rng: Any) -> Iterator[Case]:
    for axes in ((), (0,), (1,), (0, 1)):
        yield one_op(cls, distinct(rng, (3, 4)), axes=axes)
    yield one_op(cls, distinct(rng, (0, 3)), axes=(1,))


@makes(tensor.CumulativeSum, tensor.CumulativeProduct)
def scan(cls: type[Op], rng: Any) -> Iterator[Case]:
    for axis, reverse in ((0, False), (1, True), (1, False)):
        yield one_op(cls, between(rng, -2, 2, (2, 3)), axis=axis, reverse=reverse)
    yield one_op(cls, complexes(rng, (3,)), axis=0, reverse=True)
    yield one_op(cls, between(rng, -2, 2, (0, 3)), axis=0)


@makes(tensor.scan.ExtremeScan)
def extreme_scan(cls: type[Op], rng: Any) -> Iterator[Case]:
    for axis, reverse in ((0, False), (1, True), (1, False), (0, True)):
        yield one_op(cls, distinct(rng, (4, 3)), axis=axis, reverse=reverse)
    yield one_op(cls, distinct(rng, (0, 3)), axis=0)


@makes(tensor.Sort)
def sort(cls: type[Op], rng: Any) -> Iterator[Case]:
    yield one_op(cls, distinct(rng, (4, 3)), between(rng, 0, 1, (4, 3)), axis=0, keys=1)
    yield one_op(cls, distinct(rng, (2, 5)), axis=1, keys=1, descending=True)
    yield one_op(cls, distinct(rng, (2, 5)), axis=1, keys=1, count=2)
    keys = np.array([2, 1, 2, 1]), distinct(rng, (4,)), complexes(rng, (4,))
    yield one_op(cls, *keys, axis=0, keys=2)
    yield one_op(cls, distinct(rng, (0, 2)), axis=0, keys=1)


@makes(tensor.Gather)
def gather(cls: type[Op], rng: Any) -> Iterator[Case]:
    x = between(rng, -2, 2, (3, 4, 2))
    yield one_op(cls, x, np.array([[2], [0], [2]]), axes=(0,))
    yield one_op(cls, x, np.array([[1, 0], [1, 2], [1, 0]]), axes=(2, 0))
    lines = np.array([[[1], [1]], [[3], [0]], [[2], [2]]], np.uint8)
    yield one_op(cls, x, lines, axes=(1,), batch=1)
    yield one_op(cls, x, np.array([[5], [-1], [2]]), axes=(1,), outside=Outside.ZERO)
    yield one_op(cls, x, np.array([[5, 9], [-1, 1]]), axes=(1, 2), outside=Outside.CLAMP)
    far = np.array([[2**64 - 1], [1]], np.uint64)
    yield one_op(cls, complexes(rng, (3,)), far, axes=(0,), outside=Outside.CLAMP)
    yield one_op(cls, x, np.zeros((0, 1), np.int64), axes=(0,))
    yield one_op(cls, x, np.zeros((2, 0), np.int64), axes=(), outside=Outside.CLAMP)


@makes(tensor.Scatter)
def scatter(cls: type[Op], rng: Any) -> Iterator[Case]:
    """With places that are named often, and some that are outside."""
    for combiner in Combiner:
        few = {"combiner": combiner, "axes": (0,)}
        x, updates = np.split(distinct(rng, (7, 2)), [4])
        yield one_op(cls, x, np.array([[3], [1], [3]]), updates, **few)
        outside = {**few, "outside": Outside.ZERO}
        yield one_op(cls, x, np.array([[9], [0], [0]]), updates, **outside)
        yield one_op(cls, x, np.zeros((0, 1), np.int64), updates[:0], **few)
        x, updates = np.split(distinct(rng, (2, 7, 2)), [4], axis=1)
        more = distinct(rng, (24,))
        lines = np.array([[[2], [2], [2]], [[0], [3], [0]]])
        yield one_op(cls, x, lines, updates, axes=(1,), batch=1, combiner=combiner)
        pairs = np.array([[[0, 1], [1, 3]], [[0, 1], [1, 3]]])
        named = {"axes": (2, 1), "combiner": combiner}
        x, updates = more[:16].reshape(2, 4, 2), more[16:].reshape(2, 2, 2)
        yield one_op(cls, x, pairs, updates, **named)


@makes(tensor.Contract)
def contract(cls: type[Op], rng: Any) -> Iterator[Case]:
    def pair(left: tuple[int, ...], right: tuple[int, ...], *axes: Any) -> Case:
        names = ("left_batch", "right_batch", "left_contract", "right_contract")
        arrays = between(rng, -2, 2, left), between(rng, -2, 2, right)
        return one_op(cls, *arrays, **dict(zip(names, axes, strict=True)), dtype=f64)

    yield pair((2, 3), (3, 4), (), (), (1,), (0,))
    yield pair((3, 2, 4), (4, 5, 3, 2), (1,), (3,), (0, 2), (2, 0))
    yield pair((2, 3, 4, 5), (4, 2, 3), (2, 0), (0, 1), (1,), (2,))
    yield pair((2, 3), (3,), (), (), (), ())
    yield pair((2, 0), (0, 3), (), (), (1,), (0,))
    yield pair((), (), (), (), (), ())
    square = {"left_batch": (), "right_batch": (), "left_contract": (1,), "right_contract": (0,)}
    yield one_op(cls, complexes(rng, (2, 3)), complexes(rng, (3, 2)), **square, dtype=COMPLEX)


@makes(tensor.Convolve)
def convolve(cls: type[Op], rng: Any) -> Iterator[Case]:
    """Strides, dilations, groups, padding; windows that leave an end over, or find no room."""
    plain = {"strides": 1, "low": 0, "high": 0, "input_dilation": 1, "kernel_dilation": 1}

    def one(x: tuple[int, ...], kernel: tuple[int, ...], groups: int = 1, **named: Any) -> Case:
        space = len(x) - 2
        given = {**plain, **named}
        lists = {
            name: value if isinstance(value, tuple) else (value,) * space
            for name, value in given.items()
        }
        arrays = between(rng, -2, 2, x), between(rng, -2, 2, kernel)
        return one_op(cls, *arrays, **lists, groups=groups, dtype=f64)

    yield one((2, 3, 5), (4, 3, 3))
    yield one((1, 2, 6, 5), (3, 2, 3, 2), strides=(2, 3), low=(1, 0), high=(2, 1))
    yield one((2, 4, 5), (6, 2, 2), groups=2, low=1)
    yield one((1, 1, 4), (1, 1, 2), low=3, high=4)
    yield one((1, 2, 4), (2, 2, 3), input_dilation=3, kernel_dilation=2, low=2, strides=2)
    yield one((2, 3, 7), (3, 1, 3), groups=3, strides=3, high=1, kernel_dilation=2)
    yield one((1, 1, 9), (1, 1, 2), strides=4)
    yield one((1, 2, 2), (1, 2, 4))
    yield one((1, 2, 0), (1, 2, 2), high=3)
    yield one((0, 2, 3), (1, 2, 2))
    yield one((1, 2, 3), (2, 2, 0))
    yield one((2, 3), (4, 3))
    named = {name: (value,) for name, value in plain.items()}
    arrays = complexes(rng, (1, 2, 4)), complexes(rng, (2, 2, 2))
    yield one_op(cls, *arrays, **named, groups=1, dtype=COMPLEX)


COMPLEX = of_numpy(np.complex128)
