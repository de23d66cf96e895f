"""The texts of a fixed corpus of kernels, as hashes: whoever changes one by accident is told.

    python -m kit.lock > kernels.lock

in the folder `tests` writes the lock anew, which a change that moves a hash says why it does.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import brimstone as bs
from brimstone.ir.func import Func, Module
from brimstone.passes.bind_cpu import Refused
from brimstone.passes.fuse import fuse
from brimstone.passes.generalise import generalise
from brimstone.passes.manager import run_pipeline
from brimstone.passes.pipelines import PREPARE
from brimstone.passes.tiling import tile
from brimstone.targets.llvm.lower import lower
from brimstone.targets.llvm.machines import AVX2, AVX512, CPU, NEON, SSE42
from brimstone.targets.llvm.printer import print_llvm
from brimstone.targets.llvm.schedules import chooser
from brimstone.targets.triton import print_triton
from kit.floors import gelu, softmax, without_lines
from kit.tile_corpus import CORPUS

DIGITS = 16


@dataclass(frozen=True)
class Locked:
    """A function, the shapes of its arguments, and the machines whose text of it is kept."""

    function: Callable[..., Any]
    shapes: Sequence[tuple[int, ...]]
    machines: Sequence[CPU] = (AVX512,)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    """Along the last axis."""
    centred = x - bs.mean(x, axis=-1, keepdims=True)
    variance = bs.mean(centred * centred, axis=-1, keepdims=True)
    return centred / bs.sqrt(variance + 1e-5) * weight + bias


def layer_norm_slopes(x: Any, weight: Any, bias: Any, cotangent: Any) -> Any:
    """The gradients of all that a layer norm takes."""
    return bs.vjp(layer_norm, x, weight, bias)[1](cotangent)


LOCKED = {
    "gelu": Locked(gelu, [(1000,)], (AVX512, AVX2, SSE42, NEON)),
    "softmax": Locked(softmax, [(100, 1000)], (AVX512, AVX2, SSE42, NEON)),
    "first_axis": Locked(lambda x: bs.softmax(x, axis=0), [(100, 1000)], (AVX512, NEON)),
    "layer_norm_slopes": Locked(layer_norm_slopes, [(100, 1000), (1000,), (1000,), (100, 1000)]),
    "matmul": Locked(bs.matmul, [(300, 500), (500, 700)], (AVX512, NEON)),
    "cumulative_sum": Locked(bs.cumulative_sum, [(1000,)]),
    "transposed": Locked(lambda x: x.T + 1, [(100, 1000)]),
}


def lines() -> Iterator[str]:
    """The lock: one line for each function and machine, and for each kernel written by hand."""
    for name, each in LOCKED.items():
        for machine in each.machines:
            yield f"{_hashed(llvm_text(each, machine))} {name} for {machine.name}"
    for name, example in CORPUS.items():
        yield f"{_hashed(print_triton(example.build()))} {name} in Triton"


def llvm_text(locked: Locked, machine: CPU) -> str:
    """The kernels of a function, one after the other."""
    arguments = [bs.zeros(shape, dtype=bs.float32) for shape in locked.shapes]
    traced = bs.jit(locked.function).lower(*arguments)
    module = Module([generalise(traced.ir.main).func])
    run_pipeline(module, PREPARE)
    tiled = tile(fuse(module.main).module, chooser(machine))
    return "\n".join(_printed(tiled.module[name], machine) for name in tiled.kernels)


def _printed(func: Func, machine: CPU) -> str:
    try:
        return without_lines(print_llvm([lower(func, machine)], machine))
    except Refused as reason:
        return str(reason)


def _hashed(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:DIGITS]


if __name__ == "__main__":
    for line in lines():
        print(line)
