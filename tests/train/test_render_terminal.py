"""The dashboard on a real terminal: it takes the screen, hears a key, and gives the screen back."""

import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="textual, of the extra `train`, is not installed")
pytestmark = pytest.mark.slow

SECONDS = 60
ENTERS, LEAVES = b"\x1b[?1049h", b"\x1b[?1049l"
TRAINS = """
from itertools import count
from time import sleep
from brimstone.train import Ended, Progress, Started
from brimstone.train.render import chosen_renderer

with chosen_renderer() as renderer:
    print("the renderer is", type(renderer).__name__)
    renderer(Started("endless", 1, None, device="cpu"))
    for step in count(1):
        stop = renderer(Progress("train", 1, step, step, None, {"loss": 1 / step}, 8, 0.01))
        if stop is not None:
            break
        sleep(0.01)
    renderer(Ended(step, stop.reason, 1.0))
print("the program goes on")
"""


class Terminal:
    """One with a program in it."""

    def __init__(self, script: Path) -> None:
        self.ours, theirs = pty.openpty()
        paths = os.pathsep.join([path for path in sys.path if path])
        environment = {**os.environ, "PYTHONPATH": paths, "TERM": "xterm-256color"}
        environment.pop("CI", None)
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(script)],
            stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)

    def written(self) -> Iterator[bytes]:
        """What the program writes, all of it so far each time."""
        written = b""
        while select.select([self.ours], [], [], SECONDS)[0]:
            try:
                written += os.read(self.ours, 1 << 16)
            except OSError:  # nobody has the other end any more
                return
            yield written
        raise AssertionError(f"nothing came for {SECONDS} seconds")

    def until(self, expected: bytes) -> bytes:
        """What the program writes until it has written this."""
        return next(written for written in self.written() if expected in written)


def test_a_run_is_watched_and_stopped(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(TRAINS)
    terminal = Terminal(script)
    try:
        terminal.until(ENTERS)
        terminal.until(b"items/s")
        os.write(terminal.ours, b"q")
        *_, written = terminal.written()
        assert terminal.process.wait() == 0
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.ours)
    screen, _, after = written.rpartition(LEAVES)
    assert b"stopping after this step" in screen
    told = ("the renderer is Dashboard", "endless: 1 epoch, on cpu", ": interrupted", "goes on")
    places = [after.decode().find(each) for each in told]
    assert -1 not in places
    assert places == sorted(places)
