"""Compiled steps: funcs of the tensor floor made ready to run, each text of them once.

Comes in: a func, whose sizes may be symbolic, and a device. Goes out: a `Plan`: the compiled step,
which knows no size, and the sizes and numbers with which this func runs it. A step that is to be
told of by its lines is shared by funcs from the same lines.
Never: a tensor of the frontend.
"""

from collections.abc import Collection, Mapping, Sequence
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from ..ir.attributes import Frozen
from ..ir.dims import Dim, Symbol, symbols
from ..ir.func import Func, Module
from ..ir.locations import Location
from ..ir.payloads import Array
from ..ir.printer import print_module
from ..ir.shared.cache import Cache
from ..ir.tensor import Gather, HostCall, Outside, Scatter
from ..ir.values import Op
from ..passes.collector import without_collections
from ..passes.context import Context, Settings
from ..passes.forks import held_across_forks
from ..passes.generalise import Generalised, generalise
from ..passes.manager import run_pipeline
from ..passes.once import once
from ..passes.pipelines import PREPARE
from ..targets import Executable, Memory
from ..targets.notes import NOTES
from ..targets.sizes import Numbers
from .device import Device
from .hanging import Hanging, name_in
from .passing import Passing, Reading

_QUIET = Settings(verify=False, reproduce=False)
_STEPS_AT_MOST = 4096


class Beside(NamedTuple):
    """What a step takes beside its buffers: its numbers, as a piece, and what its sizes are."""

    scalars: Sequence[Any]
    sizes: Mapping[str, int]


class Plan:
    """A compiled step with the sizes and the numbers it is run with; whether what it computes may
    fail on account of what it is given; and whether it `passes`: it is not compiled, this time."""

    __slots__ = (
        "_latest", "device", "executable", "func", "numbers", "passes", "refuses", "scalars",
        "sizes",
    )  # fmt: skip

    def __init__(
        self, general: Generalised, executable: Executable, device: Device, passes: bool
    ) -> None:
        self.func, self.executable, self.device = general.func, executable, device
        self.passes = passes
        self.sizes: Mapping[str, int] = general.sizes
        self.numbers = general.scalars
        self.scalars: tuple[Any, ...] = (None,) * len(self.numbers)
        self.scalars = self._scalars(self.sizes)
        self.refuses = any([_refuses(op) for op in self.func.walk()])
        self._latest = self._first()

    def at(self, sizes: Mapping[str, int]) -> "Plan":
        """The same, where dims that were always symbolic are these."""
        return self._with({**sizes, **self.sizes}, self.numbers, self.scalars)

    def with_numbers(self, numbers: Sequence[Array | Dim]) -> "Plan":
        """The same with other numbers, in the same order, and the same sizes among them."""
        return self._with(self.sizes, tuple(numbers), (None,) * len(numbers))

    def _with(
        self, sizes: Mapping[str, int], numbers: tuple[Array | Dim, ...], scalars: tuple[Any, ...]
    ) -> "Plan":
        made = object.__new__(Plan)  # `copy` would ask the class how, which takes ten times as long
        made.func, made.executable, made.device = self.func, self.executable, self.device
        made.passes, made.refuses, made.sizes = self.passes, self.refuses, sizes
        made.numbers, made.scalars = numbers, scalars
        made.scalars = made._scalars(sizes)
        made._latest = made._first()
        return made

    def _first(self) -> "tuple[Mapping[str, int] | None, Beside]":
        """What runs take beside buffers where no dims were always symbolic."""
        return None, Beside(self._together(self.scalars), self.sizes)

    def _scalars(self, sizes: Mapping[str, int]) -> tuple[Any, ...]:
        """The numbers that the step takes after its arguments; None for sizes not yet known."""
        known = self.scalars
        if not any([each is None for each in known]):
            return known
        pairs = zip(self.numbers, known, strict=True)
        return tuple([self._scalar(of, sizes) if each is None else each for of, each in pairs])

    def _together(self, scalars: tuple[Any, ...]) -> Sequence[Any]:
        """These buffers as one piece, if there are several, and all of them are known."""
        if len(scalars) < 2 or any([each is None for each in scalars]):
            return scalars
        return self.device.target.together(scalars)

    def _scalar(self, number: Array | Dim, sizes: Mapping[str, int]) -> Any:
        """A number as a buffer; None for a size that is not known."""
        found = _number(number, sizes)
        return None if found is None else self.device.target.upload(found)

    def run(
        self,
        pieces: Sequence[Sequence[Any]],
        sizes: Mapping[str, int] | None = None,
        counts: tuple[int, ...] | None = None,
    ) -> Sequence[Any]:
        """The buffers of the results, or pieces that have so many each; `sizes` are those of dims
        that were always symbolic."""
        beside = self.beside(sizes)
        return self.executable((*pieces, beside.scalars), beside.sizes, counts)

    def beside(self, sizes: Mapping[str, int] | None) -> "Beside":
        """What a run takes beside its buffers."""
        latest, beside = self._latest
        if latest is not sizes:  # nobody changes what he has given
            known = {**self.sizes, **(sizes or {})}
            beside = Beside(self._together(self._scalars(known)), known)
            self._latest = sizes, beside
        return beside

    def memory(self, sizes: Mapping[str, int]) -> Memory | None:
        """What a run takes; `sizes` are those of dims that were always symbolic."""
        return self.executable.memory({**self.sizes, **sizes})


