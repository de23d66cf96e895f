"""A worker process, as the process that started it sees it.

Comes in: how batches are made, then jobs. Goes out: batches, or what went wrong.
Never: `multiprocessing`, which runs users' scripts again or forks a process that has threads; a
wait for a worker that is dead, or a worker that outlives its loader.
"""

import os
import pickle
import signal
import subprocess
import sys
import weakref
from contextlib import suppress
from socket import SHUT_RDWR, socket, socketpair
from typing import Any

from ..frontend.errors import ArgumentError, fail
from .fetch import Fetch, Job, Unmade, shown
from .messages import Parts, packed, receive, send

COMMAND = ("-P", "-m", f"{__package__}.worker")
ONE_THREAD = ("BRIMSTONE_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables that keep libraries from starting threads in each of the workers."""
SECONDS_TO_DIE = 5.0
"""A worker that hangs up is about to end; it is helped after this time."""


class Process:
    """A process that makes batches, one at a time."""

    def __init__(self, fetch: Parts) -> None:
        own, its = socketpair()
        with its:
            descriptor = its.fileno()
            self._process = subprocess.Popen(
                [sys.executable, *COMMAND, str(descriptor)],
                stdin=subprocess.DEVNULL,
                pass_fds=[descriptor],
                env=_environment(),
                start_new_session=True,  # Ctrl-C is for this process
            )
        self._tasks, self._answers = own.makefile("wb"), own.makefile("rb")
        self._unsent: Parts | None = fetch
        ends = (self._tasks, self._answers, own)
        self.end = weakref.finalize(self, _end, self._process, ends, os.getpid())
        """Kill the process, and return when it is gone; it is done at exit at the latest."""

    def __call__(self, job: Job) -> Any:
        """The batch of a job, made over there."""
        message = packed_for_workers(job)
        try:
            if self._unsent is not None:  # it is sent by a thread, which waits for the start
                send(self._tasks, self._unsent)
                self._unsent = None
                self._answer()
            send(self._tasks, message)
            return self._answer()
        except (OSError, EOFError, ValueError):
            raise Unmade(shown(job), f"its worker died{self._reason()}", "") from None

    def _answer(self) -> Any:
        well, value = receive(self._answers)
        if not well:
            raise value
        return value

    def _reason(self) -> str:
        """What the process died of, in words."""
        try:
            code = self._process.wait(SECONDS_TO_DIE)
        except subprocess.TimeoutExpired:
            return ", or closed the socket to this process"
        if code >= 0:
            return f", with exit status {code}"
        memory = "; there may have been too little memory" if code == -signal.SIGKILL else ""
        return f" of {signal.Signals(-code).name}{memory}"


def packed_for_workers(value: Fetch | Job) -> Parts:
    """A message to workers, or an error that says why they cannot have it."""
    try:
        return packed(value)
    except pickle.PicklingError as problem:
        hint = (
            "define classes and functions at the top of a module that workers can import, "
            'or choose workers="threads"'
        )
        fail(ArgumentError, "Loader", f"worker processes cannot be told: {problem}", hint=hint)


def _environment() -> dict[str, str]:
    """The variables of a worker, which imports from where this process does."""
    paths = [path or os.getcwd() for path in sys.path]
    own = {**dict.fromkeys(ONE_THREAD, "1"), **os.environ}
    return {**own, "PYTHONPATH": os.pathsep.join(paths)}


def _end(process: "subprocess.Popen[bytes]", ends: tuple[Any, Any, socket], owner: int) -> None:
    if os.getpid() != owner:
        return  # a fork of this process, which has no workers of its own
    process.kill()
    process.wait()
    with suppress(OSError):
        ends[-1].shutdown(SHUT_RDWR)  # a thread that still waits for an answer sees the end
    for each in ends:
        with suppress(OSError):
            each.close()
