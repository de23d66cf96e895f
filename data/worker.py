"""A process that makes batches for a loader: `python -m brimstone.data.worker DESCRIPTOR`.

Comes in, through the socket of that number: how batches are made, then jobs. Goes out: for each of
these messages whether all went well, and the batch or what went wrong. Ends with the socket.
Never: a run of the user's script; the modules that datasets are from are imported.
"""

import os
import socket
import sys
from select import poll
from threading import Thread

from .fetch import Fetch, Job, Unmade, attempt
from .messages import Parts, packed, receive, send


def main() -> None:
    """Make batches until nobody wants more."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    Thread(target=end_with, args=(channel,), daemon=True).start()
    tasks, answers = channel.makefile("rb"), channel.makefile("wb")
    try:
        fetch = attempt("a worker cannot take the dataset", receive, tasks)
        send(answers, packed((True, None)))
    except Unmade as unmade:
        send(answers, packed((False, unmade)))
        return
    while True:
        send(answers, answer(fetch, receive(tasks)))


def end_with(channel: socket.socket) -> None:
    """End this process, whatever it is doing, when the other one is gone."""
    watch = poll()
    watch.register(channel, 0)  # that somebody hangs up is told in any case
    watch.poll()
    os._exit(0)


def answer(fetch: Fetch, job: Job) -> Parts:
    """The message about a job that is done, or cannot be done."""
    try:
        return attempt("a batch cannot be sent", packed, (True, fetch(job)))
    except Unmade as unmade:
        return packed((False, unmade))


if __name__ == "__main__":
    try:
        main()
    except (EOFError, OSError):
        os._exit(0)  # nobody is there any more
