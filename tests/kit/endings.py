"""Kernels of one contraction and maps that follow it.

Comes in: nothing, or a name of `ENDINGS`. Goes out: kernels.
Never: a test.
"""

from collections.abc import Callable
from typing import Any

from brimstone.ir.func import Func
from brimstone.ir.tensor.rules import Term
from kit.contractions import contract
from kit.tiling import kernel

PRODUCT = contract((), (), (1,), (0,))
COLUMNS = contract((), (), (0,), (0,))
BATCH = contract((0,), (0,), (2,), (1,))
LAYERS = contract((), (), (2,), (0,))
HEADS = contract((0, 1), (0, 1), (3,), (2,))


def along(x: Term, like: Term, *axes: int) -> Term:
    """x repeated along all axes of another value but these."""
    return x.apply("broadcast", shape=like.value.type.shape, axes=axes)


def added(*axes: int, product: Callable[..., Term] = PRODUCT) -> Callable[..., Term]:
    """product + something that runs along these axes of it."""

    def build(x: Term, y: Term, bias: Term) -> Term:
        made = product(x, y)
        return made + along(bias, made, *axes)

    return build


def _turned(x: Term, y: Term, gate: Term) -> Term:
    return PRODUCT(x, y).apply("permute", axes=(1, 0)) * gate


def _both(x: Term, y: Term, bias: Term) -> tuple[Term, Term]:
    hidden = added(1)(x, y, bias)
    return hidden, hidden.apply("maximum", hidden * hidden)


def _cast(x: Term, y: Term, bias: Term) -> Term:
    made = PRODUCT(x, y).apply("cast", dtype=bias.value.dtype)
    return made + along(bias, made, 1)


def _heads_beside(x: Term, y: Term) -> Term:
    return HEADS(x, y).apply("permute", axes=(0, 2, 1, 3))


def _with_itself(x: Term, y: Term) -> Term:
    made = PRODUCT(x, y)
    return made + made.apply("permute", axes=(1, 0))


ENDINGS: dict[str, tuple[Callable[..., Any], tuple[str, ...], bool]] = {
    "bias": (added(1), ("m k f32", "k n f32", "n f32"), True),
    "a number a row": (added(0), ("m k f32", "k n f32", "m f32"), True),
    "a number": (added(), ("m k f32", "k n f32", "f32"), True),
    "residual": (added(0, 1), ("m k f32", "k n f32", "m n f32"), True),
    "both": (_both, ("m k f32", "k n f32", "n f32"), True),
    "turned": (_turned, ("m k f32", "k n f32", "n m f32"), True),
    "narrow": (_cast, ("m k bf16", "k n bf16", "n f32"), True),
    "heads beside": (_heads_beside, ("m 2 l k f32", "m 2 k n f32"), True),
    "batch": (added(0, 2, product=BATCH), ("l m k f32", "l k n f32", "l n f32"), True),
    "layers": (added(1, 2, product=LAYERS), ("l m k f32", "k n f32", "m n f32"), True),
    "vector": (added(1), ("1 k f32", "k n f32", "n f32"), True),
    "columns, vector": (added(0, product=COLUMNS), ("k m f32", "k 1 f32", "m f32"), True),
    "matrix, vector": (added(0), ("m k f32", "k 1 f32", "m f32"), True),
    "outer": (added(1), ("m 1 f32", "1 n f32", "n f32"), True),
    "wide": (_cast, ("m k f32", "k n f32", "n f64"), False),
    "with itself": (_with_itself, ("m k f32", "k m f32"), False),
}
"""What is built, of which arguments, and whether it is stored at once, without the product."""


def ending(name: str) -> Func:
    """The kernel of a name."""
    build, arguments, _ = ENDINGS[name]
    return kernel(build, *arguments)
