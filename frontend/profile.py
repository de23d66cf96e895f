"""Profiles: what was done when, as a trace for a browser and as a table.

Comes in: a computation, in a context. Goes out: a Chrome trace, which Perfetto and
`chrome://tracing` show, with your lines, bytes and bandwidths; and a `Profile`, which prints as a
table of kernels.
Never: a number that was not measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any, NamedTuple

from ..passes.reproducer import write_aside
from ..runtime.profile import CALL, HOST, KERNEL, Event, Recording
from .errors import ArgumentError, fail

_MICROSECOND = 1000
_MOST_ROWS = 20


class Row(NamedTuple):
    """What one kernel, or one thing that Python did, took in all: seconds, and bytes."""

    name: str
    lines: str
    kind: str
    count: int
    seconds: float
    bytes: int

    @property
    def bandwidth(self) -> float:
        """Bytes read and written per second; 0 where there were none."""
        return self.bytes / self.seconds if self.seconds else 0.0


class Profile:
    """`with bs.profile("trace.json") as profile:` records what is computed in the context.

    The file is written at its end, also after an error; that it can be is looked at before.
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self.path, self._recording = path, Recording()
        self._file: Path | None = None

    def __enter__(self) -> Profile:
        self._file = None if self.path is None else writable(self.path)
        self._recording.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        self._recording.__exit__(kind, error, trace)
        if self._file is None:
            return
        text = json.dumps({"traceEvents": self.trace(), "displayTimeUnit": "ns"})
        try:
            write_aside(self._file, text)
        except OSError as problem:
            if error is None:
                raise
            error.add_note(f"The profile is not written: {problem}")

    @property
    def events(self) -> Sequence[Event]:
        """All that was done, in the order in which it began."""
        return self._recording.events

    def rows(self) -> list[Row]:
        """What each kernel took, and what Python did: first what took longest."""
        found: dict[tuple[str, str, str], Row] = {}
        for kind, said, begin, end, *_ in self.events:
            if kind == CALL:
                continue
            key = said.name, said.lines, kind
            row = found.get(key, Row(*key, 0, 0.0, 0))
            found[key] = row._replace(
                count=row.count + 1,
                seconds=row.seconds + (end - begin) / 1e9,
                bytes=row.bytes + said.bytes,
            )
        return sorted(found.values(), key=lambda row: -row.seconds)

    def trace(self) -> list[dict[str, Any]]:
        """The events as Chrome's trace format has them."""
        numbers: dict[int, int] = {}
        for event in self.events:
            numbers.setdefault(event.thread, len(numbers))
        names = self._recording.threads
        made = [
            _named(number, names.get(thread, f"runner {number}"))
            for thread, number in numbers.items()
        ]
        for number, event in enumerate(self.events):
            made += _traced(event, numbers[event.thread], number)
        return made

    def __str__(self) -> str:
        rows = self.rows()
        total = sum([row.seconds for row in rows if row.kind == KERNEL])
        took = f"{total * 1e3:.3g} ms in kernels"
        lines = [f"{took}, {len([each for each in self.events if each.kind == CALL])} calls"]
        lines += ["    share       ms    count     GB/s  what"]
        lines += [_line(row, total) for row in rows[:_MOST_ROWS]]
        if len(rows) > _MOST_ROWS:
            lines.append(f"and {len(rows) - _MOST_ROWS} more")
        return "\n".join(lines)


def writable(path: Any) -> Path:
    """Where a file is to be written, wherever the process stands then; else an error says why."""
    if not isinstance(path, str | bytes | PathLike):
        fail(ArgumentError, "profile", "expected the path of a file", path)
    file = Path(fsdecode(path)).absolute()
    is_new = not file.exists()
    if is_new or file.is_file() or file.is_dir():  # and no pipe, which waits for its reader
        with file.open("ab"):
            pass
    if is_new:
        file.unlink()
    return file


def _line(row: Row, total: float) -> str:
    share = f"{row.seconds / total:9.1%}" if row.kind == KERNEL and total else f"{'Python':>9}"
    rate = f"{row.bandwidth / 1e9:8.1f}" if row.bytes else " " * 8
    return (
        f"{share} {row.seconds * 1e3:8.2f} {row.count:8} {rate}  {row.name}  {row.lines}".rstrip()
    )


def _named(number: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": "thread_name", "pid": 0, "tid": number, "args": {"name": name}}


def _traced(event: Event, thread: int, number: int) -> Iterator[dict[str, Any]]:
    """One event; a call as the beginning and the end of what other things go on beside."""
    kind, said, begin, end, _, used = event
    common = {"name": said.name, "cat": kind, "pid": 0, "tid": thread}
    if kind == CALL:
        yield {**common, "ph": "b", "id": number, "ts": begin / _MICROSECOND}
        yield {**common, "ph": "e", "id": number, "ts": end / _MICROSECOND}
        memory = {"ph": "C", "name": "memory", "pid": 0, "ts": end / _MICROSECOND}
        yield {**memory, "args": {"MiB": round(used / (1 << 20), 3)}}
        return
    args: dict[str, Any] = {"lines": said.lines} if said.lines else {}
    if said.bytes:
        args |= {"bytes": said.bytes, "GB/s": round(said.bytes / max(end - begin, 1), 2)}
    yield {
        **common, "ph": "X", "ts": begin / _MICROSECOND, "dur": (end - begin) / _MICROSECOND,
        "args": args,
    }  # fmt: skip


__all__ = ["HOST", "KERNEL", "Profile"]
