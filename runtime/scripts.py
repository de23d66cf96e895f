"""Scripts as the native core has them, and why some of what it computes could not be.

Comes in: a `Script`, or an error that Python raised in its part of a step. Goes out: records, what
does a script with some memory, and the error for a failure that the core tells of.
Never: a record that goes while it is used.
"""

from collections import deque
from collections.abc import Callable
from copy import copy
from functools import partial
from itertools import count
from traceback import extract_tb, format_list
from typing import Any
from weakref import WeakValueDictionary

from ..ir.errors import ExecutionError, IRError, Unmet
from ..ir.payloads import Array
from ..ir.shared import named
from ..targets.script import About, Failure, Script
from .native import ENDED, RAISED, core, ffi
from .records import NUMBER, script_words

_from_buffer: Any = ffi.from_buffer


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


ABOUT: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""What there is to say of scripts, by the numbers that the core knows them by."""
_NUMBERS = count(1)


def error_of(failure: Any) -> Exception:
    """What is to be said of an action that could not be done, by a script that may be gone."""
    if failure.place == ENDED:
        return stopped()
    about = ABOUT.get(failure.script)
    if about is not None:
        return about.failed(Failure(failure.action, failure.place, failure.index))
    if failure.place == RAISED:
        return ExecutionError(f"step.host: a function failed, before the latest {_KNOWN} errors")
    if failure.place < 0:
        return MemoryError("there was no memory")
    return ExecutionError(f"an index, {failure.index}, names no place")


class _Raised:
    """What there is to say of arrays that Python was to make, and raised an error."""

    def __init__(self, error: IRError) -> None:
        self.error: Exception = error
        self.cause = error.__cause__

    def failed(self, failure: Failure) -> Exception:
        """The error, anew for each who reads: where he does is written into it."""
        made = copy(self.error)
        made.__cause__ = self.cause
        return made


_KNOWN = 1024
"""So many errors are known, the latest."""
_RAISED = deque[_Raised](maxlen=_KNOWN)


def raised(error: IRError, handled: BaseException | None) -> int:
    """The number by which the core knows of an error, raised while somebody handled another one,
    which is no part of it; the oldest are forgotten."""
    about, number = _Raised(error), next(_NUMBERS)
    for each in _all_of(error, handled):
        _forget_frames(each)
    _RAISED.append(about)
    ABOUT[number] = about
    return number


def _forget_frames(error: BaseException) -> None:
    """Note where an error was raised in place of the frames: those that called them have all arrays
    of the step."""
    trace, error.__traceback__ = error.__traceback__, None
    if isinstance(error, IRError | Unmet):  # which is none of the functions'
        return
    lines = [each for each in extract_tb(trace) if each.filename != named.__file__]
    note = f"Raised in (innermost last):\n{''.join(format_list(lines)).rstrip()}"
    if lines and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _all_of(error: BaseException, handled: BaseException | None) -> list[BaseException]:
    """An error, and those that led to it, but for the one that was handled before: they are let go
    of that one. Some lead to themselves."""
    found: dict[int, BaseException] = {}
    left: list[BaseException | None] = [error]
    while left:
        each = left.pop()
        if each is None or each is handled or id(each) in found:
            continue
        found[id(each)] = each
        if each.__context__ is handled:
            each.__context__ = None
        left += [each.__cause__, each.__context__]
    return [*found.values()]


def stopped() -> Exception:
    """The error of who asks for a value when the process ends."""
    return RuntimeError("the process is about to end, and computes nothing any more")


def written(script: Script) -> tuple[Any, Any]:
    """The record of a script, and what must live as long."""
    memory = script_words(script).settled()
    return ffi.cast("brimstone_script *", memory), (memory, known(memory, script.about))


def known(memory: Any, about: About | None) -> About | None:
    """Give the script in some memory its number, by which others ask what there is to say of it."""
    number = memory[NUMBER] = next(_NUMBERS)
    if about is not None:
        ABOUT[number] = about
    return about
