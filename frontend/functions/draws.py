"""What a sample is made of: a key, a shape, a dtype, and the random words of its elements.

Comes in: what the user of a distribution asked for. Goes out: a `Draw`, whose methods give the
noise of which `sampling.py`, `rejection.py` and `choices.py` make distributions.
Never: state, or an element that depends on anything but the key and its own place: element i is
made of word i of the key's stream, or of words 2 * i and 2 * i + 1 where it needs 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..dtypes import DEFAULTS, OF_IR
from ..errors import ArgumentError, DTypeError, ShapeError, fail
from ..generator import KEY, Generator, draw_key, fold_in
from ..handle import Handle, wrap
from ..node import Node, record
from ..trace import current_trace
from .common import (
    NUMBER_TYPES,
    Shape,
    as_ir_dtype,
    as_node,
    as_shape,
    broadcast_shape,
    cast_node,
    common_dtype,
    filled,
    number,
)
from .manipulation import part, reshaped

if TYPE_CHECKING:
    from ..tensor import Tensor

# The digits of a float between 1/2 and 1: so many random bits make one, and none is rounded.
DIGITS = {ir.f8e4m3: 4, ir.f8e5m2: 3, ir.f16: 11, ir.bf16: 8, ir.f32: 24, ir.f64: 53}


@dataclass(frozen=True, slots=True)
class Draw:
    """A sample that is asked for: its key, shape and dtype, and the distribution's parameters.

    Parameters are in the dtype of the computation, `wide`, which is never narrower than f32.
    """

    key: Node
    shape: Shape
    dtype: ir.DType
    parameters: tuple[Tensor, ...] = ()

    @property
    def wide(self) -> ir.DType:
        """The dtype in which the sample is computed, before it is rounded once."""
        return self.dtype.accumulator

    def uniform(self) -> Tensor:
        """k / 2**digits of `dtype` for k = 0, 1, …: all in [0, 1), none rounded."""
        digits = DIGITS[self.dtype]
        counted = cast_node(self._high_bits(digits, self.dtype), self.wide)
        scaled = record(ops.Multiply, (counted, self._number(2.0**-digits)))
        return wrap(cast_node(scaled, self.dtype))

    def centred(self) -> Tensor:
        """(2 * k + 1) / 2**digits - 1 of `wide`: as many above 0 as below, never 0, never ±1."""
        digits = DIGITS[self.wide]
        signed = ir.i64 if self.wide is ir.f64 else ir.i32
        places = cast_node(self._high_bits(digits, self.wide), signed)
        doubled = record(ops.Add, (places, places))
        odd = record(ops.Add, (doubled, filled(1 - 2**digits, self.shape, signed)))
        return wrap(record(ops.Multiply, (cast_node(odd, self.wide), self._number(2.0**-digits))))

    def positive(self) -> Tensor:
        """(w + 1/2) / 2**32 (or 64) of `wide`, but less than 1: in (0, 1), and fine near 0."""
        width = 64 if self.wide is ir.f64 else 32
        whole = cast_node(words(self.key, self.shape, width), self.wide)
        above = record(ops.Add, (whole, self._number(0.5)))
        scaled = record(ops.Multiply, (above, self._number(2.0**-width)))
        most = self._number(1 - 2.0 ** -DIGITS[self.wide])
        return wrap(record(ops.Minimum, (scaled, most)))

    def exponential(self) -> Tensor:
        """-log of `positive`."""
        return -wrap(record(ops.Log, (self.positive().node,)))

    def normal(self) -> Tensor:
        """√2 * erf⁻¹ of `centred`: one word makes one number, and a larger word a larger one."""
        found = record(ops.ErfInverse, (self.centred().node,))
        return wrap(record(ops.Multiply, (found, self._number(2**0.5))))

    def gumbel(self) -> Tensor:
        """-log(-log(1 - u)) for u of `positive`, which is finest where the result is largest."""
        left = -wrap(record(ops.Log1p, ((-self.positive()).node,)))
        return -wrap(record(ops.Log, (left.node,)))

    def finish(self, sample: Tensor) -> Tensor:
        """The sample, rounded to the dtype asked for."""
        return wrap(cast_node(sample.node, self.dtype))

    def part(self, number: int | Node, shape: Shape | None = None) -> Draw:
        """Another draw of the computation's dtype, with a key of its own."""
        count = filled(number, (), ir.i64) if isinstance(number, int) else number
        own = self.shape if shape is None else shape
        return Draw(fold_in(self.key, count), own, self.wide, self.parameters)

    def _high_bits(self, digits: int, dtype: ir.DType) -> Node:
        width = 64 if dtype is ir.f64 else 32
        found = words(self.key, self.shape, width)
        return record(ops.ShiftRight, (found, filled(width - digits, self.shape, _WORDS[width])))

    def _number(self, value: float) -> Node:
        return filled(value, self.shape, self.wide)


