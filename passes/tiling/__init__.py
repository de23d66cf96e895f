"""Kernel funcs of tensors become kernels of tiles.

Comes in: a step module whose launches run kernels of the tensor floor, as `fuse` leaves it, and a
function that chooses schedules for a target. Goes out: `Tiled`: the module with kernels of the tile
floor, and the reasons for those that stay.
Never: a machine; which tiles suit it is the chooser's business.

`space`, `trace` and `read` read a `kernel` as a graph over its iteration space; `merge` makes its
axes few; `schedule` says what the chooser sees; `plan` says which loop computes what, and `columns`
what stands between loops; `program`, with `emit`, `reductions`, `outside`, `elementwise` and
`sizes`, writes what a tile func does, `streamed` where whole rows pass, `crossed` where rows are
also summed across; `build` makes the func. `split` cuts long reductions into chunks, `levels`
does one after the other, `across` reduces both ways, and `stages` decides between what is whole and
what is cut.

Kernels of one other op are written with a `writer`, on an `opening`: `alone` knows by whom. `scan`,
`random`, `concat`, `gather`, `scatter` and `sort` use a `draft`, which is a writer on a grid of
tiles; `contract`, `convolve` and `attention` have grids of their own, and put several stages
together in a `staging`. Funcs of which few will run are written `late`. `launches` launches what is
made of `parts`.
"""

from .launches import Tiled, tile
from .parts import Part, Stage, Stages
from .schedule import Chooser, KernelShape, Schedule
from .space import Refused
from .stages import tile_kernel

__all__ = [
    "Chooser",
    "KernelShape",
    "Part",
    "Refused",
    "Schedule",
    "Stage",
    "Stages",
    "Tiled",
    "tile",
    "tile_kernel",
]
