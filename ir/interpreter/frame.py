"""Runs a func: sizes from the arguments' shapes, then each op's `run`, in program order.

Comes in: a module or func, and numpy arrays. Goes out: the arrays that `return` names.
Never: a schedule, or a device.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..attributes import Shape
from ..dims import Size, Symbol, evaluate
from ..errors import ExecutionError, IRError, Unmet
from ..func import Func, Module
from ..payloads import Array
from ..types import Scalar, Shaped, Type
from ..values import AnyValue, Block, Op

Sizes = Mapping[Symbol, int]
CALLERS = "callers"
"""Under which name a frame keeps the funcs that are being called."""


def interpret(
    program: Module | Func,
    *arguments: Any,
    sizes: Mapping[str, int] | None = None,
    blocks: int | None = None,
) -> tuple[Any, ...]:
    """The results of the func (of a module: of its first), run on `arguments`.

    Sizes that no argument's shape gives are taken from `sizes`, by name. A program that runs more
    than `blocks` blocks, such as an endless loop, fails.
    """
    module = program if isinstance(program, Module) else None
    func = program.main if isinstance(program, Module) else program
    with np.errstate(all="ignore"):
        return call(func, arguments, module, sizes or {}, Allowance(blocks))


class Allowance:
    """How many blocks a program may still run; None for any number."""

    __slots__ = ("blocks",)

    def __init__(self, blocks: int | None = None) -> None:
        self.blocks = blocks

    def spend(self) -> None:
        """Run one block more, or fail."""
        if self.blocks is not None:
            self.blocks -= 1
            if self.blocks < 0:
                raise ExecutionError("the program runs more blocks than it is allowed to")


def call(
    func: Func,
    arguments: Sequence[Any],
    module: Module | None,
    sizes: Mapping[str, int],
    allowance: Allowance | None = None,
    extra: Mapping[str, Any] | None = None,
) -> tuple[Any, ...]:
    """Run `func` in a frame of its own, which begins with the state `extra`."""
    if len(arguments) != len(func.arguments):
        raise ExecutionError(
            f"@{func.name} takes {len(func.arguments)} arguments, not {len(arguments)}",
            func.location,
        )
    frame = Frame(module, _bind_sizes(func, arguments, sizes), allowance)
    frame.extra.update(extra or {})
    stored = [
        _as_argument(frame, value.type, given)
        for value, given in zip(func.arguments, arguments, strict=True)
    ]
    return frame.run(func.body, stored)


class Frame:
    """The values and sizes of one call; an op's `run` gets it with its operands."""

    __slots__ = ("allowance", "extra", "module", "sizes", "values")

    def __init__(
        self, module: Module | None, sizes: Sizes, allowance: Allowance | None = None
    ) -> None:
        self.module = module
        self.sizes = sizes
        self.allowance = allowance or Allowance()
        self.values: dict[AnyValue, Any] = {}
        self.extra: dict[str, Any] = {}

    def size(self, size: Size) -> int:
        """What a dim is in this call."""
        return size if isinstance(size, int) else evaluate(size, self.sizes)

    def shape(self, shape: Shape) -> tuple[int, ...]:
        """What a shape is in this call."""
        return tuple([self.size(size) for size in shape])

    def run(self, block: Block, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Run the ops of a block; return what its terminator hands back."""
        self.allowance.spend()
        values = self.values
        for argument, given in zip(block.arguments, arguments, strict=True):
            values[argument] = given
        for op in block:
            operands = [values[operand] for operand in op.operands]
            if op.terminator:
                return tuple(operands)
            self._step(op, operands)
        raise ExecutionError("a block ends without return or yield")

    def call(
        self, name: str, arguments: Sequence[Any], sizes: Mapping[str, int] | None = None
    ) -> tuple[Any, ...]:
        """Run another func of the module; the state of this call is its state too."""
        extra = self._extra_of(name)
        assert self.module is not None
        return call(self.module[name], arguments, self.module, sizes or {}, self.allowance, extra)

    def inner(self, name: str, sizes: Sizes) -> "Frame":
        """That of a call of another func of the module, of which all sizes are known."""
        made = Frame(self.module, sizes, self.allowance)
        made.extra = self._extra_of(name)
        return made

    def _extra_of(self, name: str) -> dict[str, Any]:
        """With which state another func of the module is called."""
        callers: tuple[str, ...] = self.extra.get(CALLERS, ())
        if self.module is None or name not in self.module.funcs:
            raise Unmet(f"there is no func @{name} to call")
        if name in callers:
            raise Unmet(f"@{name} calls itself; a func may not")
        return {**self.extra, CALLERS: (*callers, name)}

    def _step(self, op: Op, operands: list[Any]) -> None:
        try:
            made = op.run(self, *operands)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        except IRError:
            raise
        except (Unmet, ValueError, IndexError, OverflowError, ArithmeticError) as problem:
            raise ExecutionError(f"{op.name}: {problem}", op.location) from problem
        results = op.results
        if len(results) == 1:
            self.values[results[0]] = made
        elif results:
            self.values.update(zip(results, made, strict=True))  # pyright: ignore[reportUnknownArgumentType]


def _bind_sizes(func: Func, arguments: Sequence[Any], given: Mapping[str, int]) -> Sizes:
    """The sizes of the func's symbols, from the shapes of the arguments first."""
    sizes = _sizes_of(func, arguments)
    for symbol in func.symbols:
        if symbol not in sizes and symbol.name in given:
            sizes[symbol] = given[symbol.name]
        if symbol not in sizes:
            raise ExecutionError(
                f"@{func.name}: no argument says how large {symbol.name} is; give it by name",
                func.location,
            )
        if not symbol.admits(sizes[symbol]):
            raise ExecutionError(
                f"@{func.name}: {symbol.name} is {sizes[symbol]}, outside its declared range",
                func.location,
            )
    return sizes


def _sizes_of(func: Func, arguments: Sequence[Any]) -> dict[Symbol, int]:
    """What the shapes of the arguments say; the first that speaks of a symbol counts."""
    sizes: dict[Symbol, int] = {}
    for value, argument in zip(func.arguments, arguments, strict=True):
        shape = value.type.shape if isinstance(value.type, Shaped) else ()
        for size, found in zip(shape, np.shape(argument), strict=False):
            if isinstance(size, Symbol):
                sizes.setdefault(size, found)
    return sizes


def _as_argument(frame: Frame, type_: Type, given: Any) -> Any:
    """An argument as the func holds it: of the declared dtype and shape."""
    if isinstance(type_, Scalar):
        return np.asarray(given, type_.dtype.storage).reshape(())
    if not isinstance(type_, Shaped):
        return given
    array: Array = np.asarray(given)
    expected = frame.shape(type_.shape)
    if array.shape != expected or array.dtype != type_.dtype.storage:
        raise ExecutionError(
            f"an argument of type {type_} is given {array.dtype}{list(array.shape)}, "
            f"expected {type_.dtype.storage}{list(expected)}"
        )
    return array
