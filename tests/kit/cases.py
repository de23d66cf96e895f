"""What a `.ir` file says: its cases, each IR text before and after some passes.

Comes in: a file of cases, `// CASE: name` or `// ====` before each:

    // CASE: one_factor
    // RUN: simplify,cse{rounds=1}
    // INPUT: %i 0..7
    func @f(…) … { … }
    // ----
    func @f(…) … { … }

`// NORUN: reason` says why the interpreter cannot run it, `// ERROR: text` that it must fail so.
Goes out: `Case`s, whose text keeps the lines of the file; and files with new expected texts.
Never: a run; `ir_files` does that.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

BORDER = re.compile(r"// (?:CASE:\s*(?P<name>\S.*?)|====+)\s*")
ARROW = "// ----"
DIRECTIVE = re.compile(r"// ([A-Z]+):\s*(.*?)\s*")
INPUT = re.compile(r"%(\w+)\s+(-?\d+)\.\.(-?\d+)")


class BadCase(Exception):
    """A file of cases that cannot be read; the message names the line."""


@dataclass
class Case:
    """One case; `expected_lines` is where its expected text stands in the file, from 0."""

    file: Path
    name: str
    line: int
    text: str
    expected: str | None
    expected_lines: tuple[int, int]
    passes: str = ""
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    not_run: str = ""
    errors: list[str] = field(default_factory=list[str])


def read_cases(file: Path) -> list[Case]:
    """The cases of a file, in order, with distinct names."""
    lines = file.read_text(encoding="utf-8").splitlines()
    cases = [_case(file, lines, *part) for part in _parts(file, lines)]
    seen: dict[str, int] = {}
    for case in cases:
        if case.name in seen:
            raise BadCase(f"{file}:{case.line}: {case.name} stands at line {seen[case.name]} too")
        seen[case.name] = case.line
    return cases


def rewrite_cases(file: Path, printed: Mapping[str, str]) -> None:
    """Put new expected texts, by the name of the case, into a file; all of them or none."""
    lines = file.read_text(encoding="utf-8").splitlines()
    for case in reversed(read_cases(file)):
        if case.name in printed:
            start, stop = case.expected_lines
            arrow = [ARROW] if case.expected is None else []
            lines[start:stop] = [*arrow, *printed[case.name].splitlines()]
    aside = file.with_suffix(".ir.new")
    aside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.replace(aside, file)


def _parts(file: Path, lines: list[str]) -> Iterator[tuple[str, int, int]]:
    """Name, first line and end of each case; what stands before the first border is one too."""
    borders = [(place, match) for place, line in enumerate(lines) if (match := _border(line))]
    ends = [place for place, _ in borders] + [len(lines)]
    if any(line.strip() and not line.startswith("//") for line in lines[: ends[0]]):
        yield file.stem, 0, ends[0]
    for number, (place, match) in enumerate(borders):
        yield match["name"] or f"case_{number + 1}", place + 1, ends[number + 1]


def _border(line: str) -> re.Match[str] | None:
    return BORDER.fullmatch(line)


def _case(file: Path, lines: list[str], name: str, start: int, stop: int) -> Case:
    arrow = next((place for place in range(start, stop) if lines[place].strip() == ARROW), None)
    last = _last_line(lines, start, stop)
    end_of_input = last if arrow is None else arrow
    expected = None if arrow is None else "\n".join(lines[arrow + 1 : last])
    # Empty lines stand for what comes before, so that errors name the lines of the file.
    text = "\n" * start + "\n".join(lines[start:end_of_input]) + "\n"
    span = (last, last) if arrow is None else (arrow + 1, max(last, arrow + 1))
    case = Case(file, name, max(start, 1), text, expected, span)
    for place in range(start, end_of_input):
        directive = DIRECTIVE.fullmatch(lines[place])
        if directive is not None:
            _direct(case, place + 1, *directive.groups())
    return case


def _last_line(lines: list[str], start: int, stop: int) -> int:
    """The end of a part without the empty lines that set it off from the next."""
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return stop


def _direct(case: Case, line: int, word: str, said: str) -> None:
    ranges = INPUT.fullmatch(said)
    if word == "RUN":
        case.passes = said
    elif word == "NORUN" and said:
        case.not_run = said
    elif word == "ERROR" and said:
        case.errors.append(said)
    elif word == "INPUT" and ranges is not None:
        case.ranges[ranges[1]] = (int(ranges[2]), int(ranges[3]))
    else:
        raise BadCase(f"{case.file}:{line}: no directive is written '{word}: {said}'")
