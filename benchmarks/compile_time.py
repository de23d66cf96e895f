"""What it costs to make kernels for the CPU, stage by stage, in ms of processor time.

    python -m benchmarks.compile_time [gelu softmax … matmul products transformer]

Stages above the line run in the process that records; those below, which `lower.compile_kernel`
does, are shared with helper processes, and their sum stands at the end. Nothing comes from the
cache, and each kernel counts once. `products` are those of other layouts than `matmul`.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sized
from pathlib import Path
from typing import Any

import numpy as np

import brimstone as bs
from benchmarks import transformer
from brimstone.ir.func import Func, Module
from brimstone.passes.bind_cpu import bind_cpu
from brimstone.passes.collector import without_collections
from brimstone.passes.expand import expand
from brimstone.passes.fuse import fuse
from brimstone.passes.gather_launches import gather_launches
from brimstone.passes.generalise import generalise
from brimstone.passes.tiling import tile
from brimstone.runtime.host import shared_host
from brimstone.runtime.steps import prepare
from brimstone.targets.llvm.code import Code
from brimstone.targets.llvm.compile import compile_text
from brimstone.targets.llvm.machines import host
from brimstone.targets.llvm.naming import name_of
from brimstone.targets.llvm.preparation import Preparation
from brimstone.targets.llvm.printer import print_llvm
from brimstone.targets.llvm.program import Program
from brimstone.targets.llvm.schedules import chooser

SHAPES = Path(__file__).parent / "shapes.json"
Work = tuple[Callable[..., Any], tuple[Any, ...]]


def normal(*shape: int) -> Any:
    """Numbers to compute with."""
    return bs.tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    """Along the last axis."""
    centred = x - bs.mean(x, axis=-1, keepdims=True)
    variance = bs.mean(centred * centred, axis=-1, keepdims=True)
    return centred / bs.sqrt(variance + 1e-5) * weight + bias


def layer_norm_slopes(x: Any, weight: Any, bias: Any, cotangent: Any) -> Any:
    """The gradients of all that a layer norm takes."""
    return bs.vjp(layer_norm, x, weight, bias)[1](cotangent)


def whole_transformer() -> Work:
    """The loss of a small transformer and its gradients."""
    sizes = json.loads(SHAPES.read_text())["transformer_cpu"]
    return transformer.slopes(**sizes)


WORKS: dict[str, Callable[[], Work]] = {
    "gelu": lambda: (bs.gelu, (normal(1000),)),
    "softmax": lambda: (bs.softmax, (normal(100, 1000),)),
    "layer_norm_slopes": lambda: (
        layer_norm_slopes,
        (normal(100, 1000), normal(1000), normal(1000), normal(100, 1000)),
    ),
    "matmul": lambda: (bs.matmul, (normal(300, 500), normal(500, 700))),
    "transformer": whole_transformer,
}
PRODUCTS: dict[str, Callable[[], Work]] = {
    "right transposed": lambda: (lambda x, y: x @ y.mT, (normal(300, 500), normal(700, 500))),
    "left transposed": lambda: (lambda x, y: x.mT @ y, (normal(500, 300), normal(500, 700))),
    "both transposed": lambda: (lambda x, y: x.mT @ y.mT, (normal(500, 300), normal(700, 500))),
    "batched": lambda: (bs.matmul, (normal(8, 300, 500), normal(8, 500, 700))),
    "few rows": lambda: (bs.matmul, (normal(4, 500), normal(500, 700))),
    "few rows, transposed": lambda: (lambda x, y: x @ y.mT, (normal(4, 500), normal(700, 500))),
    "small": lambda: (bs.matmul, (normal(30, 50), normal(50, 70))),
    "small, both transposed": lambda: (lambda x, y: x.mT @ y.mT, (normal(50, 30), normal(70, 50))),
    "linear and gelu": lambda: (
        lambda x, weight, bias: bs.gelu(x @ weight.mT + bias),
        (normal(300, 500), normal(700, 500), normal(700)),
    ),
}
"""Matrices in other layouts, with other sizes, and followed by something."""


def stage(name: str, made: str, work: Callable[[], Any], count: Callable[[Any], int]) -> Any:
    """Do one stage, and print its time, and what it made."""
    start = time.thread_time()
    result = work()
    spent = time.thread_time() - start
    print(f"  {name:12} {1000 * spent:8.1f} ms   {count(result):6} {made}")
    return result


def is_done(start: float) -> None:
    """Print how long it was since then."""
    print(f"  {'all of that':12} {1000 * (time.thread_time() - start):8.1f} ms")


def ops_of(func: Func) -> int:
    """How many ops a func has."""
    return sum(1 for _ in func.walk())


def ops_of_main(module: Module) -> int:
    """How many ops the main func has."""
    return ops_of(module.main)


def kernels_in(module: Module) -> int:
    """How many funcs there are beside the main one."""
    return len(module) - 1


def all_ops(funcs: Iterable[Func]) -> int:
    """How many ops all funcs have."""
    return sum(map(ops_of, funcs))


def all_of(texts: Iterable[Sized]) -> int:
    """How long all of them are."""
    return sum(map(len, texts))


def launched(step: Module, sizes: Mapping[str, int]) -> list[Func]:
    """The kernels that run where the sizes are these."""
    program = Program(step.main, Code(lambda: step, {}), shared_host())
    known = {symbol: sizes[symbol.name] for symbol in step.main.symbols}
    names = Preparation(program, known).launched()
    return [program.code.func(name) for name in dict.fromkeys(names)]


def measure(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """All stages of one function."""
    traced = stage("record", "ops", lambda: bs.jit(function).lower(*arguments).ir.main, ops_of)
    general = stage("generalise", "ops", lambda: generalise(traced), lambda made: ops_of(made.func))
    module = stage("simplify", "ops", lambda: prepare(Module([general.func])), ops_of_main)
    fused = stage("fuse", "kernels", lambda: fuse(module.main, given=True).module, kernels_in)
    choose = chooser(host())
    tiled = stage(
        "tile", "kernels", lambda: tile(fused, choose, shared=True, given=True).module, kernels_in
    )
    step = stage("gather", "kernels", lambda: gather_launches(tiled).module, kernels_in)
    funcs = launched(step, general.sizes)
    compile_all(stage("name", "kernels", lambda: {name_of(each): each for each in funcs}, len))


def compile_all(funcs: Mapping[str, Func]) -> None:
    """The stages from kernels of tiles on."""
    machine = host()
    print("  ------")
    start = time.thread_time()
    loops = stage(
        "bind", "ops", lambda: [bind_cpu(func, machine) for func in funcs.values()], all_ops
    )
    stage(
        "expand", "ops", lambda: [expand(func, machine) for func in loops], lambda _: all_ops(loops)
    )
    texts = stage(
        "print", "characters", lambda: [print_llvm([each], machine) for each in loops], all_of
    )
    stage("LLVM", "bytes", lambda: [compile_text(text, machine) for text in texts], all_of)
    is_done(start)


@without_collections
def measure_all(chosen: dict[str, Callable[[], Work]]) -> None:
    """One after the other, after one that warms everything up."""
    print("(warming up)")
    measure(*WORKS["softmax"]())
    for name, work in chosen.items():
        print(name)
        measure(*work())


def main() -> None:
    """Measure the chosen works, after one that warms everything up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="work", help=", ".join([*WORKS, "products"]))
    names = parser.parse_args().names or [*WORKS]
    chosen = {name: WORKS[name] for name in names if name in WORKS}
    if "products" in names:
        chosen |= PRODUCTS
    with bs.device("cpu"):
        measure_all(chosen)


if __name__ == "__main__":
    main()
