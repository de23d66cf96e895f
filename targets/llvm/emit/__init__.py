"""How ops of the loop floor are written as LLVM's instructions: a file a family.

Comes in: a `Writer` and an op. Goes out: lines. Never: an op that another family knows.
"""

from ..writer import Printers
from . import arithmetic, casts, control, memory, vectors
from .control import REGIONS

TABLE: Printers = {
    **arithmetic.TABLE, **casts.TABLE, **vectors.TABLE, **memory.TABLE, **control.TABLE,
}  # fmt: skip

__all__ = ["REGIONS", "TABLE"]
