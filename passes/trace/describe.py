"""A run as plain data, as small as a page can have it: every line of text stands in it once.

Comes in: a recorder, after the run. Goes out: lists, dicts, texts and numbers, for `page.js`.
Never: a text of a whole module.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ...ir.rewriter import Application
from ..notation import pipeline_text
from .edits import LineTable, Table
from .record import Moment, Recorder, Snapshot
from .rules import summaries
from .sources import Excerpt, excerpts

LONGEST_TEXT = 4000


def describe(
    recorder: Recorder, title: str, known: Mapping[str, str] | None = None, *, sources: bool = True
) -> dict[str, Any]:
    """All that the page shows; `known` are the texts of files that need not be read.

    Without `sources`, no file is read, and none of the user's lines are in what comes out.
    """
    description = _Description(recorder)
    described = {"title": title, **description.run()}
    places = description.table.places.items
    found = excerpts(places, known or {}) if sources else {}
    return {**described, **description.tables(found)}


class _Description:
    """The tables grow while the passes are described, so they come last."""

    def __init__(self, recorder: Recorder) -> None:
        self.moments = recorder.moments
        self.snapshots = [recorder.start, *(moment.lines for moment in self.moments)]
        self.ops = [recorder.ops, *(moment.stage.ops_after for moment in self.moments)]
        self.funcs: Table[str] = Table()
        self.table = LineTable()
        self.rules: Table[str] = Table()
        self.op_names: Table[str] = Table()

    def run(self) -> dict[str, Any]:
        """What is true of all passes together, and each of them."""
        first, last = self.snapshots[0], self.snapshots[-1]
        return {
            "pipeline": pipeline_text(moment.stage.step for moment in self.moments),
            "ops": [self.ops[0], self.ops[-1]],
            "start": self._edits({}, first),
            "passes": [
                self._pass(moment, before)
                for moment, before in zip(self.moments, self.snapshots, strict=False)
            ],
            "whole": self._edits(first, last),
        }

    def _pass(self, moment: Moment, before: Snapshot) -> dict[str, Any]:
        stage = moment.stage
        return {
            "name": stage.name,
            "options": str(stage.step).removeprefix(stage.name),
            "summary": stage.step.made_from.summary,
            "error": moment.error,
            "seconds": stage.seconds,
            "verifying": stage.seconds_of_verifying,
            "ops": [stage.ops_before, stage.ops_after],
            "shares": [[self.funcs.add(span.func), span.applications] for span in stage.spans],
            "applications": self._applications(stage.applications),
            "edits": self._edits(before, moment.lines),
        }

    def _applications(self, applications: Sequence[Application]) -> list[int]:
        """The rule, the op and the home of each, in a row."""
        return [
            number
            for rule, op, location in applications
            for number in (self.rules.add(rule), self.op_names.add(op), self.table.home(location))
        ]

    def _edits(self, before: Snapshot, after: Snapshot) -> dict[int, list[int]]:
        """The edits of each func that is not the same as before."""
        names = dict.fromkeys([*before, *after])
        edits = {
            self.funcs.add(name): self.table.edits(before.get(name, []), after.get(name, []))
            for name in names
        }
        return {func: runs for func, runs in edits.items() if any(runs[::3])}

    def tables(self, found: Mapping[str, Excerpt]) -> dict[str, Any]:
        """What the numbers of `run` stand for."""
        places = self.table.places
        files: Table[str] = Table()
        numbered = [[files.add(file), line] for file, line in places.items]
        described = summaries(moment.stage.step.made_from for moment in self.moments)
        return {
            "funcs": self.funcs.items,
            "rules": [[rule, described.get(rule, "")] for rule in self.rules.items],
            "opNames": self.op_names.items,
            "lines": [shortened(text) for text, _ in self.table.lines.items],
            "homeOfLine": [home for _, home in self.table.lines.items],
            "homes": [[places.add(place) for place in home] for home in self.table.homes.items],
            "places": numbered,
            "files": [
                {"name": file, "parts": list(_parts(found.get(file, {})))} for file in files.items
            ],
        }


def shortened(text: str) -> str:
    """A line that a page can show: constants may have millions of elements."""
    if len(text) <= LONGEST_TEXT:
        return text
    left_out = len(text) - LONGEST_TEXT
    return f"{text[: LONGEST_TEXT // 2]} … {left_out} characters … {text[-LONGEST_TEXT // 2 :]}"


def _parts(excerpt: Excerpt) -> Iterator[list[Any]]:
    """Runs of lines, each with the number of its first."""
    numbered = enumerate(excerpt.items())
    for _, run in groupby(numbered, lambda each: each[1][0] - each[0]):
        lines = [line for _, line in run]
        yield [lines[0][0], [text for _, text in lines]]
