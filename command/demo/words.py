"""The lines between the parts of the show.

Comes in: texts. Goes out: headings, and while a person waits, what for.
Never: a letter that is not ASCII, or a line that stays where something is only waited for.
"""

from contextlib import AbstractContextManager
from typing import Any

from rich.console import Console


def head(console: Console, text: str) -> None:
    """Begin a part of the show."""
    console.print(f"\n{text}", style="bold")


def waiting(console: Console, text: str) -> AbstractContextManager[Any]:
    """A line that moves as long as the context lasts; on a terminal only."""
    return console.status(f"{text} ...", spinner="line")
