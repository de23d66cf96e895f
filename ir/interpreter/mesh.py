"""Runs a func once per position of a mesh, in lock step.

Comes in: a program, the arguments of each device, and the named axes of the mesh with their sizes.
Goes out: the results of each device. One device runs at a time, in row-major order of positions,
until it meets others or ends, so that every run gives the same bits and the same error.
Never: a wait that cannot end: devices that do not meet are an error, and an error in one stops all.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from threading import Semaphore, Thread
from typing import Any

import numpy as np

from ..errors import ExecutionError, require
from ..func import Func, Module
from ..values import Op
from .frame import Frame, call

MESH = "mesh"
"""Under which name a frame keeps the device that it runs on."""

NAMED_WHEN_APART = 8

Results = tuple[Any, ...]
Position = tuple[int, ...]


def interpret_mesh(
    program: Module | Func,
    arguments_per_device: Sequence[Sequence[Any]],
    axes: Mapping[str, int],
    *,
    sizes: Mapping[str, int] | None = None,
) -> tuple[Results, ...]:
    """The results of the func (of a module: of its first) on each device of a mesh.

    Devices are in row-major order of their positions along `axes`. Sizes that no argument's shape
    gives are taken from `sizes`, by name.
    """
    module = program if isinstance(program, Module) else None
    func = program.main if isinstance(program, Module) else program
    positions = list(product(*[range(size) for size in axes.values()]))
    if len(arguments_per_device) != len(positions):
        raise ExecutionError(
            f"a mesh of {_shown(axes)} has {len(positions)} devices, "
            f"and arguments are given for {len(arguments_per_device)}"
        )

    def run(device: "Device") -> Results:
        arguments = arguments_per_device[device.number]
        with np.errstate(all="ignore"):
            return call(func, arguments, module, sizes or {}, extra={MESH: device})

    devices = [Device(axes, number, place, run) for number, place in enumerate(positions)]
    return _run_all({device.position: device for device in devices})


@dataclass(frozen=True)
class Group:
    """The `size` devices along an axis, as the one at `index` sees them."""

    device: "Device"
    axis_name: str
    size: int
    index: int

    def exchange(self, op: Op, value: Any) -> list[Any]:
        """What all of them bring to `op`, in their order; waits until they have."""
        return self.device.meet(Meeting(op, self.axis_name, value))


def group_of(frame: Frame, name: str) -> Group:
    """The devices along the axis of that name, in the mesh on which the frame runs."""
    device: Device | None = frame.extra.get(MESH)
    if device is None:
        raise ValueError(f"the axis '{name}' is named outside a mesh; see interpret_mesh")
    require(name in device.axes, f"no axis '{name}' in a mesh of {_shown(device.axes)}")
    index = device.position[list(device.axes).index(name)]
    return Group(device, name, device.axes[name], index)


@dataclass(frozen=True)
class Meeting:
    """What a device waits for: that all others along an axis come to the same op."""

    op: Op
    axis_name: str
    value: Any


class Stopped(BaseException):
    """Ends the thread of a device because another device has failed."""


class Device:
    """One position of the mesh: a thread that runs only while it has the turn."""

    def __init__(
        self,
        axes: Mapping[str, int],
        number: int,
        position: Position,
        run: Callable[["Device"], Results],
    ) -> None:
        self.axes, self.number, self.position = axes, number, position
        self.meeting: Meeting | None = None
        self.received: list[Any] = []
        self.results: Results | None = None
        self.error: BaseException | None = None
        self._run = run
        self._stopped = False
        self._turn, self._back = Semaphore(0), Semaphore(0)
        self._thread = Thread(target=self._main, name=f"device {number}", daemon=True)

    @property
    def ended(self) -> bool:
        """Whether the func has returned, or failed."""
        return self.results is not None or self.error is not None

    def resume(self) -> None:
        """Let the device run until it meets others or ends."""
        if not self._thread.is_alive():
            self._thread.start()
        self._turn.release()
        self._back.acquire()

    def stop(self) -> None:
        """End the thread, if it still waits for others."""
        if self._thread.is_alive():
            self._stopped = True
            self._turn.release()
            self._thread.join()

    def meet(self, meeting: Meeting) -> list[Any]:
        """Give the turn back until the others have come; called in the device's thread."""
        self.meeting = meeting
        self._back.release()
        self._turn.acquire()
        if self._stopped:
            raise Stopped
        return self.received

    def _main(self) -> None:
        self._turn.acquire()
        try:
            self.results = self._run(self)
        except Stopped:
            pass
        except BaseException as error:
            error.add_note(f"on device {self.number} of a mesh of {_shown(self.axes)}")
            self.error = error
        finally:
            self._back.release()

    def __str__(self) -> str:
        if self.meeting is None:
            return f"device {self.number} has ended"
        op = self.meeting.op
        place = f" at {op.location}" if op.location else ""
        return f"device {self.number} waits in {op.name} along '{self.meeting.axis_name}'{place}"


def _run_all(devices: Mapping[Position, Device]) -> tuple[Results, ...]:
    """Give each device the turn until all have ended, or one has failed."""
    with _stopping(devices.values()):
        while ready := [each for each in devices.values() if not each.ended and not each.meeting]:
            _run_ready(ready)
            _let_meet(devices)
        apart = [device for device in devices.values() if device.meeting]
        if apart:
            raise _never_meet(list(devices.values()), apart[0])
    return tuple([device.results or () for device in devices.values()])


def _run_ready(ready: Iterable[Device]) -> None:
    """Give each of these devices the turn once."""
    for device in ready:
        device.resume()
        if device.error is not None:
            raise device.error


@contextmanager
def _stopping(devices: Iterable[Device]) -> Generator[None]:
    """Leave no thread behind."""
    try:
        yield
    finally:
        for device in devices:
            device.stop()


def _let_meet(devices: Mapping[Position, Device]) -> None:
    """Hand the values of every complete meeting to all who came to it."""
    for device in devices.values():
        meeting = device.meeting
        if meeting is None:
            continue
        group = _along(devices, device, meeting.axis_name)
        met = [each.meeting for each in group if each.meeting and each.meeting.op is meeting.op]
        if len(met) == len(group):
            for each in group:
                each.received, each.meeting = [one.value for one in met], None


def _along(devices: Mapping[Position, Device], device: Device, axis_name: str) -> list[Device]:
    """The devices that differ from `device` along one axis only, in their order."""
    at = list(device.axes).index(axis_name)
    before, after = device.position[:at], device.position[at + 1 :]
    return [devices[(*before, index, *after)] for index in range(device.axes[axis_name])]


def _never_meet(devices: list[Device], waiting: Device) -> ExecutionError:
    """The error for devices that wait for others that will not come."""
    assert waiting.meeting is not None
    states = "; ".join(map(str, devices[:NAMED_WHEN_APART]))
    more = "; …" if len(devices) > NAMED_WHEN_APART else ""
    return ExecutionError(f"the devices never meet: {states}{more}", waiting.meeting.op.location)


def _shown(axes: Mapping[str, int]) -> str:
    """`data = 2, model = 4`"""
    return ", ".join(f"{name} = {size}" for name, size in axes.items()) or "no axes"
