"""The process in which Triton interprets: it answers questions from its standard input.

Comes in: a source, the name of its kernel, a grid, memories, and parameters as types with places
in them. Goes out: the memories as the kernel left them, or a traceback.
Never: PyTorch. Parameters are made of what Triton's interpreter itself makes of tensors.
"""

import os
import pickle
import sys
import traceback
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from brimstone.ir.dtypes import of_numpy
from brimstone.ir.shared.kinds import evaluate
from brimstone.targets.triton.compile import load_source
from brimstone.targets.triton.emit.math import FUNCTIONS, FUNCTIONS_OF_TWO
from kit.triton_repairs import repair


def serve() -> None:
    """Answer until there is no question left."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a kernel prints is no answer
    repair()
    while True:
        try:
            question = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = True, run(*question)
        except Exception:
            answer = False, traceback.format_exc()
        pickle.dump(answer, answers)
        answers.flush()


def run(
    source: str, name: str, grid: tuple[int, ...], memories: dict[int, Any], listed: list[Any]
) -> dict[int, Any]:
    """Interpret one launch."""
    module = load_source(source)
    module.__dict__["libdevice"] = libdevice()
    memories = {key: memory.copy() for key, memory in memories.items()}
    with np.errstate(all="ignore"):
        getattr(module, name)[grid](*[parameter(memories, *each) for each in listed])
    return memories


def parameter(memories: dict[int, Any], text: str, value: Any, *place: Any) -> Any:
    """A number, a pointer or a descriptor, as the interpreter holds it."""
    if not place:
        return number(text, value)
    memory, (offset, box) = memories[value], place
    address = memory.ctypes.data + offset * memory.itemsize
    element = text[1:] if text.startswith("*") else text.partition("<")[2].partition("[")[0]
    base = number(f"*{element}", address)
    return base if box is None else descriptor(base, *box)


def number(text: str, value: Any) -> Any:
    """A scalar of a type that a signature names."""
    import triton.language as tl  # pyright: ignore[reportMissingImports]
    from triton.runtime.interpreter import TensorHandle, _get_np_dtype  # pyright: ignore[reportMissingImports]

    type_: Any = tl.str_to_ty(text, None)
    storage = np.uint64 if text.startswith("*") else _get_np_dtype(type_)
    made = np.array([value])
    if text in ("bf16", "fp8e4nv", "fp8e5"):
        made = made.view(storage)  # the interpreter keeps their bits
    return tl.tensor(TensorHandle(made.astype(storage), type_), type_)


def descriptor(base: Any, sizes: Any, strides: Any, block: Any) -> Any:
    """What moves blocks of one shape."""
    import triton.language as tl  # pyright: ignore[reportMissingImports]
    from triton.runtime.interpreter import interpreter_semantic  # pyright: ignore[reportMissingImports]

    return interpreter_semantic.make_tensor_descriptor(
        base=base,
        shape=[number("i32", size) for size in sizes],
        strides=[*[number("i64", stride) for stride in strides[:-1]], tl.constexpr(1)],
        block_shape=[tl.constexpr(size) for size in block],
        padding_option="zero",
    )


def libdevice() -> SimpleNamespace:
    """The functions of libdevice that kernels call, by numpy."""
    listed = {**FUNCTIONS, **FUNCTIONS_OF_TWO}
    named = {text.partition(".")[2]: kind for kind, text in listed.items() if "libdevice" in text}
    functions = {name: numerical(partial(meaning, kind)) for name, kind in named.items()}
    return SimpleNamespace(
        **functions,
        popc=numerical(lambda x: np.bitwise_count(x.view(f"u{x.itemsize}")).astype(np.int32)),
        clz=numerical(leading_zeros),
    )


def meaning(kind: Any, *arrays: Any) -> Any:
    """What the kind of arithmetic is of floats."""
    dtype = of_numpy(arrays[0].dtype)
    return evaluate(kind, dtype, dtype, *arrays)


def leading_zeros(x: Any) -> Any:
    """How many zeros stand before the first one."""
    width = 8 * x.itemsize
    unsigned = x.astype(f"u{x.itemsize}")
    counted = [(unsigned >> unsigned.dtype.type(at)) > 0 for at in range(width)]
    return (width - np.sum(counted, axis=0)).astype(np.int32)


def numerical(function: Any) -> Any:
    """A function of numpy as one of Triton's tensors."""
    import triton.language as tl  # pyright: ignore[reportMissingImports]
    from triton.runtime.interpreter import TensorHandle  # pyright: ignore[reportMissingImports]

    def apply(*operands: Any) -> Any:
        model: Any = next(each for each in operands if isinstance(each, tl.tensor))
        storage = model.handle.data.dtype
        arrays = [
            each.handle.data if isinstance(each, tl.tensor) else np.asarray(each, storage)
            for each in operands
        ]
        made = np.asarray(function(*arrays))
        scalar = model.dtype.scalar if made.dtype == storage else tl.int32
        type_ = tl.block_type(scalar, list(made.shape)) if model.type.is_block() else scalar
        return tl.tensor(TensorHandle(made, scalar), type_)

    return apply
