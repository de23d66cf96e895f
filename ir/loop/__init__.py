"""The `loop` floor: what a machine does, with its lanes, registers and memory.

Comes in: declarations, a file a concept. Goes out: the ops, and `run_loops`, which runs a kernel.
Never: tensors, or the text of a target.
"""

from .arithmetic import Binary, Bitcast, Cast, Compare, FusedMultiplyAdd, Select, Unary
from .atomics import Atomic
from .base import INDICES, Computation, LoopOp, Register
from .constants import Constant
from .control import For, If, While
from .fragments import FragmentFill, FragmentLoad, FragmentMultiplyAccumulate, FragmentStore, Layout
from .kinds import AtomicKind, BinaryKind, CompareKind, ReduceKind, UnaryKind
from .lanes import Scope
from .memory import Allocate, Length, Load, Prefetch, Store
from .places import LaneCount, LaneId, ProgramCount, ProgramId
from .run import run_loops
from .subgroup import Barrier, SubgroupBroadcast, SubgroupReduce, SubgroupShuffle
from .vector_memory import (
    LINE,
    Gather,
    LoadMasked,
    LoadVector,
    Scatter,
    StoreMasked,
    StorePastCaches,
    StoreVector,
)
from .vectors import Concat, Extract, Insert, Iota, Reduce, Shuffle, Splat

__all__ = [
    "INDICES", "LINE", "Allocate", "Atomic", "AtomicKind", "Barrier", "Binary", "BinaryKind",
    "Bitcast", "Cast", "Compare", "CompareKind", "Computation", "Concat", "Constant", "Extract",
    "For", "FragmentFill", "FragmentLoad", "FragmentMultiplyAccumulate", "FragmentStore",
    "FusedMultiplyAdd", "Gather", "If", "Insert", "Iota", "LaneCount", "LaneId", "Layout", "Length",
    "Load", "LoadMasked", "LoadVector", "LoopOp", "Prefetch", "ProgramCount", "ProgramId", "Reduce",
    "ReduceKind", "Register", "Scatter", "Scope", "Select", "Shuffle", "Splat", "Store",
    "StoreMasked", "StorePastCaches", "StoreVector", "SubgroupBroadcast", "SubgroupReduce",
    "SubgroupShuffle", "Unary", "UnaryKind", "While", "run_loops",
]  # fmt: skip
