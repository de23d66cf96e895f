"""Fusion: a func of the tensor floor becomes kernels, and a step that launches them.

Comes in: a func, generalised and simplified. Goes out: `Fused`: the module and a report.
Never: a size that decides what is fused, or a bit of a result that changes.

`push` brings parts of values nearer to the arguments; `nodes` reads the func as a `graph` of nodes
whose axes are leaves (`axes`) that reads through `views` share; `choose` joins `clusters` of nodes
as far as `legal` allows and `cost` advises; `recompute` drops arrays that are cheaper to compute
again, and `order` says when each runs; `kernels`, with `products`, `symbols` and `names`, writes
the kernels, and `steps`, with `control`, what launches them; `report` says what was done, and each
`Refuse` why not more.
"""

from .fusing import Fused, fuse
from .refuse import Refuse
from .report import KernelReport, Moved, Report

__all__ = ["Fused", "KernelReport", "Moved", "Refuse", "Report", "fuse"]
