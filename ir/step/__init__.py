"""The `step` floor: a host program over memory, in order, that launches kernels.

Values are arrays in memory and sizes on the host. `allocations` is the memory of a program that the
interpreter runs. Every op reads, writes or calls the host, so that none is merged or dropped.
"""

from .base import StepOp
from .collective import Collective, CollectiveKind
from .control import Branch, Loop, When
from .host import Host
from .inside import Inside
from .launch import KERNELS, Kernels, Launch
from .memory import Allocate, Dim, Free, Row, View
from .tiles import TileKernels
from .transfer import Copy, Fill

__all__ = [
    "KERNELS", "Allocate", "Branch", "Collective", "CollectiveKind", "Copy", "Dim", "Fill", "Free",
    "Host", "Inside", "Kernels", "Launch", "Loop", "Row", "StepOp", "TileKernels", "View", "When",
]  # fmt: skip
