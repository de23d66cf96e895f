"""What Triton's interpreter gets wrong, put right, so that it can judge.

Comes in: nothing. Goes out: an interpreter whose casts round to nearest, whose products of narrow
floats are of their values instead of their bits, and in which a repeated bool stays a bool. What it
lacks before Triton 3.9, bfloat16 constants and `~` of unsigned numbers, it has, too; and before 3.7
loops up to an argument with a numpy that takes no array of one element for an integer.
Never: another meaning than the compiler's.
"""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np


def repair() -> None:
    """Change the interpreter of this process."""
    from triton.runtime import interpreter  # pyright: ignore[reportMissingImports]

    builder: Any = interpreter.InterpreterBuilder
    kept = {name: getattr(builder, name) for name in ("create_splat", "create_dot", "cast_impl")}
    repaired = (
        get_bf16,
        get_all_ones_value,
        splat(kept["create_splat"]),
        products(kept["create_dot"]),
        *casts(kept["cast_impl"]),
    )
    for function in repaired:
        setattr(builder, function.__name__, function)
    interpreter._patch_lang_tensor = indices(interpreter._patch_lang_tensor)


def narrow() -> dict[Any, Any]:
    """What numpy calls the dtypes that the interpreter keeps as bits."""
    import triton.language as tl  # pyright: ignore[reportMissingImports]

    return {
        tl.bfloat16: ml_dtypes.bfloat16,
        tl.float8e4nv: ml_dtypes.float8_e4m3fn,
        tl.float8e5: ml_dtypes.float8_e5m2,
    }


def values(handle: Any) -> Any:
    """The numbers of a tensor."""
    stored = narrow().get(handle.dtype.scalar)
    return handle.data if stored is None else handle.data.view(stored).astype(np.float32)


def get_bf16(self: Any, value: float) -> Any:
    """A constant."""
    import triton.language as tl  # pyright: ignore[reportMissingImports]

    return self.create_fp_trunc(self.get_fp32(value), tl.bfloat16)


def get_all_ones_value(_: Any, type_: Any) -> Any:
    """A constant, of whose bits no one is 0."""
    from triton.runtime.interpreter import TensorHandle, _get_np_dtype  # pyright: ignore[reportMissingImports]

    return TensorHandle(np.invert(np.zeros(1, _get_np_dtype(type_))), type_.scalar)


def indices(before: Callable[..., Any]) -> Callable[..., Any]:
    """A scalar, which is kept as an array of one element, is an integer for Python."""

    def patch(tensor: Any, scope: Any) -> None:
        before(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    return patch


def splat(before: Callable[..., Any]) -> Callable[..., Any]:
    """A repeated bool is not taken for the integers that were compared."""
    import triton.language as tl  # pyright: ignore[reportMissingImports]
    from triton.runtime.interpreter import TensorHandle  # pyright: ignore[reportMissingImports]

    def create_splat(self: Any, type_: Any, x: Any) -> Any:
        is_bool = x.data.dtype == np.bool_
        return before(self, type_, TensorHandle(x.data, tl.int1) if is_bool else x)

    return create_splat


def products(before: Callable[..., Any]) -> Callable[..., Any]:
    """Numbers are multiplied, not their bits."""
    from triton.runtime.interpreter import TensorHandle  # pyright: ignore[reportMissingImports]

    def create_dot(self: Any, a: Any, b: Any, total: Any, *rest: Any) -> Any:
        if a.dtype.scalar not in narrow():
            return before(self, a, b, total, *rest)
        product = np.matmul(values(a), values(b), dtype=np.float32)
        return TensorHandle(product + total.data, total.dtype.scalar)

    return create_dot


def casts(before: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Floats are rounded, not cut off."""
    import triton.language as tl  # pyright: ignore[reportMissingImports]
    from triton.runtime.interpreter import TensorHandle  # pyright: ignore[reportMissingImports]

    def cast_impl(self: Any, x: Any, type_: Any) -> Any:
        target = narrow().get(type_.scalar)
        if target is None and x.dtype.scalar not in narrow():
            return before(self, x, type_)
        if target is None:
            return before(self, TensorHandle(values(x), tl.float32), type_)
        made = values(x).astype(np.float32).astype(target)
        return TensorHandle(made.view(f"u{made.itemsize}"), type_.scalar)

    def create_fp_to_fp(self: Any, x: Any, type_: Any, _: Any) -> Any:
        return cast_impl(self, x, type_)

    return cast_impl, create_fp_to_fp
