"""One function, many lanes: a func of single things becomes a func of all of them at once.

`batch` is the pass. `varying` finds out which values differ from lane to lane, `batcher` builds the
new func op by op, by the rules that stand with the ops; `control` has the rules of ops with
regions, `collectives` those along the axis of lanes, and `masks` what some lanes may not do.
"""

from .batcher import batch

__all__ = ["batch"]
