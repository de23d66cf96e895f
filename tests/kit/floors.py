"""Two kernels on every floor, as a document: what the compiler writes, to be read.

Comes in: a GELU and a softmax, as a user writes them. Goes out: their IR on each floor, their LLVM
text, and the assembly, for one named machine.
Never: the machine that this runs on; the text is the same everywhere.
"""

import re
from collections.abc import Callable
from typing import Any

import brimstone as bs
from brimstone.ir.func import Module
from brimstone.ir.printer import print_func, print_module
from brimstone.passes.fuse import fuse
from brimstone.passes.generalise import generalise
from brimstone.passes.manager import run_pipeline
from brimstone.passes.pipelines import PREPARE
from brimstone.passes.tiling import tile
from brimstone.targets.llvm.compile import assembly_of
from brimstone.targets.llvm.lower import lower
from brimstone.targets.llvm.machines import AVX512
from brimstone.targets.llvm.printer import print_llvm
from brimstone.targets.llvm.schedules import chooser

HEAD = """\
# Two kernels on every floor

Written by `python -m kit.floors > ../docs/floors.md` in the folder `tests`; do not edit. A test
holds all of it but the assembly, which another LLVM may write otherwise, against what the compiler
makes today. Sizes are open: the same code serves every size. The machine is `avx512`; the functions
are these:

```python
def gelu(x):
    return 0.5 * x * (1 + bs.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def softmax(x):
    shifted = bs.exp(x - bs.max(x, axis=-1, keepdims=True))
    return shifted / bs.sum(shifted, axis=-1, keepdims=True)
```
"""


def gelu(x: Any) -> Any:
    """The approximation with tanh."""
    return 0.5 * x * (1 + bs.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def softmax(x: Any) -> Any:
    """exp(x) over its sum along the last axis."""
    shifted = bs.exp(x - bs.max(x, axis=-1, keepdims=True))
    return shifted / bs.sum(shifted, axis=-1, keepdims=True)


def page(assembly: bool = True) -> str:
    """The document."""
    return HEAD + section(gelu, (1000,), assembly) + section(softmax, (100, 1000), assembly)


def section(function: Callable[[Any], Any], shape: tuple[int, ...], assembly: bool) -> str:
    """One function on its way down."""
    floors = lowered(function, shape)
    loops = floors.pop("loop")
    text = without_lines(print_llvm([loops], AVX512))
    parts = [f"\n## {function.__name__}\n"]
    for title, program in floors.items():
        parts.append(folded(title, program))
    parts.append(folded("loop: one program of the grid", print_func(loops)))
    parts.append(folded("LLVM", text))
    if assembly:
        parts.append(folded("assembly", instructions(assembly_of(text, AVX512))))
    return "".join(parts)


def lowered(function: Callable[[Any], Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """The program on each floor, by the floor's name."""
    traced = bs.jit(function).lower(bs.zeros(shape, dtype=bs.float32))
    module = Module([generalise(traced.ir.main).func])
    recorded = print_module(module)
    run_pipeline(module, PREPARE)
    fused = fuse(module.main).module
    (name,) = [func.name for func in fused if func is not fused.main]
    fused_text = print_module(fused)
    tiled = tile(fused, chooser(AVX512)).module
    return {
        "tensor: as recorded, with open sizes": recorded,
        "step and kernel: fused": fused_text,
        "tile: one program of the grid": print_func(tiled[name]),
        "loop": lower(tiled[name], AVX512),
    }


def without_lines(text: str) -> str:
    """LLVM text without the comments that say which line of this very file an op comes from."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(";"))


def folded(title: str, text: str) -> str:
    """A part of the page that opens when asked."""
    return f"\n<details><summary>{title}</summary>\n\n```\n{text.strip()}\n```\n\n</details>\n"


def instructions(assembly: str) -> str:
    """The assembly without what only the assembler wants."""
    lines = [line.split("#")[0].rstrip().expandtabs(4) for line in assembly.splitlines()]
    wanted = [line for line in lines if re.match(r"\.LBB|\w+:|\s+[a-z]", line)]
    return "\n".join(wanted)


if __name__ == "__main__":
    print(page(), end="")
