"""Many kernels compiled at once: by this process, and by others that help it.

Comes in: texts of kernels of tiles, and a CPU. Goes out: for each its code, or why it has none.
Never: `multiprocessing`, which runs users' scripts again; a wait for a process that is dead or
does not answer: its text is compiled by another one, or here. Nor a lock that an interrupt leaves
taken: only threads of ours enter a condition, which is code of Python.

Each helper is a process with a thread here that feeds it. Whoever asks compiles too, until nothing
is left to begin with, so that helpers that still start cost no time. What is compiled ahead is left
to helpers, and comes last.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from threading import Condition, Lock, RLock
from time import monotonic
from typing import Any

from ..cores import usable_cores
from .compile import CompileError
from .frames import CODE, machine_bytes, read_frame, write_frame
from .interruptible import LOOK_AFTER, is_begun
from .machines import CPU

CHARACTERS_WORTH_STARTING = 25_000
"""A helper starts in about half a second, in which this process compiles so much text."""
OPS_WORTH_STARTING = 100
"""So much text is what a step of about so many ops is lowered to, which takes a while itself."""
CHARACTERS_A_HELPER = 15_000
"""There is one helper for so much text, as far as there are cores for them."""
CHARACTERS_WORTH_SENDING = 2_500
PATIENCE = 20.0
"""Seconds that a text may take a helper, before this process compiles it as well."""
DEATHS_AT_MOST = 4
"""After so many deaths no helper is started any more."""
DEATHS_OF_TASK = 2
COMMAND = ("-P", "-m", "brimstone.targets.llvm.worker")

Outcome = bytes | CompileError


@dataclass(eq=False)
class Task:
    """A text to compile; once it is begun, somebody works on it since then. Whoever asked can wait
    at `over`, which is taken until there is an outcome."""

    text: str
    machine: CPU
    begun: float | None = None
    deaths: int = 0
    outcome: Outcome | None = None
    over: Any = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.over.acquire()

    def end(self, outcome: Outcome) -> None:
        """What is made of it first is the outcome."""
        if self.outcome is None:
            self.outcome = outcome
            self.over.release()


class Helper:
    """A process that compiles, and the pipes to it."""

    def __init__(self, machine: CPU) -> None:
        paths = os.pathsep.join([path for path in sys.path if path])
        self.process: Any = subprocess.Popen(
            [sys.executable, *COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths},
            start_new_session=True,  # Ctrl-C is for this process
        )
        try:
            self.write(machine_bytes(machine))
        except OSError:  # it has died already
            self.end()
            raise

    def write(self, *frames: bytes) -> None:
        """Hand frames over."""
        for frame in frames:
            write_frame(self.process.stdin, frame)
        self.process.stdin.flush()

    def read(self) -> bytes:
        """Wait for a frame."""
        return read_frame(self.process.stdout)

    def end(self) -> None:
        """Kill the process; only then will nobody read from it, so that the pipes can be closed."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                stream.close()


