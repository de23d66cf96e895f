"""Scripts as the native core has them.

Comes in: a `Script`. Goes out: its records, and what does it with some memory.
Never: a record that goes while it is used.
"""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

from ..ir.errors import ExecutionError
from ..ir.payloads import Array
from ..targets.script import About, Failure, Kind, Launch, Script
from .native import ENDED, core, ffi

_from_buffer: Any = ffi.from_buffer
_LAUNCHES = Kind.SHARE, Kind.ALONE


class Prepared:
    """A script that is done by the thread which asks for it."""

    __slots__ = ("_held", "_native", "_script")

    def __init__(self, native: Any, script: Script) -> None:
        self._native = native
        self._script, self._held = written(script)

    def __call__(self, addresses: Array, slots: Array) -> Callable[[int], int]:
        """What does it with these."""
        given: list[Any] = [_from_buffer("uint64_t[]", each) for each in (addresses, slots)]
        failure = ffi.new("brimstone_failure *")
        run = partial(core().brimstone_run, self._native, self._script, *given)
        return partial(_run, self, run, failure)


def _run(_: Prepared, run: Callable[..., int], failure: Any, begin: int) -> int:
    """Do a script, which is there for as long as this may be called, from an action on."""
    done = run(begin, failure)
    if done < 0:
        raise error_of(failure[0])
    return done


ABOUT: WeakValueDictionary[int, About] = WeakValueDictionary()
"""What there is to say of scripts, by the numbers that the core knows them by."""
_NUMBERS = count(1)


def error_of(failure: Any) -> Exception:
    """What is to be said of an action that could not be done, by a script that may be gone."""
    if failure.place == ENDED:
        return stopped()
    about = ABOUT.get(failure.script)
    if about is not None:
        return about.failed(Failure(failure.action, failure.place, failure.index))
    if failure.place < 0:
        return MemoryError("there was no memory")
    return ExecutionError(f"tensor.gather: index {failure.index} names no place")


def stopped() -> Exception:
    """The error of who asks for a value when the process ends."""
    return RuntimeError("the process is about to end, and computes nothing any more")


def written(script: Script) -> tuple[Any, list[Any]]:
    """The record of a script, and what must live as long."""
    offsets = [_offsets(each) for each in script.launches]
    records = [*map(_record, script.launches, offsets, _firsts(script))]
    launches: Any = ffi.new("brimstone_launch[]", records)
    places: Any = ffi.new("brimstone_place[]", script.places)
    actions: Any = ffi.new("brimstone_action[]", script.actions)
    loops: Any = ffi.new("brimstone_loop[]", [*script.loops])
    moves: Any = ffi.new("brimstone_move[]", [*script.moves])
    number = next(_NUMBERS)
    if script.about is not None:
        ABOUT[number] = script.about
    lists = places, actions, launches, loops, moves
    rest = len(script.places), len(script.actions), number
    return ffi.new("brimstone_script *", (*lists, *rest)), [*lists, *offsets, script.about]


def _offsets(launch: Launch) -> Any:
    """Where the parts of its memory begin."""
    return ffi.new("int64_t[]", launch.scratch) if launch.scratch else ffi.NULL


def _record(launch: Launch, offsets: Any, first: int) -> tuple[Any, ...]:
    """A launch as the core has it, which counts its chunks from the `first` on."""
    code, slot, slot_count, grid, axis, chunks, scratch, room = launch
    kernel = ffi.cast("brimstone_kernel", code)
    return kernel, offsets, len(scratch), room, slot, slot_count, grid, axis, chunks, first


def _firsts(script: Script) -> list[int]:
    """The number of the first chunk of each launch, among those of all that are run at once."""
    firsts = [0] * len(script.launches)
    for kind, first, number, _ in script.actions:
        if kind in _LAUNCHES:
            for each in range(first + 1, first + number):
                firsts[each] = firsts[each - 1] + script.launches[each - 1].chunks
    return firsts
