"""The pytest plugin for `.ir` files: every case is a test, named by its file and line.

Comes in: the cases that `cases` reads. Each is parsed, verified, put through its passes, printed
and compared; then it is run before and after, on random inputs of several sizes.
Goes out: tests; with `--update-golden`, files with the texts that were printed; and in the summary
the cases that the interpreter cannot run, with reasons.
Never: a tolerance; results before and after are the same bits.
"""

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import brimstone.ir.tensor  # noqa: F401 (declares the ops that texts name)
from brimstone.ir.errors import IRError
from brimstone.ir.func import Module
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.ir.verifier import verify
from brimstone.passes.context import Context, Settings
from brimstone.passes.manager import run_pipeline
from kit.cases import BadCase, Case, read_cases, rewrite_cases
from kit.running import Differs, run_both

NOT_RUN = pytest.StashKey[list[Case]]()
PRINTED = pytest.StashKey[dict[Path, dict[str, str]]]()


class Mismatch(Exception):
    """A case does not hold; the message is for people."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what was printed into the expected parts of .ir files",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NOT_RUN] = []
    config.stash[PRINTED] = {}


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return IrFile.from_parent(parent, path=file_path) if file_path.suffix == ".ir" else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    for file, printed in session.config.stash[PRINTED].items():
        rewrite_cases(file, printed)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.stash[NOT_RUN]:
        terminalreporter.section("cases that the interpreter did not run")
    for case in config.stash[NOT_RUN]:
        terminalreporter.line(f"{_place(case)}: {case.not_run}")
    for file, printed in config.stash[PRINTED].items():
        terminalreporter.line(f"{_relative(file)}: wrote {', '.join(printed)}")


class IrFile(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterator["IrCase"]:
        try:
            cases = read_cases(self.path)
        except BadCase as problem:
            raise self.CollectError(str(problem)) from None
        for case in cases:
            yield IrCase.from_parent(self, name=case.name, case=case)


class IrCase(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **more: Any) -> None:
        super().__init__(**more)
        self.case = case

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.case.line - 1, self.name

    def runtest(self) -> None:
        case = self.case
        if case.errors:
            expect_failure(case)
            return
        module = transformed(case)
        self.compare(print_module(module))
        if case.not_run:
            self.config.stash[NOT_RUN].append(case)
            return
        run_both(parse(case.text, str(_relative(case.file))), module, case.ranges, seed=case.name)

    def compare(self, printed: str) -> None:
        """Hold the printed text against the expected one, or note it to be written."""
        case = self.case
        expected = case.expected
        if not case.passes and expected is None:
            expected = _without_comments(case.text)
        if expected is not None and printed.strip() == expected.strip():
            return
        if not self.config.getoption("--update-golden"):
            raise Mismatch(difference(expected, printed))
        self.config.stash[PRINTED].setdefault(case.file, {})[case.name] = printed

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Mismatch | Differs | IRError):
            passes = f" through {self.case.passes}" if self.case.passes else ""
            return f"{_place(self.case)}{passes}\n{excinfo.value}"
        return super().repr_failure(excinfo, style)


def transformed(case: Case) -> Module:
    """The case's module after its passes, verified before and after."""
    module = parse(case.text, str(_relative(case.file)))
    verify(module)
    if case.passes:
        run_pipeline(module, case.passes, Context(settings=Settings(reproduce=False)))
        verify(module)
    return module


def expect_failure(case: Case) -> None:
    """Parsing, verifying or passing must fail, and say all that the case says."""
    try:
        transformed(case)
    except IRError as problem:
        for said in case.errors:
            if said not in str(problem):
                raise Mismatch(f"expected the error: {said}\nfound: {problem}") from None
        return
    raise Mismatch(f"expected the error: {case.errors[0]}\nfound: no error")


def difference(expected: str | None, printed: str) -> str:
    """What differs, line by line, and how to accept it."""
    advice = "`pytest --update-golden` writes what was printed"
    if expected is None:
        return f"no expected text stands after '// ----'; {advice}; it is:\n{printed}"
    lines = difflib.ndiff(expected.strip().splitlines(), printed.strip().splitlines())
    shown = "\n".join(line for line in lines if not line.startswith("?"))
    return f"the printed text (+) is not the expected one (-); {advice}:\n{shown}"


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("//"))


def _place(case: Case) -> str:
    return f"{_relative(case.file)}:{case.line}: {case.name}"


def _relative(file: Path) -> Path:
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
