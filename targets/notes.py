"""What Python did when, for a profile: host calls, loops, compilation.

Comes in: what is done, around it. Goes out: notes, while somebody wants them.
Never: a clock that is read while nobody wants to know.
"""

from collections.abc import Generator
from contextlib import contextmanager
from threading import current_thread, get_ident
from threading import enumerate as all_threads
from time import monotonic_ns
from typing import NamedTuple


class Note(NamedTuple):
    """Something that was done on a thread, between two times."""

    name: str
    lines: str
    begin: int
    end: int
    thread: int


class Notes:
    """Those of this process."""

    def __init__(self) -> None:
        self.wanted = False
        self.made = list[Note]()
        self.threads = dict[int, str]()

    def begin(self) -> None:
        """Take notes from now on, and know what threads are called."""
        self.threads = {each.ident: each.name for each in all_threads() if each.ident is not None}
        self.wanted = True

    def name_thread(self) -> None:
        """Know what this thread is called, though it may end before anybody asks."""
        if self.wanted:
            self.threads[get_ident()] = current_thread().name

    @contextmanager
    def about(self, name: str, lines: str = "") -> Generator[None]:
        """Note what is done in this context."""
        if not self.wanted:
            yield
            return
        begin = monotonic_ns()
        try:
            yield
        finally:
            self.made.append(Note(name, lines, begin, monotonic_ns(), get_ident()))


NOTES = Notes()
