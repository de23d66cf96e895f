"""The `tile` floor: what one program of a grid loads from views, computes, and stores.

A kernel is a `Func` of views and scalars, run once for every place of a grid. Its attributes are
the grid and the schedule:

    func @twice<n: 1..65536>(%x: view<1, f32, {size: [n]}>, %y: view<1, f32, {size: [n]}>)
        with {grid: [ceildiv(n, 64)], tile: {m: 64}, warps: 8} {
      %place = tile.program_id {axis = 0} : scalar<i64>
      %size = tile.constant {value = 64} : scalar<i64>
      %at = tile.binary %place, %size {kind = multiply} : scalar<i64>
      %a = tile.load %x, %at {shape = [64], padding = 0.0} : tile<[64], f32>
      %b = tile.binary %a, %a {kind = add} : tile<[64], f32>
      tile.store %y, %b, %at
      return
    }

A tile has a static size, any size. A view has a size and a stride for each axis that are known only
when the kernel runs; a stride may be zero, odd or negative. What is known of a view before is in
the facts of its type; kernels are compiled for them, and a window that makes one false is refused:

| fact | meaning |
|---|---|
| `size: [n, 128]` | the size of each axis; a lone symbol of the func is bound by it |
| `multiple: [16, 1]` | each axis's size is a multiple of this many elements |
| `unit_stride: 1` | the stride along this axis is 1 |
| `dense: 2` | the last so many axes lie without gaps: a stride is the product of the sizes behind |
| `stride_multiple: [16, 1]` | each axis's stride is a multiple of this many elements |
| `align: 64` | the address of the first element is a multiple of this many bytes |
| `index_bits: 32` | how far any element lies from the first one, in elements, fits so many bits |

No program may read what another one writes, so the order of programs never shows.
"""

from ..shared.kinds import BinaryKind, CompareKind, UnaryKind
from .base import TileOp
from .control import Assume, For, If
from .dot import Dot, Precision, ScaledDot
from .facts import FACTS, check_facts, check_window
from .ids import ProgramCount, ProgramId
from .kernel import run_kernel
from .math import Binary, Bitcast, Cast, Compare, Select, Unary
from .memory import Atomic, Gather, Load, Scatter, Store
from .poison import is_intact, poisoned, unwritten
from .random import RandomBits
from .reduce import ArgKind, ArgReduce, Reduce, ReduceKind, Scan, ScanKind
from .shape import Broadcast, Concat, Constant, Extract, Full, Iota, Permute, Reshape
from .sort import Sort
from .views import Extent, Scratch, View
from .window import Window, row_major, view_of

__all__ = [
    "FACTS",
    "ArgKind",
    "ArgReduce",
    "Assume",
    "Atomic",
    "Binary",
    "BinaryKind",
    "Bitcast",
    "Broadcast",
    "Cast",
    "Compare",
    "CompareKind",
    "Concat",
    "Constant",
    "Dot",
    "Extent",
    "Extract",
    "For",
    "Full",
    "Gather",
    "If",
    "Iota",
    "Load",
    "Permute",
    "Precision",
    "ProgramCount",
    "ProgramId",
    "RandomBits",
    "Reduce",
    "ReduceKind",
    "Reshape",
    "ScaledDot",
    "Scan",
    "ScanKind",
    "Scatter",
    "Scratch",
    "Select",
    "Sort",
    "Store",
    "TileOp",
    "Unary",
    "UnaryKind",
    "View",
    "Window",
    "check_facts",
    "check_window",
    "is_intact",
    "poisoned",
    "row_major",
    "run_kernel",
    "unwritten",
    "view_of",
]
