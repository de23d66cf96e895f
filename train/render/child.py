"""The process in which a dashboard is drawn: `python -m brimstone.train.render.child IN OUT`.

Comes in: on the file descriptor IN pickled lists of messages, from the process that trains; keys.
Goes out: the screen; on OUT a byte whenever a person asks the run to stop. Ends when IN ends.
Never: a screen that is taken when the run is over already.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections import deque
from contextlib import suppress
from threading import Thread

from .app import DashboardApp
from .messages import Message

LEAST = 19
"""How nice to others this process is: it draws in the time that training leaves."""


def main(messages: int, wishes: int) -> None:
    """Draw until there are no more messages."""
    os.nice(LEAST)
    inbox = deque[Message | None]()
    Thread(target=receive, args=(messages, inbox), daemon=True).start()

    def ask() -> None:
        with suppress(OSError):  # the run is over
            os.write(wishes, b"!")

    if None not in inbox:
        DashboardApp(inbox, ask).run()


def receive(messages: int, inbox: deque[Message | None]) -> None:
    """Put what comes into the inbox, and None at the end."""
    with os.fdopen(messages, "rb") as stream, suppress(EOFError, pickle.UnpicklingError):
        while True:
            inbox.extend(pickle.load(stream))
    inbox.append(None)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
