"""Exceptions that handlers of signals raise, in the midst of whatever the main thread does.

Comes in: an exception that somebody is about to make something of. Goes out: whether a handler has
raised it, such as that of an alarm: then it is the user's, and it says nothing of what was done.
Never: a guess: what was raised in a function that is a handler now.
"""

import signal
from functools import partial
from types import CodeType
from typing import Any


def is_of_handler(problem: BaseException) -> bool:
    """Whether a handler of signals has raised an exception."""
    handlers = {_code_of(signal.getsignal(each)) for each in signal.valid_signals()}
    at = problem.__traceback__
    while at is not None:
        if at.tb_frame.f_code in handlers:
            return True
        at = at.tb_next
    return False


def _code_of(handler: Any) -> CodeType | None:
    """The code of a function, a method, or what is called like one."""
    while isinstance(handler, partial):
        handler = handler.func
    if not callable(handler) or isinstance(handler, signal.Handlers):
        return None
    for each in (handler, type(handler).__call__):
        code = getattr(getattr(each, "__func__", each), "__code__", None)
        if isinstance(code, CodeType):
            return code
    return None
