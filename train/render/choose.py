"""Which renderer suits where this runs.

Comes in: a name, or "auto". Goes out: a renderer.
Never: a screen that is taken where nobody sits before it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec

from ...frontend.errors import ArgumentError, fail
from .bars import Bars
from .dashboard import Dashboard
from .lines import Lines
from .renderer import Renderer

RENDERERS: dict[str, Callable[[], Renderer]] = {
    "dashboard": Dashboard,
    "bars": Bars,
    "lines": Lines,
}


def chosen_renderer(which: str = "auto") -> Renderer:
    """The renderer of that name. "auto" is the dashboard where a person has a terminal and
    `textual` is installed; else bars, if there is a terminal; else lines."""
    if which == "auto":
        which = _best()
    if which not in RENDERERS:
        names = ", ".join(["auto", *RENDERERS])
        fail(ArgumentError, "chosen_renderer", f"there is no renderer {which!r}", hint=names)
    return RENDERERS[which]()


def _best() -> str:
    able = os.environ.get("TERM", "dumb") not in ("", "dumb") and not os.environ.get("CI")
    if not able or not _terminal(sys.stdout) or _in_background():
        return "lines"
    everywhere = all(map(_terminal, (sys.stdin, sys.__stdin__, sys.__stderr__)))
    return "dashboard" if everywhere and find_spec("textual") is not None else "bars"


def _in_background() -> bool:
    """Whether the terminal is another program's, so that keys are for that one."""
    try:
        return os.tcgetpgrp(0) != os.getpgrp()
    except OSError:  # it is nobody's in particular
        return False


def _terminal(stream: object) -> bool:
    """Whether a stream is a terminal; one that is closed, or not there, is none."""
    try:
        return bool(stream.isatty())  # type: ignore[attr-defined]
    except (AttributeError, ValueError):
        return False
