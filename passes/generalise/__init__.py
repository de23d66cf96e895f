"""`generalise`: one func for all recordings that differ only in sizes and in numbers.

Comes in: a tensor func whose sizes are numbers. Goes out: a func that does the same, bit for bit,
with symbols for sizes and arguments for constants, and what they were. Its text, without locations,
is the same for each such recording, so that it may be the key of what was compiled.
Never: a symbol for a fact, such as a size of 1: rules are decided by facts. Never an error: what
cannot be general stays as it was recorded, and `kept` says why.
"""

from dataclasses import dataclass

from ...ir.dims import Dim
from ...ir.func import Func
from ...ir.payloads import Array
from ..copying import copy_func
from .classes import Kept
from .rebuild import Misfit, rebuild
from .recording import record
from .relations import RELATIONS
from .solve import solve

__all__ = ["Generalised", "Kept", "generalise"]

ATTEMPTS = 8
"""How often a func is built, each time with the sizes kept that did not go together before."""


@dataclass(frozen=True, slots=True)
class Generalised:
    """A general func, and how it is called to do what the recording did.

    It takes the arguments of the recorded func, then `scalars`: a dim stands for the number that it
    is. `sizes` are those of its symbols, by name, but for symbols that the recording had itself.
    `kept` are the sizes that might have become symbols and did not.
    """

    func: Func
    sizes: dict[str, int]
    scalars: tuple[Array | Dim, ...]
    kept: tuple[Kept, ...]


def generalise(func: Func) -> Generalised:
    """The general func of a recording, which is left as it is."""
    recording = record(func, RELATIONS)
    classes = recording.classes
    for _ in range(ATTEMPTS):
        solve(classes)
        try:
            made = rebuild(func, recording)
        except Misfit as misfit:
            classes.op = misfit.op
            classes.keep(misfit.parts, str(misfit))
        else:
            return Generalised(*made, tuple(classes.kept))
    return Generalised(copy_func(func), {}, (), tuple(classes.kept))
