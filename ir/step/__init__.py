"""The `step` floor: a host program over memory, in order, that launches kernels.

Values are arrays in memory and sizes on the host. `allocations` is the memory of a program that the
interpreter runs. Every op reads, writes or calls the host, so that none is merged or dropped.
"""

from .base import StepOp
from .collective import Collective, CollectiveKind
from .control import Branch, Loop, When, While
from .expect import Expect
from .host import Host
from .inside import Inside
from .launch import KERNELS, Group, Kernels, Launch
from .memory import Allocate, Dim, Free, Row, View
from .tiles import TileKernels
from .transfer import Copy, Fill, Store

__all__ = [
    "KERNELS", "Allocate", "Branch", "Collective", "CollectiveKind", "Copy", "Dim", "Expect",
    "Fill", "Free", "Group", "Host", "Inside", "Kernels", "Launch", "Loop", "Row", "StepOp",
    "Store", "TileKernels", "View", "When", "While",
]  # fmt: skip
