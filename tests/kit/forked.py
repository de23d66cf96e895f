"""Processes that begin where this one stands, and end when their work is done."""

import os
from collections.abc import Callable
from traceback import print_exc
from typing import Any


def child(run: Callable[[], Any]) -> int:
    """A process that does this and ends, with status 1 if it cannot, and says why."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        run()
        status = 0
    except BaseException:
        print_exc()
    finally:
        os._exit(status)
