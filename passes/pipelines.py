"""The passes and the pipelines, on one screen.

Comes in: the passes, one file each. Goes out: `PASSES`, those that text can name, and pipelines:
tuples of passes, run from left to right.
Never: the order of imports deciding anything.
"""

from collections.abc import Mapping

from .cse import cse
from .dead import dead
from .declare import Pass
from .hoist import hoist
from .infer import infer
from .prune import prune
from .recognise import recognise
from .simplify import simplify

CLEAN = (cse, dead)

PASSES: dict[str, Pass] = {each.name: each for each in (cse, dead, hoist, infer, prune, simplify)}
# What a recorded func goes through before it is differentiated.
RECORDED = (recognise,)
# What it goes through once its sizes are run-time arguments, before it is compiled.
PREPARE = (simplify, cse, dead)
PIPELINES: Mapping[str, tuple[Pass, ...]] = {"clean": CLEAN, "recorded": RECORDED}
