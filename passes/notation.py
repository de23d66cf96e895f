"""Pipelines as text: `simplify{rounds=3}, cse, dead`.

Comes in: a text that names passes and pipelines. Goes out: steps, and their text again.
Never: an error other than `ParseError`, which shows the place and names what is close.
"""

import difflib
import re
import shlex
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NoReturn

from ..ir.errors import Unmet
from ..ir.scanner import Scanner
from .declare import Pass, Step
from .pipelines import PASSES, PIPELINES

Pipeline = str | Iterable[Pass | Step]
RUN_LINE = re.compile(r"\s*//\s*RUN:\s*(.*)")


def steps_of(pipeline: Pipeline) -> tuple[Step, ...]:
    """The steps of a pipeline in any form."""
    if isinstance(pipeline, str):
        return parse_pipeline(pipeline)
    return tuple(each if isinstance(each, Step) else Step(each) for each in pipeline)


def parse_pipeline(text: str, file: str = "passes") -> tuple[Step, ...]:
    """The steps that a text names; an empty text names none."""
    return _PipelineParser(text, file).steps()


def pipeline_text(steps: Iterable[Step]) -> str:
    """What `parse_pipeline` reads back."""
    return ",".join(map(str, steps))


def run_line(text: str) -> tuple[str, int | None] | None:
    """The pipeline and the fuel that the `// RUN:` lines at the top of an IR text ask for.

    A line is a pipeline, or a whole command as at the top of a reproducer.
    """
    found: list[str] = []
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("//"):
            break
        if matched := RUN_LINE.fullmatch(line):
            found.append(matched[1].strip())
    if len(found) == 1 and found[0].startswith("brimstone opt "):
        return _command(found[0])
    return (",".join(found), None) if found else None


def _command(line: str) -> tuple[str, int | None]:
    """`brimstone opt FILE --passes 'a,b' --fuel 3`"""
    words = shlex.split(line)
    named = dict(pairwise(words))
    fuel = named.get("--fuel")
    return named.get("--passes", ""), None if fuel is None else int(fuel)


class _PipelineParser(Scanner):
    def steps(self) -> tuple[Step, ...]:
        steps: list[Step] = []
        while self.skip() < len(self.text):
            if steps:
                self.expect(",")
            steps.extend(self._pass_or_pipeline())
        return tuple(steps)

    def _pass_or_pipeline(self) -> tuple[Step, ...]:
        """One pass with its options, or the steps of a pipeline."""
        start = self.skip()
        name = self.word("the name of a pass")
        if name in PIPELINES:
            return steps_of(PIPELINES[name])
        if name not in PASSES:
            self._refuse_name("pass", name, [*PASSES, *PIPELINES], start)
        options: dict[str, Any] = {}
        if self.accept("{"):
            self.sequence(lambda: self._read_option(PASSES[name], options), "}")
        return (PASSES[name].with_options(**options),)

    def _read_option(self, of: Pass, options: dict[str, Any]) -> None:
        start = self.skip()
        name = self.word("the name of an option")
        if name not in of.options:
            self._refuse_name(f"option of {of.name}", name, list(of.options), start)
        if name in options:
            self.fail_at(start, f"the option {name} stands twice")
        self.expect("=")
        try:
            options[name] = of.options[name].canonical(of.options[name].kind.parse(self))
        except (Unmet, ValueError) as problem:
            self.fail_at(start, f"{name}: {problem}")

    def _refuse_name(self, what: str, name: str, known: list[str], start: int) -> NoReturn:
        close = difflib.get_close_matches(name, known, 3)
        hint = f"; is it {' or '.join(close)}?" if close else f" (there are: {', '.join(known)})"
        self.fail_at(start, f"there is no {what} named '{name}'{hint if known else ''}")