_WORDS = {32: ir.u32, 64: ir.u64}


def words(key: Node, shape: Shape, width: int) -> Node:
    """Random words of 32 or 64 bits; of the two that make one of 64, the first is the low half."""
    if width == 32:
        return record(ops.RandomBits, (key,), (shape, 0))
    axis = len(shape)
    pairs = cast_node(record(ops.RandomBits, (key,), ((*shape, 2), 0)), ir.u64)
    low, high = (reshaped(part(pairs, axis, each, 1), shape) for each in (0, 1))
    return record(ops.BitOr, (low, record(ops.ShiftLeft, (high, filled(32, shape, ir.u64)))))


def as_key(key: Any, name: str) -> Node:
    """The node of a key; None and a generator give the next of theirs."""
    if key is None:
        return draw_key()
    if isinstance(key, Generator):
        return _drawn_of(key, name)
    refuse_others(key, name)
    return key.node


def refuse_others(key: Any, name: str) -> None:
    """Refuse what is no key, and gives none: who leaves the key out names what comes behind it."""
    is_key = isinstance(key, Handle) and key.node.type is KEY
    if key is not None and not is_key and not isinstance(key, Generator):
        fail(
            ArgumentError, name, "the first argument is a key: two words of uint32", key,
            hint="make one with `bs.random.key(seed)`, name the other arguments, as in "
            "`shape=(2, 3)`, or leave the key out; `bs.vmap` takes many keys",
        )  # fmt: skip


def _drawn_of(generator: Generator, name: str) -> Node:
    """The next key of a generator, which a function being compiled would draw only once."""
    current = current_trace()
    while current is not None:
        if current.hidden_key is not None:
            fail(
                ArgumentError, name, "inside `jit` a generator would give the same key each time",
                hint="hand the function a key, or leave the generator out",
            )  # fmt: skip
        current = current.outer
    return draw_key(generator)


def draw(name: str, key: Any, shape: Any, dtype: Any, *parameters: Any, floats: Any = None) -> Draw:
    """The draw of floats that a user asked for; without a shape it has that of the parameters."""
    refuse_others(key, name)  # before what stands where something else was meant to
    kind = float_dtype(name, dtype, parameters, floats or ir.FLOATS)
    wide = kind.accumulator.real
    nodes = [
        number(float(each), wide, name)
        if each.__class__ in NUMBER_TYPES
        else cast_node(as_node(each, name), wide)
        for each in parameters
    ]
    sizes = full_shape(name, shape, nodes)
    return Draw(as_key(key, name), sizes, kind, tuple([wrap(node) for node in nodes]))


def float_dtype(name: str, dtype: Any, parameters: Any, among: Any = ir.FLOATS) -> ir.DType:
    """The dtype asked for, or that of the parameters, if they have a float one."""
    if dtype is None:
        found = common_dtype(name, *parameters) if parameters else ir.boolean
        return found if found in ir.FLOATS else DEFAULTS[float].ir
    kind = as_ir_dtype(dtype, ir.f32)
    if kind not in among:
        fail(DTypeError, name, f"the sample consists of floats, not of {OF_IR[kind]}")
    return kind


def full_shape(name: str, shape: Any, parameters: Any) -> Shape:
    """The shape asked for, to which the parameters must stretch, or else the one they have."""
    own = broadcast_shape(name, (), *[node.type.shape for node in parameters])
    if shape is None:
        return own
    sizes = as_shape(shape, name)
    if broadcast_shape(name, own, sizes) != sizes:
        problem = f"the parameters have shape {list(own)}, the sample {list(sizes)}"
        fail(
            ShapeError, name, problem, hint="the shape of a sample includes that of the parameters"
        )
    return sizes