class Statistics:
    """How many steps have been compiled, and how many plans made for them."""

    def __init__(self) -> None:
        self.compiled = 0
        self.planned = 0


STATISTICS = Statistics()
PASSING = Passing()
_Key = tuple[str, str, tuple[Location, ...]]
_STEPS: dict[_Key, Executable] = {}
_HANGING: Hanging[_Key, Executable] = Hanging(lambda: Cache(_STEPS_AT_MOST))
"""Those that name a function which is kept."""
_LOCK = held_across_forks(RLock())


@without_collections
def plan(
    func: Func, device: Device, donated: Sequence[int] = (), *, by_lines: bool = False,
    reading: Reading | None = None,
) -> Plan:  # fmt: skip
    """Make a func, whose sizes are plain or symbolic, ready to run on a device; results may be made
    in the memory of the `donated` arguments, counted from 0.

    With `by_lines`, errors and profiles tell of it by its lines, and not by those of an equal one.
    With a `reading`, it is not compiled where that does not pay.
    """
    with NOTES.about("prepare a step"):
        general = generalised(func, donated)
        module = Module([general.func])
        key = _key_of(module, device, by_lines)
        with once(_LOCK):
            found = _STEPS.get(key) or _HANGING.get(key)
            passes = found is None and reading is not None and PASSING.passes(func, key, reading)
            if passes:
                executable = device.target.interpreted(module)
            else:
                executable = found or _compiled(module, key, device)
            STATISTICS.planned += 1
        return Plan(general, executable, device, passes)


def generalised(func: Func, donated: Sequence[int]) -> Generalised:
    """The func with open sizes, which says what it is donated."""
    general = generalise(func)
    if donated:
        settings = {**general.func.attributes, "donated": tuple(donated)}
        general.func.attributes = Frozen(settings)
    return general


def is_compiled(func: Func, device: Device, own: Collection[Executable]) -> bool:
    """Whether there is a step for a general func: for its lines, or among one's own, which may be
    told of by the lines of an earlier call."""
    key = _key_of(Module([func]), device, True)
    name = name_in(func)
    known = [*_STEPS.items(), *(() if name is None else _HANGING.table_of(name).items())]
    equal = [(each, step) for each, step in known if each[:2] == key[:2]]
    return any([each == key or step in own for each, step in equal])


def prepare(module: Module) -> Module:
    """The module as it is given to a target."""
    run_pipeline(module, PREPARE, Context(settings=_QUIET))
    return module


def _compiled(module: Module, key: _Key, device: Device) -> Executable:
    name = name_in(module.main)
    made = device.target.compile(prepare(module))
    STATISTICS.compiled += 1
    if name is not None:
        return _HANGING.put(name, key, made)
    if len(_STEPS) >= _STEPS_AT_MOST:
        _STEPS.pop(next(iter(_STEPS)))
    return _STEPS.setdefault(key, made)


def _number(number: Array | Dim, sizes: Mapping[str, int]) -> Array | None:
    """A number that a step takes; None where it is a size that is not known."""
    if not isinstance(number, Dim):
        return number
    if isinstance(number, Symbol):  # as most are
        size = sizes.get(number.name)
        return None if size is None else np.asarray(size, np.int64)
    parts = symbols(number)
    if not all([each.name in sizes for each in parts]):
        return None
    return np.asarray(Numbers({each: sizes[each.name] for each in parts})[number], np.int64)


def _refuses(op: Op) -> bool:
    """Whether an op takes only some indices, or calls what may raise an error."""
    if isinstance(op, HostCall):
        return True
    return isinstance(op, Gather | Scatter) and op.outside is Outside.ERROR


def _key_of(module: Module, device: Device, by_lines: bool) -> _Key:
    lines = [op.location for op in module.main.walk()] if by_lines else []
    return str(device), print_module(module), tuple(lines)


def contents(buffer: Any, device: Device) -> Array:
    """A buffer as a read-only host array."""
    return device.target.download(buffer)
