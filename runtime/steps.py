"""Compiled steps: funcs of the tensor floor made ready to run, each text of them once.

Comes in: a func with plain sizes, and a device. Goes out: a `Plan`: the compiled step, which knows
no size, and the sizes and numbers with which this func runs it.
Never: a tensor of the frontend.
"""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from ..ir.attributes import Frozen
from ..ir.func import Func, Module
from ..ir.payloads import Array
from ..ir.printer import print_module
from ..ir.tensor import Gather, Outside, Scatter
from ..ir.values import Op
from ..passes.collector import collector_paused
from ..passes.context import Context, Settings
from ..passes.generalise import Generalised, generalise
from ..passes.manager import run_pipeline
from ..passes.pipelines import PREPARE
from ..targets import Executable
from ..targets.notes import NOTES
from .device import Device

_QUIET = Settings(verify=False, reproduce=False)
_STEPS_AT_MOST = 4096


class Plan:
    """A compiled step with the sizes and the numbers it is run with; and whether what it computes
    may fail on account of what it is given."""

    __slots__ = ("executable", "func", "refuses", "scalars", "sizes")

    def __init__(
        self, func: Func, executable: Executable, sizes: Mapping[str, int], scalars: Sequence[Any]
    ) -> None:
        self.func, self.executable, self.sizes = func, executable, sizes
        self.scalars = tuple(scalars)
        self.refuses = any([_refuses(op) for op in func.walk()])

    def run(
        self, pieces: Sequence[Sequence[Any]], sizes: Mapping[str, int] | None = None
    ) -> Sequence[Any]:
        """The buffers of the results; `sizes` are those of dims that were always symbolic."""
        known = self.sizes if sizes is None else {**self.sizes, **sizes}
        return self.executable((*pieces, self.scalars), known)


class Statistics:
    """How many steps have been compiled, and how many plans made for them."""

    def __init__(self) -> None:
        self.compiled = 0
        self.planned = 0


STATISTICS = Statistics()
_STEPS: dict[tuple[str, str], Executable] = {}
_LOCK = Lock()


def plan(func: Func, device: Device, donated: Sequence[int] = ()) -> Plan:
    """Make a func, whose sizes are plain or symbolic, ready to run on a device; results may be made
    in the memory of the `donated` arguments, counted from 0."""
    with NOTES.about("prepare a step"), collector_paused():
        general = generalised(func, donated)
        scalars = [device.target.upload(each) for each in general.scalars]
        with _LOCK:
            executable = _compiled(general.func, device)
            STATISTICS.planned += 1
    return Plan(general.func, executable, general.sizes, scalars)


def generalised(func: Func, donated: Sequence[int]) -> Generalised:
    """The func with open sizes, which says what it is donated."""
    general = generalise(func)
    if donated:
        settings = {**general.func.attributes, "donated": tuple(donated)}
        general.func.attributes = Frozen(settings)
    return general


def is_compiled(func: Func, device: Device) -> bool:
    """Whether there is a step for a general func."""
    return _key_of(Module([func]), device) in _STEPS


def prepare(module: Module) -> Module:
    """The module as it is given to a target."""
    run_pipeline(module, PREPARE, Context(settings=_QUIET))
    return module


def _compiled(func: Func, device: Device) -> Executable:
    module = Module([func])
    key = _key_of(module, device)
    found = _STEPS.get(key)
    if found is None:
        if len(_STEPS) >= _STEPS_AT_MOST:
            _STEPS.pop(next(iter(_STEPS)))
        found = _STEPS[key] = device.target.compile(prepare(module))
        STATISTICS.compiled += 1
    return found


def _refuses(op: Op) -> bool:
    """Whether an op takes only some indices."""
    return isinstance(op, Gather | Scatter) and op.outside is Outside.ERROR


def _key_of(module: Module, device: Device) -> tuple[str, str]:
    return str(device), print_module(module)


def contents(buffer: Any, device: Device) -> Array:
    """A buffer as a read-only host array."""
    return device.target.download(buffer)
