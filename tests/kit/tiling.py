"""Kernels to be tiled: written as formulas, launched by a step, run before and after.

Comes in: a function of terms, and the shapes and dtypes of its arguments, such as "n m f32". Goes
out: a module whose `@main` launches it as the kernel `@k`; and what the launch computes.
Never: a test.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from brimstone.ir import print_module, step, tensor, verify
from brimstone.ir.builder import Builder
from brimstone.ir.dims import Size, Symbol
from brimstone.ir.dtypes import BY_NAME, DType, Kind
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.tensor.rules import Term, broadcast_along
from brimstone.ir.types import Array, Tensor, View
from brimstone.passes.tiling import Tiled, tile

SIZES = (0, 1, 7, 8, 9, 17)
"""Nothing, one, a prime, a tile, one more, two tiles and one."""

SCHEDULE = {"n": 8, "m": 4, "unroll": 2, "chunk": 32, "wide": 16}
SYMBOLS = {name: Symbol(name, 0, 4096) for name in "nmkl"}


def kernel(build: Callable[..., Any], *arguments: str) -> Func:
    """The kernel `@k`: what `build` makes of a term for each argument."""
    types = [parsed(text) for text in arguments]
    used = dict.fromkeys(
        size for type_ in types for size in type_.shape if isinstance(size, Symbol)
    )
    func = Func("k", types, tuple(used))
    builder = Builder(func.body)
    for name, argument in zip("abcdefgh", func.arguments, strict=False):
        argument.name = name
    made = build(*[Term(builder, argument) for argument in func.arguments])
    terms = made if isinstance(made, tuple) else (made,)
    builder.emit_all(Return, [term.value for term in terms])
    return func


def parsed(text: str) -> Tensor:
    """`n 3 f32` as a type."""
    *sizes, dtype = text.split()
    shape: list[Size] = [SYMBOLS[size] if size in SYMBOLS else int(size) for size in sizes]
    return Tensor(tuple(shape), BY_NAME[dtype])


def launched(func: Func) -> Module:
    """A step that allocates the results of a kernel, launches it and returns them."""
    types = [Array(value.type.shape, value.dtype) for value in func.arguments]
    main = Func("main", types, func.symbols)
    builder = Builder(main.body)
    results = [
        builder.emit_all(step.Allocate, Array(value.type.shape, value.dtype))[0]
        for value in func.results
    ]
    builder.emit_all(step.Launch, main.arguments, results, kernel=func.name, grid=())
    builder.emit_all(Return, results)
    return Module([main, func])


def tiled(func: Func, schedule: Mapping[str, int] | None = None) -> Tiled:
    """The step with kernels of tiles, verified, printed and parsed again."""
    module = launched(func)
    verify(module)
    made = tile(module, lambda shape: schedule or SCHEDULE)
    verify(made.module)
    stays = "k" in made.refused
    for each in made.module:
        views = [isinstance(argument.type, View) for argument in each.arguments]
        assert each.name == "main" or stays is not all(views)
    text = print_module(made.module)
    again = parse(text, "tiled")
    verify(again)
    assert print_module(again) == text
    return Tiled(again, made.refused)


def sizes_of(func: Func, count: int = 12) -> Iterator[dict[str, int]]:
    """Sizes for the symbols of a func: all of `SIZES` for each, in changing company."""
    seen: list[dict[str, int]] = []
    for turn in range(count):
        sizes = {
            symbol.name: SIZES[(turn * (1 + place) + turn // len(SIZES)) % len(SIZES)]
            for place, symbol in enumerate(func.symbols)
        }
        if sizes not in seen:
            seen.append(sizes)
    yield from seen


def arrays_for(func: Func, sizes: Mapping[str, int], whole: bool, seed: int = 0) -> list[Any]:
    """Random arguments: small whole numbers where sums must be exact, else any, some special."""
    rng = np.random.default_rng(seed)
    known = {SYMBOLS[name]: size for name, size in sizes.items()}
    made: list[Any] = []
    for value in func.arguments:
        shape = [size if isinstance(size, int) else known[size] for size in value.type.shape]
        made.append(_numbers(rng, tuple(shape), value.dtype, whole))
    return made


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType, whole: bool) -> Any:
    if dtype.kind is Kind.BOOL:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind is not Kind.FLOAT or whole:
        low = 0 if dtype.kind is Kind.UNSIGNED else -4
        return rng.integers(low, 5, shape).astype(dtype.storage)
    return rng.standard_normal(shape).astype(dtype.storage)


def runs(
    func: Func, arguments: Sequence[Any], module: Module, sizes: Mapping[str, int] | None = None
) -> tuple[Any, Any]:
    """The results of the launch of the kernel of tensors, and of that of tiles."""
    before = interpret(launched(func), *arguments, sizes=sizes)
    return before, interpret(module, *arguments, sizes=sizes)


def along(y: Term, like: Term, *axes: int) -> Term:
    """A reduction's result repeated along the axes that it has lost."""
    return Term(y.builder, broadcast_along(y.builder, y.value, like.value.type.shape, axes))


def spread(x: Term, like: Term, *axes: int) -> Term:
    """x broadcast to the shape of `like`: its axes become these."""
    shape = like.value.type.shape
    return Term(x.builder, x.builder.emit(tensor.Broadcast, x.value, shape=shape, axes=axes))
