"""The process that draws a dashboard, and the pipes to it.

Comes in: messages for it. Goes out: how often a person asked the run to stop.
Never: `multiprocessing`, which runs users' scripts again; or a terminal that stays as a process
left it that died.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

COMMAND = ("-P", "-m", "brimstone.train.render.child")
PATIENCE = 5.0
"""Seconds that it has to leave the screen."""
REPAIR = "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[<u\x1b[0m"
"""Leaves the second screen, shows the cursor, and asks for no mice."""


class Link:
    """One such process."""

    def __init__(self) -> None:
        self._terminal = _attributes()
        paths = os.pathsep.join([path for path in sys.path if path])
        (its_input, ours), (theirs, its_output) = os.pipe(), os.pipe()
        # It inherits that no Ctrl-C reaches it, not even while it starts: that is for this process.
        signals = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process: Any = subprocess.Popen(
                [sys.executable, *COMMAND, str(its_input), str(its_output)],
                pass_fds=(its_input, its_output),
                env={**os.environ, "PYTHONPATH": paths},
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, signals)
            os.close(its_input)
            os.close(its_output)
        self._messages, self._wishes = os.fdopen(ours, "wb"), os.fdopen(theirs, "rb", buffering=0)

    def send(self, messages: Sequence[Any]) -> None:
        """Hand messages over; a `BrokenPipeError` says that nobody is there any more."""
        pickle.dump(list(messages), self._messages)
        self._messages.flush()

    def wish(self) -> bool:
        """Wait until a person asks to stop; False if the process has ended instead."""
        if self._wishes.closed:
            return False
        wished = bool(self._wishes.read(1))
        if not wished:
            self._wishes.close()
        return wished

    def close(self) -> None:
        """Have the process leave the screen, and wait for that."""
        with suppress(OSError):  # what was still to be sent to one that is gone
            self._messages.close()
        try:
            failed = self._process.wait(PATIENCE) != 0
        except subprocess.TimeoutExpired:
            self._process.kill()
            failed = self._process.wait() != 0
        if failed and self._terminal is not None:
            with suppress(OSError, termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, self._terminal)
                os.write(2, REPAIR.encode())


def _attributes() -> Any:
    """How the terminal is set; None where standard input is none."""
    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None