class Workers:
    """Helpers that are started once it is worth it, and kept until the process ends."""

    def __init__(self, count: int) -> None:
        self.count = count if sys.executable else 0
        self.deaths = 0
        self.helpers: list[Helper] = []
        self._waiting: list[Task] = []
        self._feeding = set[object]()
        """One for each thread that feeds a helper."""
        self._lock = RLock()
        self._changed = Condition(self._lock)
        self._ended = False
        self._process = os.getpid()

    def compile(self, texts: Sequence[str], machine: CPU) -> list[Outcome]:
        """The outcome for each text, in order."""
        tasks = [Task(text, machine) for text in texts]
        size = sum(map(len, texts))
        longest = sorted(tasks, key=lambda task: -len(task.text))
        if size >= (CHARACTERS_WORTH_SENDING if self.helpers else CHARACTERS_WORTH_STARTING):
            self.start(machine, 1 + size // CHARACTERS_A_HELPER)
            with self._lock:
                self._waiting[:0] = longest
                self._changed.notify_all()
        for task in reversed(longest):  # the helpers begin at the other end
            if self._begin(task):
                self._finish(task, compile_here(task))
        return [self._outcome(task) for task in tasks]

    def compile_ahead(self, text: str, machine: CPU) -> Outcome | None:
        """The outcome for a text that nobody waits for, once a helper has nothing else to do; None
        if there is no helper."""
        task = Task(text, machine)
        self.start(machine, 1)
        with self._lock:
            self._waiting.append(task)
            self._changed.notify_all()
            while task.outcome is None and self._feeding:
                self._changed.wait()
            if task in self._waiting:
                self._waiting.remove(task)
        return task.outcome

    def expect(self, ops: int, machine: CPU) -> None:
        """Have a helper start where a step of so many ops is about to be lowered."""
        if ops >= OPS_WORTH_STARTING:
            self.start(machine, 1)

    def start(self, machine: CPU, wanted: int) -> None:
        """Have so many helpers, if there are cores for them; not waiting until they are ready."""
        with self._lock:
            tired = self._ended or self.deaths >= DEATHS_AT_MOST
            missing = 0 if tired else max(min(wanted, self.count) - len(self._feeding), 0)
            for _ in range(missing):
                self._start_one(machine)

    def _start_one(self, machine: CPU) -> None:
        """Have a thread feed one more; it is counted before it begins, as it may end at once."""
        mark, is_there = object(), False
        try:
            self._feeding.add(mark)
            is_there = is_begun(partial(self._feed, machine, mark))
        finally:
            if not is_there:
                self._feeding.discard(mark)

    def end(self) -> None:
        """End all helpers, unless they are those of the process that this one was forked from."""
        if self._process != os.getpid():
            return
        with self._lock:
            self._ended = True
            self._changed.notify_all()
            helpers = self.helpers.copy()
        for helper in helpers:
            helper.end()

    def _begin(self, task: Task) -> bool:
        """Take a task, unless somebody has, or it may be what a helper died of."""
        with self._lock:
            if task.begun is not None or task.deaths:
                return False
            task.begun = monotonic()
            if task in self._waiting:
                self._waiting.remove(task)
            return True

    def _finish(self, task: Task, outcome: Outcome) -> None:
        with self._lock:
            task.end(outcome)
            self._changed.notify_all()

    def _outcome(self, task: Task) -> Outcome:
        """Wait for whoever has the task; compile it here if nobody will, or if he is late."""
        asked = monotonic()
        while task.outcome is None and (task.begun is not None or self._feeding):
            late = (task.begun or asked) + PATIENCE - monotonic()
            if late <= 0:
                break
            task.over.acquire(timeout=min(late, LOOK_AFTER))  # it may be anybody's again meanwhile
        if task.outcome is None:
            self._finish(task, compile_here(task))
        assert task.outcome is not None
        return task.outcome

    def _feed(self, machine: CPU, mark: object) -> None:
        """The thread of one helper: give it tasks as long as it lives."""
        helper = task = None
        try:
            helper = Helper(machine)
            with self._lock:
                self.helpers.append(helper)
            helper.read()  # it is ready
            while (task := self._next()) is not None:
                helper.write(machine_bytes(task.machine), task.text.encode())
                kind, content = helper.read(), helper.read()
                made = content if kind == CODE else CompileError(content.decode())
                self._finish(task, made)
        except (OSError, EOFError, ValueError):
            self._bury(task)
        finally:
            self._leave(helper, machine, mark)

    def _next(self) -> Task | None:
        """The next task, once there is one; None at the end."""
        with self._lock:
            while not self._waiting and not self._ended:
                self._changed.wait()
            if self._ended:
                return None
            task = self._waiting.pop(0)
            task.begun = monotonic()
            return task

    def _bury(self, task: Task | None) -> None:
        """A helper is dead; another one gets its task, but a text is not let kill a third."""
        with self._lock:
            self.deaths += not self._ended
            if task is not None and task.outcome is None:
                task.deaths += 1
                if task.deaths < DEATHS_OF_TASK:
                    task.begun = None
                    self._waiting.insert(0, task)
                else:
                    task.end(CompileError("the compiler died of it"))

    def _leave(self, helper: Helper | None, machine: CPU, mark: object) -> None:
        """The thread ends; where there is more to do another one takes its place."""
        if helper is not None:
            helper.end()
        with self._lock:
            self._feeding.discard(mark)
            if helper in self.helpers:
                self.helpers.remove(helper)
            if self._waiting:
                self.start(machine, 1)
            self._changed.notify_all()


def compile_here(task: Task) -> Outcome:
    """Compile in this process; what does is loaded only now."""
    from .worker import outcome

    return outcome(task.text, task.machine)


@cache
def workers() -> Workers:
    """Those of this process: with it, as many as it has cores."""
    made = Workers(usable_cores() - 1)
    atexit.register(made.end)
    return made


# The pipes belong to the process that made them; a forked child starts helpers of its own.
os.register_at_fork(after_in_child=workers.cache_clear)
