"""Kernels that consist of one contraction, of every layout and of several dtypes.

Comes in: nothing, or a name of `LAYOUTS`. Goes out: kernels, and schedules under which small sizes
reach all branches.
Never: a test.
"""

from collections.abc import Callable
from typing import Any

from brimstone.ir import tensor
from brimstone.ir.dtypes import BY_NAME
from brimstone.ir.func import Func
from brimstone.ir.tensor.rules import Term
from kit.tiling import kernel

SMALL = {
    "m": 3, "n": 8, "k": 4, "kept": 8, "chunk": 6, "alone": 48, "few": 2, "beside": 2,
    "together": 2, "lines": 2, "dots": 3, "along": 4, "unroll": 2, "low": 2, "broad": 16,
    "near": 64, "much": 3, "apart": 1, "some": 6, "many": 12, "deep": 7, "part": 2,
}  # fmt: skip
"""Blocks of 3×8, chunks of k of 8, at most 48 elements alone, at most 2 rows few."""

Axes = tuple[int, ...]


def contract(
    left_batch: Axes, right_batch: Axes, left: Axes, right: Axes, dtype: str = ""
) -> Callable[[Term, Term], Term]:
    """The contraction over `left` and `right`."""

    def build(x: Term, y: Term) -> Term:
        made = x.builder.emit(
            tensor.Contract,
            x.value,
            y.value,
            left_batch=left_batch,
            right_batch=right_batch,
            left_contract=left,
            right_contract=right,
            dtype=BY_NAME[dtype] if dtype else x.value.dtype,
        )
        return Term(x.builder, made)

    return build


def _of_views(x: Term, y: Term) -> Term:
    """Every other row of x, backwards, with y in another order."""
    x = x.apply("slice", start=(1, 0), size=(x.value.type.shape[0] - 1, 8), step=(1, 2))
    y = y.apply("flip", axes=(1,)).apply("permute", axes=(1, 0))
    return contract((), (), (1,), (0,))(x, y)


def _of_maps(x: Term, y: Term, bias: Term) -> Term:
    """x + bias, which is not zero where x ends, with the negative of a narrow y."""
    wide = x + bias.apply("broadcast", shape=x.value.type.shape, axes=(1,))
    return contract((), (), (1,), (0,))(wide, -y.apply("cast", dtype=x.value.dtype))


def _of_heads(x: Term, y: Term) -> Term:
    """Heads that lie beside each other, of both operands; those of y are squared."""
    x, y = x.apply("permute", axes=(0, 2, 1, 3)), y.apply("permute", axes=(0, 2, 3, 1))
    return contract((0, 1), (0, 1), (3,), (2,))(x, y * y)


LAYOUTS: dict[str, tuple[Callable[..., Any], *tuple[str, ...]]] = {
    "nn": (contract((), (), (1,), (0,)), "m k f32", "k n f32"),
    "nt": (contract((), (), (1,), (1,)), "m k f32", "n k f32"),
    "tn": (contract((), (), (0,), (0,)), "k m f32", "k n f32"),
    "tt": (contract((), (), (0,), (1,)), "k m f32", "n k f32"),
    "batch": (contract((0,), (0,), (2,), (1,)), "l m k f32", "l k n f32"),
    "batch, nt": (contract((0,), (0,), (2,), (2,)), "l m k f32", "l n k f32"),
    "batch last": (contract((2,), (0,), (1,), (2,)), "m k l f32", "l n k f32"),
    "heads": (contract((0, 2), (0, 2), (3,), (3,)), "2 m l k f32", "2 n l k f32"),
    "two summed": (contract((), (), (1, 2), (0, 1)), "m 3 k f32", "3 k n f32"),
    "two summed, crossed": (contract((), (), (2, 0), (0, 1)), "3 m k f32", "k 3 n f32"),
    "two merged": (contract((), (), (0, 1), (0, 1)), "k 48 m f32", "k 48 n f32"),
    "two free": (contract((), (), (2,), (0,)), "m 2 k f32", "k n 3 f32"),
    "nothing summed": (contract((), (), (), ()), "m k f32", "n f32"),
    "fixed": (contract((), (), (1,), (0,)), "7 19 f32", "19 11 f32"),
    "few rows": (contract((), (), (1,), (0,)), "2 k f32", "k n f32"),
    "few rows, nt": (contract((), (), (1,), (1,)), "2 k f32", "n k f32"),
    "vector, matrix": (contract((), (), (1,), (0,)), "1 k f32", "k n f32"),
    "vector, rows": (contract((), (), (1,), (1,)), "1 k f32", "n k f32"),
    "matrix, vector": (contract((), (), (1,), (0,)), "m k f32", "k 1 f32"),
    "columns, vector": (contract((), (), (0,), (0,)), "k m bf16", "k 1 bf16"),
    "batch of vectors": (contract((0,), (0,), (1,), (1,)), "l k f32", "l k n f32"),
    "numbers": (contract((), (), (0,), (0,)), "k f32", "k f32"),
    "outer": (contract((), (), (1,), (0,)), "m 1 f32", "1 n f32"),
    "maps": (_of_maps, "m k f32", "k n bf16", "k f32"),
    "maps of heads": (_of_heads, "2 m 3 k f32", "2 n 3 k f32"),
    "views": (_of_views, "m 16 f32", "n 8 f32"),
    "bf16": (contract((), (), (1,), (0,)), "m k bf16", "k n bf16"),
    "f16 to f32": (contract((), (), (0,), (1,), "f32"), "k m f16", "n k f16"),
    "f64": (contract((), (), (1,), (0,)), "m k f64", "k n f64"),
    "i32": (contract((), (), (1,), (0,)), "m k i32", "k n i32"),
    "i8 to i32": (contract((), (), (1,), (1,), "i32"), "m k i8", "n k i8"),
    "u8": (contract((), (), (0,), (0,)), "k m u8", "k n u8"),
}


def near_sizes(func: Func) -> list[dict[str, int]]:
    """Sizes at which, under `SMALL`, programs pack the columns that they make."""
    every = [{"m": m, "n": n, "k": k, "l": 2} for m, n, k in [(3, 13, 8), (6, 21, 19), (4, 32, 17)]]
    return [{symbol.name: sizes[symbol.name] for symbol in func.symbols} for sizes in every]


def contraction(layout: str) -> Func:
    """The kernel of a layout."""
    build, *arguments = LAYOUTS[layout]
    return kernel(build, *arguments)
