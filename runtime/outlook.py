"""What a plan for a func would be, without making it.

Comes in: a func, a device, and what a person calls its arguments. Goes out: an `Outlook`: whether
its step is compiled already, for which sizes that holds, and the target's account of it.
Never: something compiled or kept. What is told is of this very func and its lines, though the step
may have been compiled for an equal one.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..ir.dims import Dim
from ..ir.func import Func, Module
from ..ir.payloads import Array
from ..passes.generalise import Kept
from ..targets import Account, Executable
from .device import Device
from .steps import generalised, is_compiled, prepare


@dataclass(frozen=True, slots=True)
class Outlook:
    """The general func of a step, with the sizes of its symbols; `kept` are those that stay."""

    func: Func
    sizes: Mapping[str, int]
    kept: tuple[Kept, ...]
    is_compiled: bool
    account: Account


def foresee(
    func: Func,
    device: Device,
    names: Iterable[str],
    own: Collection[Executable],
    donated: Sequence[int] = (),
) -> Outlook:
    """The outlook for a func; `names` are those of its arguments, in order, and `own` the steps
    that who calls it has compiled so far."""
    general = generalised(func, donated)
    known = is_compiled(general.func, device, own)
    module = prepare(Module([general.func]))
    numbers = [*map(_said, general.scalars)]
    account = device.target.account(module, [*names, *numbers])
    return Outlook(module.main, general.sizes, general.kept, known, account)


def _said(number: Array | Dim) -> str:
    """What a number that a step takes is called."""
    if isinstance(number, Dim):
        return f"the size {number}"
    return "a constant" if number.ndim else f"the number {number!s}"
